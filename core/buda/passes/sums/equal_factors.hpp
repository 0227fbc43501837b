// SPDX-License-Identifier: Apache-2.0
// Sums whose terms have a common factor: sums and means along rows or columns.
#pragma once

#include <buda/graph/graph.hpp>

#include <cstdint>
#include <optional>
#include <utility>

namespace buda::passes {

// A product with a constant whose numbers are all the same, where it has any: of the first `terms` numbers along c of operand 0, or along r
// of operand 1.
struct EqualFactors {
  bool along_c = true;
  float factor = 1;
  std::int64_t terms = 0;
};

std::optional<EqualFactors> equal_factors(const graph::Graph& graph, const graph::Node& n);

// Two numbers with the factor as their product: the first of the bits that one phase reads, so that the long sums round once a step; the
// second such that it loses least when it is cut to 8 bits.
std::pair<float, float> two_factors(float factor);

// A column of the result is a sum of a few, and so on (split_sums.cpp). The product must have equal factors.
void split_equal_factors(graph::Graph& graph, graph::NodeId id);

}  // namespace buda::passes
