// SPDX-License-Identifier: Apache-2.0
// The walk over the operations of a function.
//
// Functions are inlined and regions are computed where they stand, so every value has one meaning at a time and a table by its id is
// enough. A `while` is unrolled, since its conditions must be known; a limit on the number of operations ends one that does not stop.
#include "graph_import.hpp"

#include "check.hpp"
#include "inputs.hpp"
#include "op_call.hpp"
#include "quantized_call.hpp"
#include "quantized_type.hpp"

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/frontend/builder_errors.hpp>
#include <buda/graph/values/value.hpp>

#include <set>

namespace buda::stablehlo {
namespace {

constexpr std::size_t kMaxOperations = 400'000;
constexpr int kMaxNestedCalls = 100;

// "stablehlo.add" and label "2" give "add_2"; a label that is a name stays.
std::string node_name(const Operation& op) {
  const std::string short_name = op.name.substr(op.name.rfind('.') + 1);
  if (op.label.empty()) return short_name;
  return op.label[0] >= '0' && op.label[0] <= '9' ? cat(short_name, '_', op.label) : frontend::graph_name(op.label);
}

bool is_terminator(const Operation& op) { return op.name == "func.return" || op.name == "stablehlo.return" || op.name == "chlo.return"; }

class GraphImport {
 public:
  GraphImport(const Module& module, const Functions& functions, const std::string& name)
      : module_(&module), functions_(&functions), builder_(name), state_(module, builder_), values_(module.value_count) {
    state_.run_region = [this](const Region& region, std::vector<Value> arguments, bool lifted) {
      const bool before = state_.lifted;
      state_.lifted = before || lifted;
      auto out = run(region, std::move(arguments));
      state_.lifted = before;
      return out;
    };
    state_.run_function = [this](const Operation& op, std::string_view callee, std::vector<Value> arguments) {
      return call(op, callee, std::move(arguments));
    };
  }

  Result<graph::Graph> import(const Function& function, const std::vector<ModelInput>& inputs) {
    std::vector<Value> arguments;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      arguments.push_back(add_input(inputs[i]));
      arguments.back().quantized = function.body().argument_types[i].quantized;
    }
    BUDA_TRY(take_errors(*function.operation, "input"));
    active_.insert(function.name);
    BUDA_ASSIGN(std::vector<Value> results, run(function.body(), std::move(arguments)));
    BUDA_TRY(add_outputs(function, results));
    state_.store.known.erase_unused(builder_.graph());
    return builder_.finish();
  }

 private:
  Value add_input(const ModelInput& input) {
    auto part = [&](const std::string& name) {
      Ref ref = builder_.input(name, input.shape, input.dtype);
      if (ref.valid()) builder_.node(ref).origins = {{module_->file, input.name}};
      return ref;
    };
    if (input.is_complex) {
      Ref real = part(cat(input.name, ".real")), imaginary = part(cat(input.name, ".imag"));
      return tensor_value(real, imaginary);
    }
    Ref ref = part(input.name);
    if (!input.value) return tensor_value(ref);
    Value out;
    out.real = frontend::known_value(cat(input.name, ".value"), *input.value, frontend::Role::constant, input.name);
    return out;
  }

  Result<std::vector<Value>> run(const Region& region, std::vector<Value> arguments) {
    if (arguments.size() != region.arguments.size())
      return module_->error("SH006", cat("a region or function takes ", region.arguments.size(), " values and is given ", arguments.size()),
                            line_);
    for (std::size_t i = 0; i < arguments.size(); ++i) values_[region.arguments[i]] = std::move(arguments[i]);
    for (const Operation& op : region.operations) {
      if (is_terminator(op)) return operands_of(op);
      BUDA_TRY(operation(op));
    }
    const std::uint32_t last = region.operations.empty() ? line_ : region.operations.back().line;
    return module_->error("SH006", "a region or function does not end with a return", last);
  }

  Result<std::vector<Value>> call(const Operation& op, std::string_view callee, std::vector<Value> arguments) {
    auto it = functions_->find(callee);
    if (it == functions_->end() || it->second.operation->regions.empty())
      return module_->error("SH022", cat("operation ", op.name, " calls the function '", callee, "', which the file does not have"),
                            op.line);
    if (!active_.insert(it->first).second || active_.size() > kMaxNestedCalls)
      return module_->error("SH025", cat("function '", callee, "' calls itself, which is not supported"), op.line);
    const std::string before = prefix_;
    prefix_ = cat(prefix_, callee, '/');
    auto out = run(it->second.body(), std::move(arguments));
    prefix_ = before;
    active_.erase(it->first);
    return out;
  }

  Result<std::vector<Value>> operands_of(const Operation& op) {
    std::vector<Value> out;
    for (ValueId id : op.operands) {
      if (id >= values_.size() || (!values_[id].is_tensor() && is_other_.count(id) == 0))
        return module_->error("SH004", cat("operation ", op.name, " uses a value that is not defined before"), op.line);
      out.push_back(values_[id]);
    }
    return out;
  }

  Result<void> operation(const Operation& op) {
    line_ = op.line;
    if (++operations_ > kMaxOperations)
      return module_->error("SH026", cat("its loops have more than ", kMaxOperations, " operations"), op.line);
    const OpImporter* importer = find_importer(op.name);
    if (importer == nullptr) return module_->error("SH030", cat("operation ", op.name, " is not read"), op.line);
    BUDA_ASSIGN(std::vector<Value> operands, operands_of(op));
    const std::string name = frontend::graph_name(cat(prefix_, node_name(op)));
    const std::size_t first_new = builder_.graph().id_bound();
    auto inner = [&](const Operation& changed, std::vector<Value> given) {
      return compute(changed, *importer, std::move(given), name, first_new);
    };
    auto results = needs_quantized_rule(op, operands) ? compute_quantized(state_, op, std::move(operands), name, inner)
                                                      : inner(op, std::move(operands));
    BUDA_TRY(take_errors(op, name));
    if (!results) return std::move(results).failure();
    set_origins(name, first_new);
    for (std::size_t i = 0; i < op.results.size(); ++i) {
      Value& result = (*results)[i];
      if (!result.is_tensor()) is_other_.insert(op.results[i]);
      values_[op.results[i]] = std::move(result);
    }
    return success();
  }

  Result<std::vector<Value>> compute(const Operation& op, const OpImporter& importer, std::vector<Value> operands, const std::string& name,
                                     std::size_t first_new) {
    OpCall call(state_, op, importer, std::move(operands), name);
    if (state_.lifted && importer.scope != Scope::elementwise && importer.scope != Scope::everywhere)
      return call.refuse("stands in the body of a reduction; only elementwise operators are read there");
    auto imported = call.import();
    BUDA_TRY(take_errors(op, name));
    if (!imported) return std::move(imported).failure();
    name_first_result(call, first_new);
    for (std::size_t i = 0; i < op.results.size(); ++i) BUDA_TRY(check_result(call, i));
    return std::move(call.results());
  }

  // The node of the first result gets the operation's own name, unless it is one of a function that is called.
  void name_first_result(OpCall& call, std::size_t first_new) {
    auto& graph = builder_.graph();
    if (call.results().empty() || !call.results()[0].is_tensor()) return;
    const Ref first = call.results()[0].real->ref;
    const bool is_new = first.valid() && first.node.index() >= first_new;
    if (is_new && graph.node(first.node).name().starts_with(cat(call.name(), '.'))) graph.rename(first.node, call.name());
  }

  void set_origins(const std::string& name, std::size_t first_new) {
    auto& graph = builder_.graph();
    for (std::size_t i = first_new; i < graph.id_bound(); ++i) {
      const graph::NodeId id(static_cast<graph::NodeId::rep>(i));
      if (graph.contains(id) && graph.node(id).origins.empty()) graph.node(id).origins = {{module_->file, name}};
    }
  }

  Result<void> take_errors(const Operation& op, const std::string& name) {
    Failure failure;
    for (const Diagnostic& found : frontend::new_errors(builder_, builder_errors_)) {
      Diagnostic d = module_->error(found.code, cat("node '", name, "' (op type ", op.name, "): ", found.message), op.line);
      d.node = name;
      d.hint = found.hint;
      d.notes = found.notes;
      failure.add(std::move(d));
    }
    if (!failure.empty()) return failure;
    return success();
  }

  // Is a result what the file says it is?
  Result<void> check_result(OpCall& call, std::size_t i) {
    const Type& stated = call.result_type(i);
    const Value& value = call.results()[i];
    if (stated.kind != Type::Kind::tensor) return success();
    if (!value.is_tensor() || !stated.dtype) return call.refuse(cat("its result has the type ", stated.text, ", which is not supported"));
    const Ref ref = state_.store.ref(value.real);
    const DType dtype = call.dtype_of(ref);
    const Shape shape = call.shape_of(ref);
    bool fits = dtype == *stated.dtype && value.is_complex() == stated.is_complex;
    if (!state_.lifted) {
      fits = fits && shape.rank() == stated.dims.size();
      for (std::size_t axis = 0; fits && axis < shape.rank(); ++axis) fits = stated.dims[axis] == kOpen || stated.dims[axis] == shape[axis];
    }
    if (fits && value.quantized && (!stated.quantized || *value.quantized != *stated.quantized))
      return call.refuse(cat("its result ", i, " is stated to be ", stated.text, ", and is quantised otherwise"));
    call.results()[i].quantized = stated.quantized;
    if (fits) return success();
    return call.refuse(cat("its result ", i, " is stated to be ", stated.text, ", and is ", value.is_complex() ? "complex " : "",
                           dtype_name(dtype), ' ', shape.text()));
  }

  Result<void> add_outputs(const Function& function, const std::vector<Value>& results) {
    const std::vector<std::string> names = result_names(function, results.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!results[i].is_tensor()) continue;
      add_output(results[i].is_complex() ? cat(names[i], ".real") : names[i], results[i].real);
      if (results[i].is_complex()) add_output(cat(names[i], ".imag"), results[i].imaginary);
    }
    return take_errors(*function.operation, "output");
  }

  void add_output(const std::string& name, const frontend::Operand& value) {
    builder_.output(name, state_.store.ref(value));
    auto id = builder_.graph().find_output(name);
    if (id.valid()) builder_.graph().node(id).origins = {{module_->file, name}};
  }

  const Module* module_;
  const Functions* functions_;
  ops::Builder builder_;
  ImportState state_;
  std::vector<Value> values_;
  std::set<ValueId> is_other_;    // tokens and tuples
  std::set<std::string> active_;  // functions that are being computed
  std::string prefix_;
  std::size_t operations_ = 0, builder_errors_ = 0;
  std::uint32_t line_ = 0;  // of the operation that is computed
};

Result<const Function*> find_function(const Module& module, const Functions& functions, const std::string& wanted) {
  if (auto it = functions.find(wanted); it != functions.end()) return &it->second;
  std::vector<std::string> names;
  for (const auto& [name, function] : functions)
    if (function.is_public) names.push_back(name);
  if (wanted == "main" && names.size() == 1) return &functions.find(names[0])->second;
  Diagnostic d = module.error("SH027", cat("has no function '", wanted, '\''));
  if (auto near = nearest_word(wanted, names))
    d.hint = cat("--set frontend.stablehlo.function=", *near);
  else
    d.hint = names.empty() ? "it has no public function"
                           : cat("choose one: --set frontend.stablehlo.function=", names[0], "; it has: ", join(names, ", "));
  return d;
}

}  // namespace

Result<graph::Graph> import_graph(const Module& module, const std::string& name, const std::string& function,
                                  const plugin::ImportOptions& options) {
  BUDA_ASSIGN(Functions functions, functions_of(module));
  BUDA_ASSIGN(const Function* entry, find_function(module, functions, function));
  BUDA_TRY(check_function(module, functions, *entry));
  BUDA_ASSIGN(std::vector<ModelInput> inputs, resolve_inputs(module, *entry, options));
  return GraphImport(module, functions, name).import(*entry, inputs);
}

}  // namespace buda::stablehlo
