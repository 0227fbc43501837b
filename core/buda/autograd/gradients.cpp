// SPDX-License-Identifier: Apache-2.0
// One seed of ones.
#include <buda/autograd/gradients.hpp>

#include <buda/autograd/differentiate.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/tensor/tensor.hpp>

#include <string>

namespace buda::autograd {
namespace {

graph::ValueRef filled(graph::Graph& graph, const std::string& name, const graph::ValueType& type, double value) {
  const graph::NodeId id = graph.add(graph.fresh_name(name), std::string(graph::kConstantOp));
  const auto count = static_cast<std::size_t>(type.shape.volume().value_or(0));
  graph.node(id).outputs = {type};
  graph.node(id).value = graph::Value(Tensor(type.shape, std::vector<double>(count, value)).cast(type.dtype));
  return id;
}

}  // namespace

Result<std::vector<graph::ValueRef>> gradients_of(graph::Graph& graph, graph::ValueRef y, const std::vector<graph::ValueRef>& wanted) {
  const std::string name = graph.node(y.node).name();
  const Seed seed{y, filled(graph, cat("grad.", name), *graph.type(y), 1)};
  BUDA_ASSIGN(std::vector<graph::ValueRef> out, differentiate(graph, {&seed, 1}, wanted));
  for (std::size_t i = 0; i < out.size(); ++i)
    if (!out[i].valid()) out[i] = filled(graph, cat("grad.", graph.node(wanted[i].node).name()), *graph.type(wanted[i]), 0);
  return out;
}

}  // namespace buda::autograd
