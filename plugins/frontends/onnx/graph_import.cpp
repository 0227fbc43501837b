// The walk over the nodes of an ONNX graph.
//
// Nodes stand in an order in which producers come first (check.cpp), so one pass is enough, and types are known as the graph grows. Names:
// inputs and outputs keep theirs, a node of ours has the name of the ONNX node, and the weights the names of their initializers; what
// would collide gets a number.
#include "graph_import.hpp"

#include "node_import.hpp"

#include <buda/base/text.hpp>
#include <buda/ops/builder.hpp>

#include <onnx/onnx_pb.h>

namespace buda::onnx_frontend {
namespace {

class GraphImport {
 public:
  GraphImport(Model& model, const std::string& name, Host& host)
      : model_(&model), host_(&host), builder_(name), values_(builder_.graph(), model.file) {}

  Result<graph::Graph> run() {
    add_inputs();
    add_initializers();
    import_nodes();
    if (failure_.empty()) add_outputs();
    if (!failure_.empty()) return std::move(failure_);
    return builder_.finish();
  }

 private:
  void add_inputs() {
    for (const auto& input : model_->inputs) {
      auto value = builder_.input(graph_name(input.name), input.shape, input.dtype);
      take_builder_errors(nullptr);
      if (value.valid()) builder_.node(value).origins = {{model_->file, graph_name(input.name)}};
      if (input.value)
        values_.define(input.name, *input.value, Values::Role::constant, input.name);
      else
        values_.define(input.name, value);
    }
  }

  // Numbers with a fraction are what was trained; whole numbers and booleans are indices, masks and shapes.
  void add_initializers() {
    for (auto& [name, tensor] : model_->initializers) {
      auto role = is_float(tensor.dtype()) ? Values::Role::weight : Values::Role::constant;
      values_.define(name, std::move(tensor), role, name);
    }
    model_->initializers.clear();
  }

  void import_nodes() {
    const auto& nodes = model_->proto->graph().node();
    std::size_t done = 0;
    for (const auto& node : nodes) {
      host_->progress("importing nodes", done++, static_cast<std::size_t>(nodes.size()));
      import_node(node);
    }
  }

  void import_node(const ::onnx::NodeProto& node) {
    bool computable = true;
    for (const auto& input : node.input()) computable = computable && (input.empty() || !values_.failed(input));
    std::size_t first_new = builder_.graph().id_bound();
    if (computable) {
      const OpImporter* importer = find_importer(node.domain(), node.op_type());
      NodeImport context(*model_, node, *importer, values_, builder_, *host_);
      auto imported = importer->import(context);
      if (!imported) failure_.add(std::move(imported).failure());
      take_builder_errors(&node);
    }
    for (const auto& output : node.output())
      if (!output.empty() && !values_.defined(output)) values_.define_failed(output);
    set_origins(node, first_new);
  }

  void set_origins(const ::onnx::NodeProto& node, std::size_t first_new) {
    auto& graph = builder_.graph();
    for (std::size_t i = first_new; i < graph.id_bound(); ++i) {
      graph::NodeId id(static_cast<graph::NodeId::rep>(i));
      if (graph.contains(id) && graph.node(id).origins.empty()) graph.node(id).origins = {{model_->file, node.name()}};
    }
  }

  // What the builder found wrong since the last call, said of the ONNX node at hand.
  void take_builder_errors(const ::onnx::NodeProto* node) {
    auto status = builder_.status();
    if (status) return;
    const auto& all = status.failure().diagnostics();
    for (; builder_errors_ < all.size(); ++builder_errors_) {
      const Diagnostic& found = all[builder_errors_];
      std::string said = cat("node '", found.node, "': ");
      std::string message = found.message.starts_with(said) ? found.message.substr(said.size()) : found.message;
      Diagnostic d = node == nullptr ? model_->error(found.code, cat('\'', found.node, "': ", message))
                                     : node_error(*model_, *node, found.code, message);
      d.hint = found.hint;
      d.notes = found.notes;
      failure_.add(std::move(d));
    }
  }

  void add_outputs() {
    for (const auto& output : model_->proto->graph().output()) {
      auto value = values_.ref(output.name());
      builder_.output(graph_name(output.name()), value);
      auto id = builder_.graph().find_output(graph_name(output.name()));
      if (id.valid()) builder_.graph().node(id).origins = {{model_->file, graph_name(output.name())}};
      compare_with_declaration(output, value);
    }
    take_builder_errors(nullptr);
  }

  // A type that the file states for an output and that is not the one computed here is worth a word: one of both is wrong.
  void compare_with_declaration(const ::onnx::ValueInfoProto& output, graph::ValueRef value) {
    const auto* type = builder_.graph().type(value);
    if (type == nullptr || !output.type().has_tensor_type() || !output.type().tensor_type().has_shape()) return;
    const auto& declared = output.type().tensor_type().shape();
    bool same = static_cast<std::size_t>(declared.dim_size()) == type->shape.rank();
    for (int i = 0; same && i < declared.dim_size(); ++i)
      same = !declared.dim(i).has_dim_value() || declared.dim(i).dim_value() == type->shape[static_cast<std::size_t>(i)];
    if (same) return;
    std::vector<std::string> sizes;
    for (const auto& dim : declared.dim())
      sizes.push_back(dim.has_dim_value() ? cat(dim.dim_value()) : dim.has_dim_param() ? dim.dim_param() : "?");
    Diagnostic d = warning("ON041", model_->error("", "").loc,
                           cat("output '", output.name(), "' is declared with shape ", list_text(sizes), ", and its nodes compute shape ",
                               type->shape.text()));
    d.node = output.name();
    host_->report(d);
  }

  Model* model_;
  Host* host_;
  ops::Builder builder_;
  Values values_;
  Failure failure_;
  std::size_t builder_errors_ = 0;
};

}  // namespace

Result<graph::Graph> import_graph(Model& model, const std::string& name, Host& host) { return GraphImport(model, name, host).run(); }

}  // namespace buda::onnx_frontend
