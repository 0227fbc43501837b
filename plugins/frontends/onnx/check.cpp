// SPDX-License-Identifier: Apache-2.0
// What must hold before a model is turned into a graph: known operators, nodes as ONNX defines them, producers before users.
//
// libonnx's check_model() stops at the first error, so its parts are called one by one here, and what they find is collected.
#include "definitions.hpp"
#include "function.hpp"
#include "model.hpp"
#include "op_table.hpp"

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/frontend/unsupported.hpp>
#include <buda/tensor/tensor.hpp>

#include <onnx/checker.h>
#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace buda::onnx_frontend {
namespace {

using ::onnx::NodeProto;

bool is_supported(const Model& model, const NodeProto& node) {
  return (find_importer(node.domain(), node.op_type()) != nullptr && definition(node.domain(), node.op_type(), model.opset) != nullptr) ||
         has_function(model, node.domain(), node.op_type(), model.opset);
}

// f(node) for each node of the graph and of its subgraphs.
template <class F>
void for_each_node(const ::onnx::GraphProto& graph, F f) {
  for (const auto& node : graph.node()) {
    f(node);
    for (const auto& attribute : node.attribute())
      if (attribute.has_g()) for_each_node(attribute.g(), f);
  }
}

Result<void> check_versions(const Model& model) {
  if (!model.proto->has_ir_version()) return model.error("ON020", "is not an ONNX model: it has no ir_version");
  if (model.opset >= kOldestOpset && model.opset <= kNewestOpset) return success();
  Diagnostic d = model.error("ON020", cat("uses ONNX opset ", model.opset, "; opsets ", kOldestOpset, " to ", kNewestOpset, " are read"));
  d.hint = cat("export the model with opset ", std::min(kNewestOpset, std::max(model.opset, 13)));
  d.data = {{"opset", cat(model.opset)}};
  return d;
}

// Why an operator is not read.
std::string unsupported_reason(const Model& model, const NodeProto& node) {
  if (auto why = out_of_scope(node.domain(), node.op_type()); !why.empty()) return std::string(why);
  if (definition(node.domain(), node.op_type(), model.opset) != nullptr)
    return "not read yet: leave it out and compute it before or after the model (onnx.utils.extract_model)";
  for (int opset = model.opset + 1; opset <= kNewestOpset; ++opset)
    if (const auto* first = definition(node.domain(), node.op_type(), opset))
      return cat("not defined in opset ", model.opset, "; ONNX has it from opset ", first->since_version(), " on");
  if (auto near = nearest_word(node.op_type(), defined_op_types())) return cat("unknown to ONNX; did the exporter mean ", *near, '?');
  return "unknown to ONNX";
}

// All nodes with operators that are not read, as one error with a note for each operator.
void check_operators(const Model& model, Failure& failure) {
  frontend::UnsupportedOps found;
  for_each_node(model.proto->graph(), [&](const NodeProto& node) {
    if (is_supported(model, node)) return;
    found.add(cat(domain_name(node.domain()), '.', node.op_type()),
              cat("op type ", node.op_type(), " (", domain_text(model, node.domain()), ')'), unsupported_reason(model, node), node.name());
  });
  if (!found.empty()) failure.add(found.report(model.error("ON030", "the model uses operators that are not supported")));
}

// libonnx's text is a sentence, a blank line and "==> Context: …"; the context repeats what our own message says.
std::string checker_text(std::string text) {
  text = text.substr(0, text.find("\n\n==> Context"));
  for (char& c : text)
    if (c == '\n') c = ' ';
  return text;
}

// libonnx would look for elements outside the model file past our file system, and does not know the newer element types.
bool has_tensor_of_ours(const NodeProto& node) {
  return std::any_of(node.attribute().begin(), node.attribute().end(), [](const ::onnx::AttributeProto& a) {
    return a.has_t() &&
           (a.t().data_location() == ::onnx::TensorProto::EXTERNAL || !::onnx::TensorProto::DataType_IsValid(a.t().data_type()));
  });
}

// Nodes against their definitions, one by one.
class NodeChecker {
 public:
  template <class OpsetImports>
  NodeChecker(const Model& model, const OpsetImports& opset_imports, int opset) : model_(&model) {
    // A newer format of the file, not of its operators: what it added (newer element types, metadata) does not concern these checks.
    context_.set_ir_version(static_cast<int>(std::min<std::int64_t>(model.proto->ir_version(), ::onnx::IR_VERSION)));
    std::unordered_map<std::string, int> imports;
    for (const auto& import : opset_imports) imports[import.domain()] = static_cast<int>(import.version());
    imports[""] = opset;
    imports.emplace(kContribDomain, 1);
    context_.set_opset_imports(imports);
    context_.set_schema_registry(&definitions());
  }

  // A name that subgraphs may use; whether it is defined before its users, check_order and the walk itself look.
  void add_name(const std::string& name) { scope_.add(name); }

  void check(const NodeProto& node, Failure& failure) const {
    if (has_tensor_of_ours(node)) return;
    try {
      ::onnx::checker::check_node(node, context_, scope_);
    } catch (const std::exception& e) {
      failure.add(node_error(*model_, node, "ON031", checker_text(e.what())));
    }
  }

 private:
  const Model* model_;
  ::onnx::checker::CheckerContext context_;
  ::onnx::checker::LexicalScopeContext scope_;
};

void check_nodes(const Model& model, Failure& failure) {
  NodeChecker checker(model, model.proto->opset_import(), model.opset);
  for (const auto& [name, tensor] : model.initializers) checker.add_name(name);
  // Those that were refused, too: they have had their message, and nodes in branches name them.
  for (const auto& input : model.proto->graph().input()) checker.add_name(input.name());
  for (const auto& node : model.proto->graph().node())
    for (const auto& output : node.output()) checker.add_name(output);
  for (const auto& node : model.proto->graph().node())
    if (is_supported(model, node) && definition(node.domain(), node.op_type(), model.opset) != nullptr &&
        (node.domain() == kDefaultDomain || !has_function(model, node.domain(), node.op_type(), model.opset)))
      checker.check(node, failure);
}

void check_order(const Model& model, Failure& failure) {
  const auto& graph = model.proto->graph();
  std::set<std::string> known;
  std::unordered_map<std::string, const NodeProto*> producers;
  for (const auto& [name, tensor] : model.initializers) known.insert(name);
  for (const auto& input : model.inputs)
    if (input.name.empty() || !known.insert(input.name).second)
      failure.add(model.error(
          "ON032", input.name.empty() ? "has an input without a name" : cat("has two inputs or weights named '", input.name, "'")));
  // Inputs that were refused have had their message; their readers need none.
  for (const auto& input : graph.input()) known.insert(input.name());
  for (const auto& node : graph.node())
    for (const auto& output : node.output())
      if (!output.empty() && !producers.emplace(output, &node).second)
        failure.add(
            node_error(model, node, "ON032", cat("computes '", output, "', which node '", producers[output]->name(), "' computes too")));
  for (const auto& node : graph.node()) {
    for (const auto& input : node.input()) {
      if (input.empty() || known.count(input) != 0) continue;
      auto later = producers.find(input);
      failure.add(node_error(model, node, "ON033",
                             later == producers.end()
                                 ? cat("its input '", input, "' is neither computed by a node nor an input of the model")
                                 : cat("its input '", input, "' is computed by '", later->second->name(),
                                       "'; both belong to a cycle of nodes, or depend on one")));
    }
    for (const auto& output : node.output()) known.insert(output);
  }
  if (graph.output_size() == 0) failure.add(model.error("ON034", "the model has no output"));
  for (const auto& output : graph.output())
    if (known.count(output.name()) == 0 || output.name().empty())
      failure.add(model.error("ON034", cat("output '", output.name(), "' is computed by no node")));
}

}  // namespace

Result<void> check_function(const Model& model, const ::onnx::FunctionProto& function, int opset) {
  NodeChecker checker(model, function.opset_import(), opset);
  for (const auto& input : function.input()) checker.add_name(input);
  for (const auto& node : function.node())
    for (const auto& output : node.output()) checker.add_name(output);
  Failure failure;
  for (const auto& node : function.node())
    if (node.domain() == kDefaultDomain && definition(node.domain(), node.op_type(), opset) != nullptr) checker.check(node, failure);
  if (!failure.empty()) return failure;
  return success();
}

Result<void> check_model(const Model& model) {
  BUDA_TRY(check_versions(model));
  Failure failure;
  check_operators(model, failure);
  check_nodes(model, failure);
  check_order(model, failure);
  if (!failure.empty()) return failure;
  return success();
}

}  // namespace buda::onnx_frontend
