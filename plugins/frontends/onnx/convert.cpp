// SPDX-License-Identifier: Apache-2.0
// Conversion to a newer operator set, by libonnx.
//
// Most operators are read in all their definitions of opsets 7 to 21, because what changed was the list of types or the place of one
// argument, and because the converter refuses a whole model when it lacks one step for one node. For the others the table names the oldest
// definition that is read (OpImporter::since), and a model that uses an older one is converted as a whole: not to a fixed opset but to the
// first one that suffices, since the converter changes more than it must (its softmax of opset 13, for one, becomes three nodes) and drops
// names on the way.
//
// The converter copies every tensor several times, so it sees the weights as inputs; only tensors small enough to be shapes or axes, which
// shape inference looks into and some conversions need, stay with the model.
#include "definitions.hpp"
#include "function.hpp"
#include "model.hpp"
#include "op_table.hpp"
#include "tensor_reader.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <onnx/defs/schema.h>
#include <onnx/shape_inference/implementation.h>
#include <onnx/version_converter/convert.h>

#include <algorithm>
#include <optional>
#include <set>

namespace buda::onnx_frontend {
namespace {

using ::onnx::ModelProto;

// Where libonnx's converter ends. All newer definitions are read as they are.
constexpr int kNewestConvertible = 17;
constexpr std::size_t kSmallTensor = 64;  // elements; more than any tensor has axes

// Is the definition that the node has at this opset one that is read?
bool is_read_at(const Model& model, const ::onnx::NodeProto& node, int opset) {
  if (has_function(model, node.domain(), node.op_type(), opset)) return true;
  const OpImporter* importer = find_importer(node.domain(), node.op_type());
  const auto* schema = definition(node.domain(), node.op_type(), opset);
  return importer != nullptr && schema != nullptr && !schema->deprecated() && schema->since_version() >= importer->since;
}

// The first opset at which all nodes are, or a node that none suits.
std::optional<int> sufficient_opset(const Model& model, const ::onnx::NodeProto** culprit) {
  for (int opset = model.opset; opset <= std::max(model.opset, kNewestConvertible); ++opset) {
    bool all = true;
    for (const auto& node : model.proto->graph().node()) {
      if (is_read_at(model, node, opset)) continue;
      all = false;
      *culprit = &node;
      break;
    }
    if (all) return opset;
  }
  return std::nullopt;
}

void add_small_tensor(::onnx::GraphProto& graph, const std::string& name, const Tensor& tensor) {
  auto& out = *graph.add_initializer();
  out.set_name(name);
  out.set_data_type(onnx_type_of(tensor.dtype()));
  for (auto size : tensor.shape()) out.add_dims(size);
  out.set_raw_data(std::string(tensor.bytes()));
}

// The model as the converter is to see it.
ModelProto with_weights_as_inputs(const Model& model) {
  ModelProto out = *model.proto;
  auto& graph = *out.mutable_graph();
  std::set<std::string> listed;
  for (const auto& input : graph.input()) listed.insert(input.name());
  for (const auto& [name, tensor] : model.initializers) {
    if (tensor.size() <= kSmallTensor) add_small_tensor(graph, name, tensor);
    if (listed.count(name) != 0) continue;
    auto& input = *graph.add_input();
    input.set_name(name);
    auto& type = *input.mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx_type_of(tensor.dtype()));
    type.mutable_shape();
    for (auto size : tensor.shape()) type.mutable_shape()->add_dim()->set_dim_value(size);
  }
  return out;
}

// Takes over the converted nodes, and the constants that the conversion made of attributes.
Result<void> take_over(Model& model, ModelProto converted, int opset, Host& host) {
  auto& graph = *converted.mutable_graph();
  TensorReader reader(model.path, host.fs());
  for (const auto& tensor : graph.initializer()) {
    if (model.initializers.find(tensor.name()) != model.initializers.end()) continue;
    BUDA_ASSIGN(auto read, reader.read(tensor));
    model.initializers.emplace(tensor.name(), std::move(read));
  }
  graph.clear_initializer();
  model.proto->mutable_graph()->mutable_node()->Swap(graph.mutable_node());
  model.opset = opset;
  for (auto& import : *model.proto->mutable_opset_import())
    if (import.domain() == kDefaultDomain) import.set_version(opset);
  name_nodes(model);
  return success();
}

}  // namespace

Result<void> convert_model(Model& model, Host& host) {
  const ::onnx::NodeProto* culprit = nullptr;
  auto opset = sufficient_opset(model, &culprit);
  if (!opset) {
    Diagnostic d =
        node_error(model, *culprit, "ON035", "this old definition of the operator is not supported, and no opset suits all nodes");
    d.hint = "export the model with opset 13";
    return d;
  }
  if (*opset == model.opset) return success();
  host.log(1, cat(model.file, ": converting from opset ", model.opset, " to ", *opset, " for node '", culprit->name(), "' (",
                  culprit->op_type(), ')'));
  try {
    ModelProto prepared = with_weights_as_inputs(model);
    ::onnx::shape_inference::InferShapes(prepared);
    BUDA_TRY(take_over(model, ::onnx::version_conversion::ConvertVersion(prepared, *opset), *opset, host));
  } catch (const std::exception& e) {
    Diagnostic d = node_error(model, *culprit, "ON035",
                              cat("needs opset ", *opset, ", and libonnx cannot convert the model from opset ", model.opset));
    d.notes.push_back({{}, cat("libonnx: ", e.what())});
    d.hint = cat("export the model with opset ", *opset, " or later, up to ", kNewestOpset);
    return d;
  }
  return check_model(model);
}

}  // namespace buda::onnx_frontend
