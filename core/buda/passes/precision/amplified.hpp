// SPDX-License-Identifier: Apache-2.0
// Comparisons as decompositions write them: a number or a difference is limited, multiplied with a huge number, and limited again.
#pragma once

#include <buda/graph/graph.hpp>

namespace buda::passes {

// Of what limits less than this part of a range only the sign counts.
inline constexpr double kSteep = 0x1p-30;

// Whether a node multiplies with a number so large that only the sign of what it multiplies counts.
bool amplifies(const graph::Graph& graph, const graph::Node& n);

}  // namespace buda::passes
