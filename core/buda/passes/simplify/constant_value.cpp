// SPDX-License-Identifier: Apache-2.0
// Looking at the tensors of parameters and constants.
#include <buda/passes/simplify/constant_value.hpp>

#include <buda/graph/values/value.hpp>
#include <buda/tensor/formats/visit.hpp>

namespace buda::passes {

const Tensor* value_of(const graph::Graph& graph, const graph::Edge& edge) {
  const graph::Node& n = graph.node(edge.source.node);
  return n.has_value() && n.value ? &n.value->tensor : nullptr;
}

std::optional<double> uniform_element(const Tensor& tensor) {
  if (tensor.size() == 0) return std::nullopt;
  return visit_dtype(tensor.dtype(), [&](auto tag) -> std::optional<double> {
    using T = typename decltype(tag)::type;
    auto elements = tensor.as<T>();
    for (const T& e : elements)
      if (!(e == elements[0])) return std::nullopt;  // NaN differs from itself
    return Tensor::scalar(elements[0]).cast(DType::f64).template as<double>()[0];
  });
}

std::optional<double> uniform_value(const graph::Graph& graph, const graph::Edge& edge) {
  const Tensor* tensor = value_of(graph, edge);
  return tensor == nullptr ? std::nullopt : uniform_element(*tensor);
}

}  // namespace buda::passes
