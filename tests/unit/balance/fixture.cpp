// SPDX-License-Identifier: Apache-2.0
// Sources of device graphs that have values.
#include "unit/balance/fixture.hpp"

#include <buda/graph/values/value.hpp>

#include <optional>
#include <utility>

namespace buda::balance {

graph::NodeId DeviceGraph::parameter(const std::string& name, Shape shape, DataFormat format, std::string op) {
  auto id = source(op, name, shape, format);
  if (with_values) graph.node(id).value = graph::Value(Tensor::zeros(DType::f32, shape).value());
  return id;
}

graph::NodeId DeviceGraph::constant(const std::string& name, Tensor value) {
  auto id = graph.add(name, "constant");
  Shape padded = value.shape();
  for (std::size_t axis : {2, 3}) padded[axis] = (padded[axis] + 31) / 32 * 32;
  graph.node(id).outputs = {{value.dtype(), padded, std::nullopt}};
  graph.node(id).value = graph::Value(std::move(value));
  return id;
}

}  // namespace buda::balance
