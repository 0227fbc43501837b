// SPDX-License-Identifier: Apache-2.0
// Finding the product with a huge number.
#include <buda/passes/precision/amplified.hpp>

#include <buda/passes/simplify/constant_value.hpp>

#include <algorithm>
#include <cmath>

namespace buda::passes {

bool amplifies(const graph::Graph& graph, const graph::Node& n) {
  if (n.op() != "multiply") return false;
  return std::any_of(n.inputs().begin(), n.inputs().end(), [&](const graph::Edge& edge) {
    const auto factor = uniform_value(graph, edge);
    return factor && std::abs(*factor) * kSteep >= 1;
  });
}

}  // namespace buda::passes
