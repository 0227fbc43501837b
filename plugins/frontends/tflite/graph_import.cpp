// The walk over the operators of the main subgraph.
//
// Operators stand in an order in which producers come first (check.cpp), so one pass is enough, and types are known as the graph grows.
// Names: inputs, outputs and weights have those of their tensors, a node that of its operator's first result; what would collide gets a
// number.
#include "graph_import.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/builder_errors.hpp>
#include <buda/graph/value.hpp>

namespace buda::tflite_frontend {
namespace {

class GraphImport {
 public:
  GraphImport(const Model& model, const std::string& name, Arithmetic arithmetic, Host& host)
      : model_(&model), host_(&host), builder_(name), state_(model, builder_, arithmetic) {}

  Result<graph::Graph> run() {
    add_inputs();
    add_constants();
    std::size_t done = 0;
    for (const auto& op : model_->operators) {
      host_->progress("importing operators", done++, model_->operators.size());
      import_operator(op);
    }
    if (failure_.empty()) add_outputs();
    if (!failure_.empty()) return std::move(failure_);
    state_.layouts.erase_unused(builder_.graph());
    state_.store.known.erase_unused(builder_.graph());
    return builder_.finish();
  }

 private:
  const TensorInfo& info(std::int32_t tensor) const { return model_->tensors[static_cast<std::size_t>(tensor)]; }

  void add_inputs() {
    for (const auto& input : model_->pushed) {
      const TensorInfo& tensor = model_->tensors[input.tensor];
      auto value = builder_.input(tensor.name, input.shape, *tensor.dtype);
      take_builder_errors(nullptr);
      if (value.valid()) builder_.node(value).origins = {{model_->file, tensor.name}};
      state_.values[input.tensor] =
          input.value ? known_value(tensor.name, *input.value, Role::constant, tensor.name) : computed_value(tensor.name, value);
    }
  }

  // Numbers with a fraction are what was trained, also where integers stand for them; other integers are indices and shapes.
  void add_constants() {
    for (std::size_t i = 0; i < model_->tensors.size(); ++i) {
      const TensorInfo& tensor = model_->tensors[i];
      if (!tensor.value || state_.values[i] != nullptr) continue;
      bool weight = is_float(*tensor.dtype) || tensor.is_quantized();
      state_.values[i] = known_value(tensor.name, *tensor.value, weight ? Role::weight : Role::constant, tensor.name);
    }
  }

  void import_operator(const OperatorInfo& op) {
    bool computable = true;
    for (auto input : op.inputs) {
      if (input < 0) continue;
      if (!info(input).unreadable.empty()) {
        failure_.add(node_error(*model_, op, "TF041", cat("its input '", info(input).name, "' ", info(input).unreadable)));
        computable = false;
      } else if (frontend::failed(state_.values[static_cast<std::size_t>(input)])) {
        computable = false;
        // A variable has no value before the first run but what its operator gives it; others were refused already.
        if (info(input).is_variable)
          failure_.add(node_error(*model_, op, "TF041", cat("its input '", info(input).name, "' is a variable, which is not supported")));
      }
    }
    std::size_t first_new = builder_.graph().id_bound();
    if (computable) {
      NodeImport node(state_, op, *find_importer(op.code));
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
    for (auto output : model_->outputs) {
      const TensorInfo& tensor = info(output);
      auto value = state_.store.ref(state_.values[static_cast<std::size_t>(output)]);
      const auto* type = builder_.graph().type(value);
      if (type == nullptr) {
        failure_.add(model_->error("TF034", cat("output '", tensor.name, "' has no value")));
        continue;
      }
      if (tensor.is_quantized() && is_float(type->dtype)) value = requantized(builder_, value, tensor, cat(tensor.name, ".stored"));
      std::string name = tensor.name;
      for (int i = 1; builder_.graph().find_output(name).valid(); ++i) name = cat(tensor.name, '_', i);
      builder_.output(name, value);
      auto id = builder_.graph().find_output(name);
      if (id.valid()) builder_.graph().node(id).origins = {{model_->file, tensor.name}};
      compare_with_declaration(tensor, value);
    }
    take_builder_errors(nullptr);
  }

  // A type that the file states for an output and that is not the one computed here is worth a word, unless sizes were changed by the user.
  void compare_with_declaration(const TensorInfo& output, graph::ValueRef value) {
    for (const auto& input : model_->pushed)
      if (input.shape != model_->tensors[input.tensor].shape) return;
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
  Failure failure_;
  std::size_t builder_errors_ = 0;
};

}  // namespace

Result<graph::Graph> import_graph(const Model& model, const std::string& name, Arithmetic arithmetic, Host& host) {
  return GraphImport(model, name, arithmetic, host).run();
}

}  // namespace buda::tflite_frontend
