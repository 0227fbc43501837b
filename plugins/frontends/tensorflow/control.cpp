// SPDX-License-Identifier: Apache-2.0
// Control flow, calls of functions, and nodes that only hand on.
//
// A chip runs one program, so how often a body runs must be known; what runs becomes part of the graph.
#include "node_import.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/selections.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::tensorflow_frontend {
namespace {

constexpr int kMaxIterations = 1 << 16;

Result<void> import_identity(NodeImport& n) {
  for (std::size_t i = 0; i < std::max<std::size_t>(n.input_count(), 1); ++i) n.output_input(i, i);
  return success();
}

Result<void> import_first(NodeImport& n) {
  n.output_input(0);
  return success();
}

Result<void> import_placeholder(NodeImport& n) {
  return n.refuse("it is not an input of the signature; choose another one with --set frontend.tensorflow.signature=NAME");
}

Result<void> import_read(NodeImport& n) {
  BUDA_ASSIGN(Operand value, n.read(0));
  n.output(Value::of(value));
  return success();
}

// Results: for false, for true.
Result<void> import_switch(NodeImport& n) {
  BUDA_ASSIGN(bool condition, n.known_truth(n.operand(1), "condition (input 1)"));
  Value dead;
  dead.kind = Value::Kind::dead;
  n.output(condition ? dead : n.value(0), 0);
  n.output(condition ? n.value(0) : dead, 1);
  return success();
}

Result<void> output_all(NodeImport& n, Result<Values> results) {
  BUDA_ASSIGN(Values values, std::move(results));
  for (std::size_t i = 0; i < values.size(); ++i) n.output(std::move(values[i]), i);
  return success();
}

Attributes bound(const format::NameAttrList& function) { return Attributes(function.attr().begin(), function.attr().end()); }

Result<format::NameAttrList> function_of(const NodeImport& n, const std::string& attr) {
  const auto* f = n.attr(attr);
  if (f == nullptr || !f->has_func()) return n.refuse(cat("it names no function (", attr, ')'));
  return f->func();
}

// "model/StatefulPartitionedCall_2" gives "model/": what TensorFlow itself calls a call says nothing.
std::string prefix_of_call(const NodeImport& n) {
  std::string_view name = n.name(), last = name.substr(name.rfind('/') + 1), stem = last.substr(0, last.find_last_not_of("0123456789") + 1);
  while (stem.ends_with('_')) stem.remove_suffix(1);
  return stem == n.type_of_op() ? std::string(name.substr(0, name.size() - last.size())) : n.name() + "/";
}

Result<void> import_call(NodeImport& n) {
  BUDA_ASSIGN(auto function, function_of(n, "f"));
  return output_all(n, n.walk().call(n, function.name(), bound(function), n.values(), prefix_of_call(n)));
}

Values behind_first(const NodeImport& n) { return n.input_count() < 2 ? Values() : Values(n.values().begin() + 1, n.values().end()); }

Result<std::vector<Operand>> branch_on_data(NodeImport& n, const char* attr, const char* step) {
  BUDA_ASSIGN(auto function, function_of(n, attr));
  BUDA_ASSIGN(Values values, n.walk().call(n, function.name(), bound(function), behind_first(n), cat(n.name(), step)));
  std::vector<Operand> out;
  for (const Value& value : values) {
    if (value.kind != Value::Kind::tensor && value.kind != Value::Kind::failed)
      return n.refuse(cat("its condition (input 0) is computed at run time, and ", attr, " gives a value that is no tensor"));
    out.push_back(value.tensor);
  }
  return out;
}

// With a condition that is not known both branches are computed, and the results of one are taken.
Result<void> import_if(NodeImport& n) {
  if (!n.is_known(0)) {
    BUDA_ASSIGN(auto yes, branch_on_data(n, "then_branch", "/then/"));
    BUDA_ASSIGN(auto no, branch_on_data(n, "else_branch", "/else/"));
    BUDA_ASSIGN(auto results, frontend::selected(n, n.store(), n.input(0), yes, no));
    for (std::size_t i = 0; i < results.size(); ++i)
      n.output(frontend::failed(results[i]) ? Value{Value::Kind::failed} : Value::of(results[i]), i);
    return success();
  }
  BUDA_ASSIGN(bool condition, n.known_truth(n.operand(0), "condition (input 0)"));
  BUDA_ASSIGN(auto function, function_of(n, condition ? "then_branch" : "else_branch"));
  return output_all(n, n.walk().call(n, function.name(), bound(function), behind_first(n), n.name() + (condition ? "/then/" : "/else/")));
}

// An index that names no branch stands for the last one.
Result<void> import_case(NodeImport& n) {
  BUDA_ASSIGN(std::int64_t index, n.known_integer(0, "number of the branch"));
  const auto* branches = n.attr("branches");
  if (branches == nullptr || branches->list().func_size() == 0) return n.refuse("it has no branches");
  int count = branches->list().func_size();
  int chosen = index < 0 || index >= count ? count - 1 : static_cast<int>(index);
  const auto& function = branches->list().func(chosen);
  return output_all(n, n.walk().call(n, function.name(), bound(function), behind_first(n), cat(n.name(), "/branch", chosen, '/')));
}

Result<void> import_while(NodeImport& n) {
  BUDA_ASSIGN(auto condition, function_of(n, "cond"));
  BUDA_ASSIGN(auto body, function_of(n, "body"));
  Values states = n.values();
  for (int i = 0;; ++i) {
    BUDA_ASSIGN(Values goes_on, n.walk().call(n, condition.name(), bound(condition), states, cat(n.name(), "/cond/", i, '/')));
    if (goes_on.size() != 1) return n.refuse(cat("its condition has ", goes_on.size(), " results"));
    if (goes_on[0].kind == Value::Kind::failed) return output_all(n, Values(states.size(), Value{Value::Kind::failed}));
    BUDA_ASSIGN(bool truth, n.known_truth(goes_on[0].tensor, cat("condition before iteration ", i)));
    if (!truth) return output_all(n, std::move(states));
    if (i >= kMaxIterations) return n.refuse(cat("it runs more than ", kMaxIterations, " times, which is the limit for loops"));
    BUDA_ASSIGN(states, n.walk().call(n, body.name(), bound(body), std::move(states), cat(n.name(), '/', i, '/')));
    for (const Value& state : states)
      if (state.kind == Value::Kind::failed) return output_all(n, Values(states.size(), Value{Value::Kind::failed}));
    if (states.size() != n.input_count()) return n.refuse(cat("its body has ", states.size(), " results, and the loop ", n.input_count()));
  }
}

constexpr OpImporter kControlOps[] = {
    {"Case", import_case, {}, "number of the branch known"},
    {"CheckNumerics", import_first},
    {"EnsureShape", import_first},
    {"Enter", import_first, {}, "loops whose conditions are known"},
    {"Exit", import_first, {}, "loops whose conditions are known"},
    {"Identity", import_first},
    {"IdentityN", import_identity},
    {"If", import_if, {}, "both branches are computed where the condition is not known"},
    {"LoopCond", import_first},
    {"Merge", import_first, {}, "condition known", "output value_index"},
    {"NextIteration", import_first, {}, "loops whose conditions are known"},
    {"PartitionedCall", import_call},
    {"Placeholder", import_placeholder, {}, "inputs"},
    {"PlaceholderWithDefault", import_first, {}, "has its standard value"},
    {"PreventGradient", import_first},
    {"ReadVariableOp", import_read, {}, "variables of a SavedModel"},
    {"RefEnter", import_first},
    {"RefExit", import_first},
    {"RefMerge", import_first, {}, "condition known", "output value_index"},
    {"RefNextIteration", import_first},
    {"RefSwitch", import_switch, {}, "condition known", "output_false output_true"},
    {"Snapshot", import_first},
    {"StatefulPartitionedCall", import_call},
    {"StatelessCase", import_case, {}, "number of the branch known"},
    {"StatelessIf", import_if, {}, "both branches are computed where the condition is not known"},
    {"StatelessWhile", import_while, {}, "conditions known"},
    {"StopGradient", import_first},
    {"Switch", import_switch, {}, "condition known", "output_false output_true"},
    {"While", import_while, {}, "conditions known"},
};

}  // namespace

std::span<const OpImporter> control_ops() { return kControlOps; }

}  // namespace buda::tensorflow_frontend
