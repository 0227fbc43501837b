// SPDX-License-Identifier: Apache-2.0
// The policy chooses twice: for one chip, which says where stages are to begin, and then stage by stage.
#include <buda/balance/plan/several_chips.hpp>

#include <buda/balance/chips/chips_of_choice.hpp>
#include <buda/balance/chips/forwarded_values.hpp>
#include <buda/balance/chips/given_chips.hpp>
#include <buda/balance/plan/direct_epochs.hpp>
#include <buda/balance/plan/estimate.hpp>
#include <buda/balance/problem/sum_roundings.hpp>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

namespace buda::balance {
namespace {

using graph::NodeId;

// The chips of the epochs of a choice for one chip; all the same where further ones gain nothing.
Result<EpochChips> stages_of_choice(const ChosenPlan& chosen, const PlanContext& context) {
  const Problem& problem = chosen.problem();
  if (problem.chips.size() == 1 || problem.ops.empty()) return chips_of_epochs(problem, chosen.choice);
  BUDA_ASSIGN(const PlacementReport report, report_of_choice(problem, chosen.choice, context.settings, context.host));
  StagedEpochs epochs = staged_epochs(problem, chosen.choice, times_of_epochs(report));
  if (epochs.is_sequential) return chips_of_epochs(problem, chosen.choice);
  epochs.change = problem.device->cost.transfers.epoch_start_cycles;
  return best_stages(epochs);
}

// By op: the stage of its epoch.
std::map<NodeId, OpStage> stages_of_ops(const EpochChips& chips, const ChosenPlan& chosen) {
  const Problem& problem = chosen.problem();
  const std::vector<std::int32_t> segments = segments_of_epochs(problem, chosen.choice);
  std::vector<std::int32_t> stage_of_epoch;
  for (std::size_t e = 0; e < chips.size(); ++e) {
    const bool begins_segment = e == 0 || segments[e] != segments[e - 1];
    stage_of_epoch.push_back(begins_segment ? 0 : stage_of_epoch.back() + (chips[e] != chips[e - 1] ? 1 : 0));
  }
  std::map<NodeId, OpStage> out;
  for (std::size_t i = 0; i < problem.ops.size(); ++i) {
    const auto epoch = static_cast<std::size_t>(chosen.choice.ops[i].epoch);
    out[problem.ops[i].node] = {segments[epoch], stage_of_epoch[epoch], false};
  }
  return out;
}

// By segment and stage.
std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> chips_of_stages(const EpochChips& chips, const ChosenPlan& chosen,
                                                                              const std::map<NodeId, OpStage>& stages) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> out;
  for (std::size_t i = 0; i < chosen.problem().ops.size(); ++i) {
    const OpStage& stage = stages.at(chosen.problem().ops[i].node);
    out[{stage.segment, stage.stage}] = chips[static_cast<std::size_t>(chosen.choice.ops[i].epoch)];
  }
  return out;
}

// The chips of the options, or as many as they say, and those that ops are given, in the order in which the model goes through them.
Result<Settings> with_given_chips(Settings settings, const std::map<NodeId, std::int32_t>& given, const device::DeviceDescriptor& device) {
  std::set<std::int64_t> used(settings.chips.ids.begin(), settings.chips.ids.end());
  if (settings.chips.ids.empty()) {
    BUDA_ASSIGN(const std::vector<std::int32_t> chips, chips_in_order(settings.chips, device));
    used.insert(chips.begin(), chips.end());
  }
  for (const auto& [op, chip] : given) used.insert(chip);
  settings.chips.ids.assign(used.begin(), used.end());
  return settings;
}

}  // namespace

Result<Problem> problem_of(const graph::Graph& graph, const std::vector<NodeId>& order, const device::DeviceDescriptor& device,
                           const Settings& settings) {
  BUDA_ASSIGN(Problem problem, make_problem(graph, order, device, settings.batches));
  note_roundings(graph, problem);
  return problem;
}

Result<GraphPlan> plan_on_given_chips(const graph::Graph& given_graph, const std::vector<NodeId>& given_order,
                                      const std::map<NodeId, std::int32_t>& given, const device::DeviceDescriptor& device,
                                      const PlanContext& context) {
  BUDA_ASSIGN(const Settings settings, with_given_chips(context.settings, given, device));
  const PlanContext on_chips{context.policy, context.policy_name, settings, context.host};
  BUDA_ASSIGN(const std::vector<std::int32_t> chips, chips_in_order(settings.chips, device));
  graph::Graph graph = given_graph;
  std::vector<NodeId> order = given_order;
  const std::map<NodeId, PlacedOnChip> placed = place_on_given_chips(graph, order, given, chips);
  BUDA_ASSIGN(Problem problem, problem_of(graph, order, device, settings));
  for (OpSpec& op : problem.ops) {
    const PlacedOnChip& place = placed.at(op.node);
    op.chip = chips[place.chip];
    op.copies = place.copies;
  }
  BUDA_ASSIGN(ChosenPlan chosen, choose_plan(&graph, std::move(problem), on_chips));
  alternate_chips(chosen.problem(), placed, chosen.choice);
  chosen.choice.chips = chips_of_ops(chosen.problem(), chosen.choice);
  BUDA_ASSIGN(Plan plan, build_plan_of(chosen, on_chips));
  return GraphPlan{std::move(plan), std::move(graph)};
}

Result<GraphPlan> plan_in_stages(const graph::Graph& given_graph, const std::vector<NodeId>& given_order, const ChosenPlan& on_one_chip,
                                 const PlanContext& context) {
  BUDA_ASSIGN(const EpochChips chips, stages_of_choice(on_one_chip, context));
  if (std::adjacent_find(chips.begin(), chips.end(), std::not_equal_to<>()) == chips.end()) {
    BUDA_ASSIGN(Plan plan, build_plan_of(on_one_chip, context));
    return GraphPlan{std::move(plan), std::nullopt};
  }
  std::map<NodeId, OpStage> stages = stages_of_ops(chips, on_one_chip);
  const auto chip_of_stage = chips_of_stages(chips, on_one_chip, stages);
  graph::Graph graph = given_graph;
  std::vector<NodeId> order = given_order;
  forward_values(graph, order, stages);
  BUDA_ASSIGN(Problem problem, problem_of(graph, order, *on_one_chip.problem().device, context.settings));
  for (OpSpec& op : problem.ops) {
    const OpStage& stage = stages.at(op.node);
    op.chip = chip_of_stage.at({stage.segment, stage.stage});
    op.copies = stage.copies;
  }
  BUDA_ASSIGN(const ChosenPlan chosen, choose_plan(&graph, std::move(problem), context));
  BUDA_ASSIGN(Plan plan, build_plan_of(chosen, context));
  return GraphPlan{std::move(plan), std::move(graph)};
}

}  // namespace buda::balance
