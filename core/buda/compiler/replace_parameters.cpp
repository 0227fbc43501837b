// SPDX-License-Identifier: Apache-2.0
// By name.
#include <buda/compiler/replace_parameters.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/tensor/tensor.hpp>

#include <utility>
#include <vector>

namespace buda::compiler {

Result<std::size_t> replace_parameters(graph::Graph& graph, const NamedTensors& values, const std::string& file) {
  std::vector<std::string> names;
  for (graph::NodeId id : graph.ids())
    if (graph.node(id).kind() == graph::NodeKind::parameter) names.push_back(graph.node(id).name());
  Failure failure;
  std::vector<std::pair<graph::NodeId, const Tensor*>> found;
  for (const auto& [name, tensor] : values) {
    if (name.starts_with('#')) continue;
    const graph::NodeId id = graph.find(name);
    if (!id.valid() || graph.node(id).kind() != graph::NodeKind::parameter) {
      Diagnostic d = input_error("IP008", {file}, cat("option --parameters: the model has no parameter '", name, "'"));
      if (auto near = nearest_word(name, names)) d.hint = cat("did you mean '", *near, "'?");
      failure.add(std::move(d));
    } else if (const graph::ValueType& type = graph.node(id).outputs[0];
               type.shape != tensor.shape() || is_float(type.dtype) != is_float(tensor.dtype())) {
      failure.add(
          input_error("IP008", {file}, cat("option --parameters: '", name, "' is ", tensor.describe(), ", the model's is ", type.text())));
    } else {
      found.emplace_back(id, &tensor);
    }
  }
  if (!failure.empty()) return failure;
  for (const auto& [id, tensor] : found) graph.node(id).value = graph::Value(tensor->cast(graph.node(id).outputs[0].dtype));
  return found.size();
}

}  // namespace buda::compiler
