// SPDX-License-Identifier: Apache-2.0
// Control flow, and variables that operators name.
//
// A chip runs one program, so how often a body runs must be known; what runs becomes part of the graph.
#include "node_import.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/selections.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::tflite_frontend {
namespace {

namespace format = tflite_format;
using OperandList = std::vector<Operand>;

constexpr int kMaxIterations = 1 << 16;

OperandList inputs_from(const NodeImport& n, std::size_t first) {
  OperandList out;
  for (std::size_t i = first; i < n.input_count(); ++i) out.push_back(n.operand(i));
  return out;
}

bool any_failed(const OperandList& values) { return std::any_of(values.begin(), values.end(), frontend::failed); }

// The results of a branch that may not be taken, which therefore may not assign variables.
Result<OperandList> branch_on_data(NodeImport& n, std::size_t which, std::string_view name) {
  const std::vector<Variable> before = n.shared().variables;
  BUDA_ASSIGN(OperandList results, n.call(which, inputs_from(n, 1), name));
  const std::vector<Variable>& after = n.shared().variables;
  for (std::size_t i = 0; i < before.size(); ++i)
    if (before[i].value != after[i].value)
      return n.refuse(cat("its condition (input 0) is computed at run time, and its branch '", name, "' assigns the variable '",
                          after[i].name, "'; a chip computes both branches, which must not assign anything"));
  return results;
}

// With a condition that is not known both branches are computed, and the results of one are taken.
Result<void> import_if(NodeImport& n) {
  if (!n.is_known(0)) {
    BUDA_ASSIGN(OperandList yes, branch_on_data(n, 0, "then"));
    BUDA_ASSIGN(OperandList no, branch_on_data(n, 1, "else"));
    BUDA_ASSIGN(OperandList results, frontend::selected(n, n.shared().store, n.input(0), yes, no));
    n.output_all(results);
    return success();
  }
  BUDA_ASSIGN(bool condition, n.known_truth(n.operand(0), "condition (input 0)"));
  BUDA_ASSIGN(OperandList results, n.call(condition ? 0 : 1, inputs_from(n, 1), condition ? "then" : "else"));
  n.output_all(results);
  return success();
}

Result<void> import_while(NodeImport& n) {
  OperandList states = inputs_from(n, 0);
  for (int i = 0;; ++i) {
    BUDA_ASSIGN(OperandList goes_on, n.call(0, states, cat("cond/", i)));
    if (goes_on.size() != 1) return n.refuse(cat("its condition has ", goes_on.size(), " results"));
    if (any_failed(goes_on)) return success();
    BUDA_ASSIGN(bool truth, n.known_truth(goes_on[0], cat("condition before iteration ", i)));
    if (!truth) break;
    if (i >= kMaxIterations) return n.refuse(cat("it runs more than ", kMaxIterations, " times, which is the limit for loops"));
    BUDA_ASSIGN(states, n.call(1, states, cat(i)));
    if (states.size() != n.input_count())
      return n.refuse(cat("its body has ", states.size(), " results, and the loop ", n.input_count(), " states"));
    if (any_failed(states)) return success();
  }
  n.output_all(states);
  return success();
}

Result<void> import_call(NodeImport& n) {
  BUDA_ASSIGN(OperandList results, n.call(0, inputs_from(n, 0), ""));
  n.output_all(results);
  return success();
}

// What it assigns is what variables begin with.
Result<void> import_call_once(NodeImport& n) {
  BUDA_TRY(n.call(0, {}, ""));
  return success();
}

Result<void> import_handle(NodeImport& n) {
  const auto& o = n.options<format::VarHandleOptions>();
  auto text = [](const flatbuffers::String* s) { return s == nullptr ? std::string() : s->str(); };
  std::string name = cat(text(o.container()), '/', text(o.shared_name()));
  auto& variables = n.shared().variables;
  auto found = std::find_if(variables.begin(), variables.end(), [&](const Variable& v) { return v.name == name; });
  auto number = static_cast<std::int32_t>(found - variables.begin());
  if (found == variables.end()) variables.push_back({name, nullptr});
  n.output_known(Tensor::scalar<std::int32_t>(number));
  return success();
}

Result<Variable*> variable(NodeImport& n) {
  BUDA_ASSIGN(std::int64_t number, n.known_integer(0, "variable"));
  auto& variables = n.shared().variables;
  if (number < 0 || number >= static_cast<std::int64_t>(variables.size())) return n.refuse("its input 0 is not the handle of a variable");
  return &variables[static_cast<std::size_t>(number)];
}

Result<void> import_read(NodeImport& n) {
  BUDA_ASSIGN(Variable * from, variable(n));
  if (from->value == nullptr) return n.refuse(cat("reads the variable '", from->name, "' before anything assigns it"));
  n.output_all({from->value});
  return success();
}

Result<void> import_assign(NodeImport& n) {
  BUDA_ASSIGN(Variable * to, variable(n));
  if (!n.scope().initialises && n.shared().states == StateOption::passed) {
    Diagnostic d =
        n.refuse(cat("assigns the variable '", to->name, "', which would keep its value until the next run; that is not supported"));
    d.hint = "--set frontend.tflite.state=initial begins each run with what variables begin with";
    return d;
  }
  if (!n.has_input(1)) return n.refuse("has no value to assign");
  to->value = n.operand(1);
  return success();
}

constexpr OpImporter kControlOps[] = {
    {Code::ASSIGN_VARIABLE, import_assign, {}, Exactness::exact, "in what CALL_ONCE calls; elsewhere with `state=initial`"},
    {Code::CALL, import_call, {}, Exactness::exact},
    {Code::CALL_ONCE, import_call_once, {}, Exactness::exact},
    {Code::IF, import_if, {}, Exactness::exact, "both branches are computed where the condition is not known"},
    {Code::READ_VARIABLE, import_read, {}, Exactness::exact},
    {Code::VAR_HANDLE, import_handle, {}, Exactness::exact},
    {Code::WHILE, import_while, {}, Exactness::exact, "conditions known"},
};

}  // namespace

std::span<const OpImporter> control_ops() { return kControlOps; }

}  // namespace buda::tflite_frontend
