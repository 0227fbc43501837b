// SPDX-License-Identifier: Apache-2.0
// How the ops of a problem round their sums: how often, as the optimizer counted it, and in which blocks, as it chose.
#pragma once

#include <buda/balance/problem/problem.hpp>
#include <buda/graph/graph.hpp>

namespace buda::balance {

// Copies the counts of the graph's tags (graph/values/sum_roundings.hpp) to the ops, where the device has Float32 for their sums, and the
// blocks (graph/tags/sum_blocks.hpp) where it has not.
void note_roundings(const graph::Graph& graph, Problem& problem);

}  // namespace buda::balance
