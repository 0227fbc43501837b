// SPDX-License-Identifier: Apache-2.0
// Running products, by doubling the number of factors.
#include "running_product.hpp"

namespace buda::frontend {

graph::ValueRef running_product(OpImport& op, graph::ValueRef x, const Shape& shape, std::int64_t axis) {
  const auto at = static_cast<std::size_t>(axis);
  const std::int64_t size = shape[at];
  for (std::int64_t step = 1; step < size; step *= 2) {
    std::vector<std::int64_t> before(shape.rank(), 0);
    before[at] = step;
    graph::ValueRef begin = op.step("begin").slice(x, axis, 0, size - step);
    graph::ValueRef moved = op.step("moved").pad(begin, before, std::vector<std::int64_t>(shape.rank(), 0), 1);
    x = (step * 2 >= size ? op.result() : op.step("product")).multiply(x, moved);
  }
  return x;
}

}  // namespace buda::frontend
