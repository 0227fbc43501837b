// SPDX-License-Identifier: Apache-2.0
// What the tags of ops (graph/constraint_tags.hpp) ask of the schedule: orders that it keeps, and where epochs begin.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/graph/node_id.hpp>

#include <vector>

namespace buda::balance {

// For each op, by node id, the ops that orders put before it; empty when the graph has no orders. An op never precedes itself: where
// several ops of the model became one, an order between them is kept by that. O(pairs of ops at neighbouring places).
Result<std::vector<std::vector<graph::NodeId>>> ops_to_wait_for(const graph::Graph& graph);

// An error (BL041) for each order that the schedule could not keep, or only against the flow of data.
Result<void> check_orders(const graph::Graph& graph, const std::vector<graph::NodeId>& schedule,
                          const std::vector<std::vector<graph::NodeId>>& waits_for);

// Of the ops of each break constraint with this tag the one that is scheduled first.
std::vector<graph::NodeId> first_of_breaks(const graph::Graph& graph, const std::vector<graph::NodeId>& schedule, std::string_view tag);

}  // namespace buda::balance
