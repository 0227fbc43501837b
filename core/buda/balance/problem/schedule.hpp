// SPDX-License-Identifier: Apache-2.0
// The order in which ops are placed and, epoch by epoch, executed.
#pragma once

#include <buda/graph/fwd.hpp>
#include <buda/graph/node_id.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::balance {

enum class SchedulePolicy {
  module_inputs_bfs,  // breadth first from the model's inputs; what an op needs besides comes right before it
  topological,        // by node id among those that are ready
};

// What options call them, after the name for BalanceOptions::schedule that is not set.
inline constexpr std::string_view kScheduleNames[] = {"auto", "ModuleInputsBFS", "Topological"};
inline std::string_view name_of(SchedulePolicy policy) { return kScheduleNames[static_cast<std::size_t>(policy) + 1]; }

// All op nodes, each after its producers, and after the ops that `waits_for` names for it (by node id; empty: none) unless these need its
// result. O((n + e) log n).
std::vector<graph::NodeId> schedule(const graph::Graph& graph, SchedulePolicy policy,
                                    const std::vector<std::vector<graph::NodeId>>& waits_for = {});

}  // namespace buda::balance

#pragma GCC visibility pop
