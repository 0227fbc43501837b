// SPDX-License-Identifier: Apache-2.0
// Models on several chips: where their epochs are cut into stages, or what runs on chips that the user gives.
#pragma once

#include <buda/balance/plan/choose.hpp>
#include <buda/balance/plan/plan.hpp>
#include <buda/diag/result.hpp>
#include <buda/graph/graph.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace buda::balance {

// A plan, and the graph of its ops where that has got copies of values that are sent between chips.
struct GraphPlan {
  Plan plan;
  std::optional<graph::Graph> graph;
};

// Ops run on the chips that the user gives them, and the others where what they take comes from. `order`: of the ops of the graph.
Result<GraphPlan> plan_on_given_chips(const graph::Graph& graph, const std::vector<graph::NodeId>& order,
                                      const std::map<graph::NodeId, std::int32_t>& given, const device::DeviceDescriptor& device,
                                      const PlanContext& context);

// Distributes the epochs of a choice that was made for one chip, and chooses anew, stage by stage; the plan of the choice itself where
// further chips gain nothing.
Result<GraphPlan> plan_in_stages(const graph::Graph& graph, const std::vector<graph::NodeId>& order, const ChosenPlan& on_one_chip,
                                 const PlanContext& context);

// The problem of a graph in an order, with how often its ops round their sums.
Result<Problem> problem_of(const graph::Graph& graph, const std::vector<graph::NodeId>& order, const device::DeviceDescriptor& device,
                           const Settings& settings);

}  // namespace buda::balance
