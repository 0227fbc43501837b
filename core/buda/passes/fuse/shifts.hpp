// SPDX-License-Identifier: Apache-2.0
// Sums and differences with a constant that are multiplied: x + 3 of a hard swish, x * clip(x + 3, 0, 6) / 6; 1 - z of a gate.
//
// The matrix unit and the packer round halves away from zero, and the sum of two numbers of 8 bits often ends in a half: what is added to a
// constant grows by 0.06 to 0.14 % on average, and by several percent from layer to layer. Where the sum stays in a destination register or
// a buffer of 32 bits it is not rounded at all, and the product, which has no halves, once.
#pragma once

#include <buda/graph/graph.hpp>

namespace buda::passes {

// Whether an op is such a sum, in the group of elementwise ops that ends with `root`.
bool is_multiplied_shift(const graph::Graph& graph, graph::NodeId id, graph::NodeId root);

// Whether a fused op has such a sum among its steps; false for other ops.
bool holds_multiplied_shift(const graph::Graph& graph, const graph::Node& op);

}  // namespace buda::passes
