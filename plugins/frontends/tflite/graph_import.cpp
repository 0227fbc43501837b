// SPDX-License-Identifier: Apache-2.0
// The walk over the operators of the main subgraph and, where they call others, of these.
//
// Operators stand in an order in which producers come first (check.cpp), so one pass is enough, and types are known as the graph grows.
// Names: inputs and outputs have those of the model's signature or of their tensors, weights those of their tensors, a node that of its
// operator's first result; what would collide gets a number.
#include "graph_import.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/builder_errors.hpp>
#include <buda/graph/values/value.hpp>

namespace buda::tflite_frontend {
namespace {

// Few bytes of a file may ask for any number of calls.
constexpr std::size_t kMaxOperators = 1 << 16;

class GraphImport : private Calls {
 public:
  GraphImport(const Model& model, const std::string& name, const ImportChoices& choices, Host& host)
      : model_(&model), host_(&host), builder_(name), state_(model, builder_, choices, *this), constants_(model.subgraphs.size()) {}

  Result<graph::Graph> run() {
    main_ = {&model_->main(), "", constants_of(model_->entry.subgraph), {}};
    add_inputs();
    std::size_t done = 0;
    for (const auto& op : model_->main().operators) {
      host_->progress("importing operators", done++, model_->main().operators.size());
      import_operator(main_, op);
    }
    if (failure_.empty()) add_outputs();
    if (!failure_.empty()) return std::move(failure_);
    state_.layouts.erase_unused(builder_.graph());
    state_.store.known.erase_unused(builder_.graph());
    return builder_.finish();
  }

 private:
  const TensorInfo& info(std::int32_t tensor) const { return model_->main().tensors[static_cast<std::size_t>(tensor)]; }
  Operand& value(std::int32_t tensor) { return main_.values[static_cast<std::size_t>(tensor)]; }

  Result<std::vector<Operand>> call(const NodeImport& caller, std::size_t subgraph, const std::vector<Operand>& arguments,
                                    std::string prefix) override {
    const Subgraph& graph = model_->subgraphs[subgraph];
    if (arguments.size() != graph.inputs.size())
      return caller.refuse(cat("gives subgraph ", subgraph, ' ', arguments.size(), " values; it takes ", graph.inputs.size()));
    if (caller.scope().depth >= kDeepestCalls) return caller.refuse(cat("is a call within ", kDeepestCalls, " others, which is the limit"));
    Scope scope{&graph, std::move(prefix), constants_of(subgraph), {}, caller.scope().depth + 1};
    scope.initialises = caller.scope().initialises || caller.importer().code == Code::CALL_ONCE;
    for (std::size_t i = 0; i < arguments.size(); ++i) scope.values[static_cast<std::size_t>(graph.inputs[i])] = arguments[i];
    for (const auto& op : graph.operators) {
      if (++called_operators_ > kMaxOperators)
        return caller.refuse(cat("calls and loops of the model run more than ", kMaxOperators, " operators, which is the limit"));
      import_operator(scope, op);
    }
    std::vector<Operand> results;
    for (auto output : graph.outputs) results.push_back(scope.values[static_cast<std::size_t>(output)]);
    return results;
  }

  void add_inputs() {
    for (const auto& input : model_->pushed) {
      const TensorInfo& tensor = model_->main().tensors[input.tensor];
      auto value = builder_.input(input.name, input.shape, *tensor.dtype);
      take_builder_errors(nullptr);
      if (value.valid()) builder_.node(value).origins = {{model_->file, tensor.name}};
      main_.values[input.tensor] =
          input.value ? known_value(input.name, *input.value, Role::constant, tensor.name) : computed_value(input.name, value);
    }
  }

  // Numbers with a fraction are what was trained, also where integers stand for them; other integers are indices and shapes.
  // All calls of a subgraph share them.
  const std::vector<Operand>& constants_of(std::size_t subgraph) {
    const auto& tensors = model_->subgraphs[subgraph].tensors;
    auto& out = constants_[subgraph];
    if (out.size() == tensors.size()) return out;
    for (const TensorInfo& tensor : tensors) {
      if (!tensor.value) {
        out.push_back(nullptr);
        continue;
      }
      bool weight = is_float(*tensor.dtype) || tensor.is_quantized();
      out.push_back(known_value(tensor.name, *tensor.value, weight ? Role::weight : Role::constant, tensor.name));
    }
    return out;
  }

  // Reports what of the inputs cannot be used. A state without a value is left to the operator: it knows the shape.
  bool has_usable_inputs(const Scope& scope, const OperatorInfo& op) {
    bool usable = true;
    for (auto input : op.inputs) {
      if (input < 0) continue;
      const TensorInfo& tensor = scope.graph->tensors[static_cast<std::size_t>(input)];
      const Operand& value = scope.values[static_cast<std::size_t>(input)];
      if (!tensor.unreadable.empty()) {
        failure_.add(node_error(*model_, op, "TF041", cat("its input '", tensor.name, "' ", tensor.unreadable)));
        usable = false;
      } else if (tensor.is_variable && op.subgraph != model_->entry.subgraph) {
        failure_.add(node_error(*model_, op, "TF041", cat("its input '", tensor.name, "' is a state of a subgraph that the model calls")));
        usable = false;
      } else if (frontend::failed(value) && !(tensor.is_variable && value == nullptr)) {
        usable = false;  // what failed was reported
      }
    }
    return usable;
  }

  // The first of them; null where there is none.
  static const TensorInfo* complex_input(const Scope& scope, const OperatorInfo& op) {
    for (auto input : op.inputs)
      if (input >= 0 && scope.graph->tensors[static_cast<std::size_t>(input)].is_complex())
        return &scope.graph->tensors[static_cast<std::size_t>(input)];
    return nullptr;
  }

  void import_operator(Scope& scope, const OperatorInfo& op) {
    bool computable = has_usable_inputs(scope, op);
    std::size_t first_new = builder_.graph().id_bound();
    if (computable) {
      const TensorInfo* complex = complex_input(scope, op);
      const OpImporter* importer = op.custom ? find_custom_importer(op.type) : find_importer(op.code);
      if (complex != nullptr) importer = op.custom ? nullptr : complex_importer(op.code);
      if (importer == nullptr) {
        failure_.add(node_error(*model_, op, "TF041",
                                cat("its input '", complex->name, "' holds complex numbers, for which this operator is not read")));
        return;
      }
      NodeImport node(state_, scope, op, *importer);
      if (auto imported = node.importer().import(node); !imported) failure_.add(std::move(imported).failure());
      take_builder_errors(&op);
    }
    auto& graph = builder_.graph();
    for (std::size_t i = first_new; i < graph.id_bound(); ++i) {
      graph::NodeId id(static_cast<graph::NodeId::rep>(i));
      if (graph.contains(id) && graph.node(id).origins.empty()) graph.node(id).origins = {{model_->file, op.name}};
    }
  }

  // What the builder found wrong since the last call, said of the operator at hand.
  void take_builder_errors(const OperatorInfo* op) {
    for (const Diagnostic& found : frontend::new_errors(builder_, builder_errors_)) {
      Diagnostic d = op == nullptr ? model_->error(found.code, cat('\'', found.node, "': ", found.message))
                                   : node_error(*model_, *op, found.code, found.message);
      d.hint = found.hint;
      d.notes = found.notes;
      failure_.add(std::move(d));
    }
  }

  void add_outputs() {
    for (const auto& output : model_->entry.outputs) add_output(output.tensor, output.name);
    for (const auto& pushed : model_->pushed) {
      auto tensor = static_cast<std::int32_t>(pushed.tensor);
      if (info(tensor).is_variable) add_output(tensor, cat(pushed.name, ".next"));
    }
    take_builder_errors(nullptr);
  }

  void add_output(std::int32_t output, const std::string& wanted_name) {
    const TensorInfo& tensor = info(output);
    auto result = state_.store.ref(value(output));
    const auto* type = builder_.graph().type(result);
    if (tensor.is_complex()) {
      failure_.add(model_->error("TF034", cat("output '", tensor.name, "' holds complex numbers, which no output may")));
      return;
    }
    if (type == nullptr) {
      failure_.add(model_->error("TF034", cat("output '", tensor.name, "' has no value")));
      return;
    }
    if (tensor.is_quantized() && is_float(type->dtype)) result = requantized(builder_, result, tensor, cat(wanted_name, ".stored"));
    std::string name = wanted_name;
    for (int i = 1; builder_.graph().find_output(name).valid(); ++i) name = cat(wanted_name, '_', i);
    builder_.output(name, result);
    auto id = builder_.graph().find_output(name);
    if (id.valid()) builder_.graph().node(id).origins = {{model_->file, tensor.name}};
    compare_with_declaration(tensor, result);
  }

  // A type that the file states for an output and that is not the one computed here is worth a word, unless sizes were changed by the user.
  void compare_with_declaration(const TensorInfo& output, graph::ValueRef value) {
    for (const auto& input : model_->pushed)
      if (input.shape != model_->main().tensors[input.tensor].shape) return;
    const auto* type = builder_.graph().type(value);
    if (type == nullptr || output.shape.rank() == 0 || output.shape == type->shape) return;
    for (bool open : output.open_axes)
      if (open) return;
    Diagnostic d = warning("TF042", model_->error("", "").loc,
                           cat("output '", output.name, "' is declared with shape ", output.shape.text(),
                               ", and its operators compute shape ", type->shape.text()));
    d.node = output.name;
    host_->report(d);
  }

  const Model* model_;
  Host* host_;
  ops::Builder builder_;
  ImportState state_;
  Scope main_;
  std::vector<std::vector<Operand>> constants_;  // by subgraph, then tensor
  std::size_t called_operators_ = 0;
  Failure failure_;
  std::size_t builder_errors_ = 0;
};

}  // namespace

Result<graph::Graph> import_graph(const Model& model, const std::string& name, const ImportChoices& choices, Host& host) {
  return GraphImport(model, name, choices, host).run();
}

}  // namespace buda::tflite_frontend
