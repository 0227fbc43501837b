// SPDX-License-Identifier: Apache-2.0
// The walk over the nodes of an ONNX graph.
//
// Nodes stand in an order in which producers come first (check.cpp), so one pass is enough, and types are known as the graph grows. Names:
// inputs and outputs keep theirs, a node of ours has the name of the ONNX node, and the weights the names of their initializers; what
// would collide gets a number. Nodes of a subgraph or of a function stand under the name of the node that has it.
#include "graph_import.hpp"

#include "definitions.hpp"
#include "function.hpp"
#include "node_import.hpp"
#include "tensor_reader.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/builder_errors.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/plugin/frontend.hpp>

#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>

namespace buda::onnx_frontend {
namespace {

// Loops and functions multiply nodes: a small file may ask for a huge graph, or for an endless one.
constexpr std::size_t kMaxNodes = 1u << 20;
constexpr int kDeepestScope = 32;

class GraphImport final : public BodyImporter {
 public:
  GraphImport(Model& model, const std::string& name, Host& host)
      : model_(&model), host_(&host), builder_(name), store_(builder_.graph(), model.file), values_(store_) {}

  Result<graph::Graph> run() {
    add_inputs();
    add_initializers();
    const auto& nodes = model_->proto->graph().node();
    std::size_t done = 0;
    Scope scope{&values_, "", model_->opset, 0};
    for (const auto& node : nodes) {
      host_->progress("importing nodes", done++, static_cast<std::size_t>(nodes.size()));
      import_node(node, scope);
    }
    if (failure_.empty()) add_outputs();
    if (!failure_.empty()) return std::move(failure_);
    store_.known.erase_unused(builder_.graph());
    return builder_.finish();
  }

  Result<std::vector<Operand>> import_subgraph(const ::onnx::GraphProto& body, std::vector<Operand> arguments, const Scope& outer,
                                               const std::string& step) override {
    Values inner(store_, outer.values);
    for (std::size_t i = 0; i < arguments.size(); ++i) inner.define(body.input(static_cast<int>(i)).name(), std::move(arguments[i]));
    TensorReader reader(model_->path, host_->fs());
    auto define = [&](const std::string& name, Result<Tensor> tensor, const NarrowType* narrow) -> Result<void> {
      if (!tensor) return model_->error("ON010", cat("initializer '", name, "' ", tensor.failure().diagnostics().front().message));
      define_initializer(inner, name, std::move(*tensor), narrow);
      return success();
    };
    for (const auto& tensor : body.initializer()) BUDA_TRY(define(tensor.name(), reader.read(tensor), narrow_type(tensor.data_type())));
    for (const auto& tensor : body.sparse_initializer()) BUDA_TRY(define(tensor.values().name(), reader.read(tensor), nullptr));
    Scope scope{&inner, step + '.', outer.opset, outer.depth + 1};
    import_body(body.node(), scope);
    std::vector<Operand> results;
    for (const auto& output : body.output()) {
      results.push_back(inner.find(output.name()));
      if (results.back() == nullptr)
        return model_->error("ON034", cat("result '", output.name(), "' of a subgraph in '", step, "' is computed by no node"));
    }
    return results;
  }

 private:
  void add_inputs() {
    for (const auto& input : model_->inputs) {
      auto value = builder_.input(graph_name(input.name), input.shape, input.dtype);
      take_builder_errors(nullptr);
      if (value.valid()) builder_.node(value).origins = {{model_->file, graph_name(input.name)}};
      if (input.value)
        values_.define(input.name, *input.value, Role::constant, input.name);
      else
        values_.define(input.name, value);
    }
  }

  // Numbers with a fraction are what was trained; integers and booleans are indices, masks and shapes.
  static void define_initializer(Values& values, const std::string& name, Tensor tensor, const NarrowType* narrow) {
    auto role = is_float(tensor.dtype()) ? Role::weight : Role::constant;
    auto value = known_value(name, std::move(tensor), role, name);
    value->narrow = narrow;
    values.define(name, std::move(value));
  }

  void add_initializers() {
    for (auto& [name, tensor] : model_->initializers) {
      auto narrow = model_->narrow_initializers.find(name);
      define_initializer(values_, name, std::move(tensor),
                         narrow == model_->narrow_initializers.end() ? nullptr : narrow_type(narrow->second));
    }
    model_->initializers.clear();
  }

  template <class Nodes>
  void import_body(const Nodes& nodes, const Scope& scope) {
    if (scope.depth > kDeepestScope) {
      failure_.add(
          model_->error("ON042", cat("'", scope.prefix, "': subgraphs and functions are nested more than ", kDeepestScope, " deep")));
      return;
    }
    for (const auto& node : nodes) import_node(node, scope);
  }

  void import_node(const ::onnx::NodeProto& node, const Scope& scope) {
    bool computable = fits(node);
    for (const auto& input : node.input()) {
      if (input.empty() || !computable) continue;
      auto value = scope.values->find(input);
      if (value == nullptr)
        failure_.add(node_error(*model_, node, "ON033", cat("its input '", input, "' is computed by no node before it")));
      computable = !failed(value);
    }
    std::size_t first_new = builder_.graph().id_bound();
    if (computable) {
      auto imported = import_computable(node, scope);
      if (!imported) failure_.add(std::move(imported).failure());
      take_builder_errors(&node);
    }
    for (const auto& output : node.output())
      if (!output.empty() && !scope.values->defined_here(output)) scope.values->define_failed(output);
    set_origins(node, first_new);
  }

  // Reported once: then nothing more is imported.
  bool fits(const ::onnx::NodeProto& node) {
    if (builder_.graph().id_bound() <= kMaxNodes || too_large_) return !too_large_;
    too_large_ = true;
    failure_.add(node_error(*model_, node, "ON042",
                            cat("with its loops unrolled and its functions expanded the model has more than ", kMaxNodes, " nodes")));
    return false;
  }

  Result<void> import_computable(const ::onnx::NodeProto& node, const Scope& scope) {
    // The model's own function of another domain says what its author meant.
    if (node.domain() != kDefaultDomain && has_function(*model_, node.domain(), node.op_type(), scope.opset))
      return import_function(node, scope);
    const OpImporter* importer = find_importer(node.domain(), node.op_type());
    const auto* defined = definition(node.domain(), node.op_type(), scope.opset);
    if (importer != nullptr && defined != nullptr && defined->since_version() >= importer->since) {
      NodeImport context(*model_, node, *importer, scope, builder_, *this, *host_);
      BUDA_TRY(check_narrow(context));
      BUDA_TRY(check_sequences(context));
      BUDA_TRY(importer->import(context));
      if (importer->narrow == Narrow::moves && context.narrow(0) != nullptr)
        for (const auto& output : node.output())
          if (auto moved = scope.values->find(output); moved != nullptr) moved->narrow = context.narrow(0);
      return success();
    }
    if (has_function(*model_, node.domain(), node.op_type(), scope.opset)) return import_function(node, scope);
    std::string why(out_of_scope(node.domain(), node.op_type()));
    if (why.empty())
      why = importer != nullptr && defined != nullptr ? cat("its definition of opset ", defined->since_version(), " is not read")
                                                      : "the operator is not supported";
    return node_error(*model_, node, "ON030", why);
  }

  static Result<void> check_narrow(const NodeImport& n) {
    if (n.importer().narrow != Narrow::refuses) return success();
    for (std::size_t i = 0; i < n.input_count(); ++i)
      if (const NarrowType* narrow = n.narrow(i)) {
        Diagnostic d = n.refuse(cat("its input ", i, " has elements of ", narrow->name, ", with which the operator is not supported"));
        d.hint = "convert them before (DequantizeLinear, Cast)";
        return d;
      }
    return success();
  }

  static Result<void> check_sequences(const NodeImport& n) {
    for (std::size_t i = 0; i < n.input_count() && !n.importer().takes_sequences; ++i)
      if (auto value = n.operand(i); value != nullptr && value->sequence != nullptr)
        return n.refuse(cat("its input ", i, " is a sequence of tensors, and a tensor is needed"));
    return success();
  }

  Result<void> import_function(const ::onnx::NodeProto& node, const Scope& scope) {
    std::vector<std::optional<graph::ValueType>> types;
    for (const auto& input : node.input()) {
      types.emplace_back();
      auto value = input.empty() ? nullptr : scope.values->find(input);
      if (value != nullptr && value->tensor)
        types.back() = graph::ValueType{.dtype = value->tensor->dtype(), .shape = value->tensor->shape(), .format = {}};
      else if (value != nullptr)
        if (const auto* type = builder_.graph().type(value->ref)) types.back() = *type;
    }
    auto function = function_of(*model_, node, scope.opset, types);
    if (!function) {
      const auto& why = function.failure().diagnostics().front();
      return node_error(*model_, node, why.code, why.message);
    }
    const auto& body = *function->body;
    BUDA_TRY(check_function(*model_, body, function->opset));
    Values inner(store_);
    for (int i = 0; i < body.input_size() && i < node.input_size(); ++i)
      if (!node.input(i).empty()) inner.define(body.input(i), scope.values->find(node.input(i)));
    std::size_t errors_before = failure_.diagnostics().size();
    import_body(body.node(), Scope{&inner, cat(scope.prefix, node.name(), '.'), function->opset, scope.depth + 1});
    for (std::size_t i = errors_before; i < failure_.diagnostics().size(); ++i)
      failure_.diagnostics()[i].notes.push_back(
          {{}, cat("found in the function that defines node '", scope.prefix, node.name(), "' (op type ", node.op_type(), ')')});
    for (int i = 0; i < body.output_size() && i < node.output_size(); ++i)
      if (auto value = inner.find(body.output(i)); value != nullptr && !node.output(i).empty()) scope.values->define(node.output(i), value);
    return success();
  }

  void set_origins(const ::onnx::NodeProto& node, std::size_t first_new) {
    auto& graph = builder_.graph();
    for (std::size_t i = first_new; i < graph.id_bound(); ++i) {
      graph::NodeId id(static_cast<graph::NodeId::rep>(i));
      if (graph.contains(id) && graph.node(id).origins.empty()) graph.node(id).origins = {{model_->file, graph_name(node.name())}};
    }
  }

  // What the builder found wrong since the last call, said of the ONNX node at hand.
  void take_builder_errors(const ::onnx::NodeProto* node) {
    for (const Diagnostic& found : frontend::new_errors(builder_, builder_errors_)) {
      Diagnostic d = node == nullptr ? model_->error(found.code, cat('\'', found.node, "': ", found.message))
                                     : node_error(*model_, *node, found.code, found.message);
      d.hint = found.hint;
      d.notes = found.notes;
      failure_.add(std::move(d));
    }
  }

  void add_outputs() {
    for (const auto& output : model_->proto->graph().output()) {
      const Operand found = values_.find(output.name());
      if (found != nullptr && found->sequence != nullptr) {
        Diagnostic d = model_->error("ON034", cat("output '", output.name(), "' is a sequence of tensors; outputs must be tensors"));
        d.hint = "give its elements as outputs (SequenceAt), or join them (ConcatFromSequence)";
        failure_.add(std::move(d));
        continue;
      }
      auto value = store_.ref(found);
      if (!value.valid()) {
        failure_.add(model_->error("ON034", cat("output '", output.name(), "' has no value")));
        continue;
      }
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
    if (type == nullptr || !output.type().has_tensor_type()) return;
    compare_with_declared_dtype(output, type->dtype);
    if (!output.type().tensor_type().has_shape()) return;
    const auto& declared = output.type().tensor_type().shape();
    bool same = static_cast<std::size_t>(declared.dim_size()) == type->shape.rank();
    for (int i = 0; same && i < declared.dim_size(); ++i)
      same = !declared.dim(i).has_dim_value() || declared.dim(i).dim_value() == type->shape[static_cast<std::size_t>(i)];
    if (same) return;
    std::vector<std::string> sizes;
    for (const auto& dim : declared.dim())
      sizes.push_back(dim.has_dim_value() ? cat(dim.dim_value()) : dim.has_dim_param() ? dim.dim_param() : "?");
    tell_of_output(output.name(), cat("output '", output.name(), "' is declared with shape ", list_text(sizes),
                                      ", and its nodes compute shape ", type->shape.text()));
  }

  // Kinds of numbers alone: elements of one kind come in the type that the graph computes with.
  void compare_with_declared_dtype(const ::onnx::ValueInfoProto& output, DType computed) {
    const std::int32_t declared = output.type().tensor_type().elem_type();
    const auto dtype = dtype_of(declared);
    if (!dtype || (is_float(*dtype) == is_float(computed) && (*dtype == DType::boolean) == (computed == DType::boolean))) return;
    tell_of_output(output.name(), cat("output '", output.name(), "' is declared with elements of type ", dtype_name(*dtype),
                                      ", and its nodes compute ", dtype_name(computed)));
  }

  void tell_of_output(const std::string& output, std::string message) {
    Diagnostic d = warning("ON041", model_->error("", "").loc, std::move(message));
    d.node = output;
    host_->report(d);
  }

  Model* model_;
  Host* host_;
  ops::Builder builder_;
  ValueStore store_;
  Values values_;
  Failure failure_;
  std::size_t builder_errors_ = 0;
  bool too_large_ = false;
};

}  // namespace

Result<graph::Graph> import_graph(Model& model, const std::string& name, Host& host) { return GraphImport(model, name, host).run(); }

}  // namespace buda::onnx_frontend
