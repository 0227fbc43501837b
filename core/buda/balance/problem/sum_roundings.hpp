// SPDX-License-Identifier: Apache-2.0
// How often the ops of a problem round their sums, as the optimizer counted it.
#pragma once

#include <buda/balance/problem/problem.hpp>
#include <buda/graph/graph.hpp>

namespace buda::balance {

// Copies the counts of the graph's tags (graph/sum_roundings.hpp) to the ops, where the device has Float32 for their sums.
void note_roundings(const graph::Graph& graph, Problem& problem);

}  // namespace buda::balance
