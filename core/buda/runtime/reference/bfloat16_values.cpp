// SPDX-License-Identifier: Apache-2.0
// Rounding what enters a graph and what its ops make.
#include <buda/runtime/reference/bfloat16_values.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/tensor/tensor.hpp>

namespace buda::runtime {

Tensor rounded_to_bfloat16(const Tensor& tensor) {
  if (!is_float(tensor.dtype()) || tensor.dtype() == DType::bf16) return tensor;
  return tensor.cast(DType::bf16).cast(tensor.dtype());
}

void round_to_bfloat16(NamedTensors& tensors) {
  for (auto& [name, tensor] : tensors) tensor = rounded_to_bfloat16(tensor);
}

Result<void> round_weights_to_bfloat16(graph::Graph& graph) {
  if (graph.level == graph::Level::device) {
    Diagnostic d = input_error("OP062", {}, cat("graph '", graph.name, "' is at device level, where integers are stored as F32, too"));
    d.hint = "--formats exact evaluates it in its own formats; --formats bfloat16 is for the graph before lowering";
    return d;
  }
  for (graph::NodeId id : graph.ids()) {
    graph::Node& node = graph.node(id);
    if (node.value && is_float(node.value->tensor.dtype())) node.value = graph::Value(rounded_to_bfloat16(node.value->tensor));
  }
  return success();
}

void round_results_to_bfloat16(ops::EvaluateOptions& options) {
  options.disturb = [](const graph::Node&, std::span<Tensor> results) {
    for (Tensor& result : results) result = rounded_to_bfloat16(result);
  };
}

}  // namespace buda::runtime
