// SPDX-License-Identifier: Apache-2.0
// The policy chooses from all legal models; then ops that have time to spare get wider sums.
#include <buda/balance/plan/choose.hpp>

#include <buda/balance/chips/chips_of_choice.hpp>
#include <buda/balance/emit/report_bounds.hpp>
#include <buda/balance/legalize/make_space.hpp>
#include <buda/balance/plan/estimate.hpp>
#include <buda/balance/policy/check_choice.hpp>
#include <buda/balance/policy/policy.hpp>
#include <buda/balance/problem/l1_accumulation.hpp>
#include <buda/balance/sums/wider_sums.hpp>
#include <buda/base/text.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>

namespace buda::balance {
namespace {

// Of so many ops both kinds of estimates are searched by, at most.
constexpr std::size_t kMaxSearchedTwice = 128;

// What the policy chooses, checked. `changes`: of the estimate.
Result<Choice> choose(const ChoiceSpace& space, const PlanContext& plan, Estimator::Estimate estimate,
                      EpochChanges changes = EpochChanges::waited_for) {
  const std::string& name = plan.policy_name;
  const Estimator estimator(std::move(estimate), [&] { return lower_bound_of(space, plan.settings.queues, changes); });
  auto chosen = plan.policy.choose(Placement(space), estimator);
  if (!chosen) {
    for (Diagnostic& d : chosen.failure().diagnostics())
      if (d.code == kIllegalChoice) d.message = cat("policy '", name, "' ", d.message);
    return chosen;
  }
  Choice choice = std::move(*chosen);
  auto findings = check_choice(space, choice);
  if (findings.empty()) return choice;
  for (Diagnostic& d : findings) {
    d.code = kIllegalChoice;
    d.fault = Fault::bug;
    d.message = cat("policy '", name, "' made an illegal choice: ", d.message);
  }
  return Failure(std::move(findings));
}

// The plan with sums in Float32 where that costs next to nothing.
ChosenPlan with_widened_sums(ChosenPlan plan, const PlanContext& context) {
  Host& host = context.host;
  host.progress("widening sums", 0, 0);
  const EstimateOf estimate = [&](const Problem& problem, const Choice& choice) {
    return estimated_cycles(problem, choice, EpochChanges::waited_for, context.settings, host);
  };
  const Choose choose_again = [&](const ChoiceSpace& other) -> std::optional<Choice> {
    auto chosen = choose(other, context, [&](const Choice& choice) { return estimate(*other.problem, choice); });
    return chosen ? std::optional(std::move(*chosen)) : std::nullopt;
  };
  auto widened = with_wider_sums(plan.space, plan.choice, estimate, choose_again, host.threads);
  if (!widened) return plan;
  const auto is_wide = [](const OpSpec& op) { return op.sum_roundings > 0 && op.op.acc_format == DataFormat::float32; };
  host.log(1, cat("ops that add up in Float32 since that costs next to nothing: ",
                  std::count_if(widened->problem->ops.begin(), widened->problem->ops.end(), is_wide)));
  plan.space.problem = std::move(widened->problem);
  plan.choice = std::move(widened->choice);
  return plan;
}

Result<ChoiceSpace> space_of(const graph::Graph* graph, Problem problem, const PlanContext& context) {
  const Settings& settings = context.settings;
  ModelOptions models = settings.models;
  models.inputs_per_epoch = problem.microbatch;
  models.stream_all = context.policy.streams_all();
  const CanBuild can_build = [&](const ChoiceSpace& space) {
    const auto choice = choose(space, context, {});
    return choice.ok() && build(*space.problem, *choice, settings, context.host).ok();
  };
  context.host.progress("enumerating implementations", 0, 0);
  BUDA_ASSIGN(ChoiceSpace space,
              make_space(graph, std::move(problem), {models, settings.overrides, settings.self_cut, settings.hosts_misfits}, can_build,
                         context.host));
  space.effort = settings.effort;
  return space;
}

// The problem with what the options say of it.
Result<Problem> with_options(Problem problem, const graph::Graph* graph, const Settings& settings) {
  problem.dynamic_queues = settings.dynamic_queues;
  BUDA_ASSIGN(problem.chips, chips_in_order(settings.chips, *problem.device));
  if (graph == nullptr && problem.chips.size() > 1)
    return usage_error("BL050",
                       "the ops of a netlist are placed on one chip: --from-netlist goes with neither --num-chips nor several --chip-ids");
  if (settings.models.l1_accumulate) allow_l1_accumulation(problem);
  return problem;
}

// What the report would say of the whole plan; nothing where there is no such netlist.
std::optional<std::int64_t> cycles_of(const ChoiceSpace& space, const Choice& choice, const PlanContext& context) {
  const auto report = report_of_choice(*space.problem, choice, context.settings, context.host);
  return report ? std::optional(report->totals.cycles) : std::nullopt;
}

// The better one of what the policy chooses by estimates that wait for each change of epochs, as a search of single epochs has to see them,
// and by those of whole plans.
Result<Choice> choose_by_both(const ChoiceSpace& space, const PlanContext& context) {
  Host& host = context.host;
  // Policies estimate side by side.
  std::mutex telling;
  std::size_t estimates = 0;
  const auto by = [&](EpochChanges changes) {
    const auto estimate = [&, changes](const Choice& choice) {
      auto cycles = estimated_cycles(*space.problem, choice, changes, context.settings, host);
      const std::lock_guard lock(telling);
      host.progress("comparing placements", ++estimates, 0);
      return cycles;
    };
    return choose(space, context, estimate, changes);
  };
  BUDA_ASSIGN(Choice choice, by(EpochChanges::waited_for));
  // A policy that has not asked for estimates would choose the same.
  if (estimates == 0 || choice.epochs() < 2 || choice.ops.size() > kMaxSearchedTwice || space.effort == 0) return choice;
  auto other = by(EpochChanges::hidden);
  const auto cycles = cycles_of(space, choice, context), of_other = other.ok() ? cycles_of(space, *other, context) : std::nullopt;
  return of_other && (!cycles || *of_other < *cycles) ? std::move(*other) : std::move(choice);
}

Result<ChosenPlan> chosen_from(ChoiceSpace space, const PlanContext& context) {
  context.host.progress("placing", 0, 0);
  BUDA_ASSIGN(Choice choice, choose_by_both(space, context));
  ChosenPlan out{std::move(space), std::move(choice)};
  if (context.settings.wide_sums) out = with_widened_sums(std::move(out), context);
  out.choice.chips = chips_of_ops(out.problem(), out.choice);
  return out;
}

// Whether stream programs of the op were found not to fit, or no plan with it as it is can be used.
bool names(const Failure& why, const std::string& op) {
  return std::any_of(why.diagnostics().begin(), why.diagnostics().end(), [&](const Diagnostic& d) {
    return d.fault == Fault::fit && (d.code.starts_with("OV") || d.code.starts_with("LV")) && d.node == op;
  });
}

// Leaves out the models on the cores of the one that was taken, which have as many phases, if others remain.
bool remove_models_like(const OpModel& taken, std::vector<OpModel>& models) {
  std::vector<OpModel> others;
  std::copy_if(models.begin(), models.end(), std::back_inserter(others),
               [&](const OpModel& m) { return m.grid != taken.grid || m.stream != taken.stream; });
  if (others.empty() || others.size() == models.size()) return false;
  models = std::move(others);
  return true;
}

}  // namespace

Result<ChosenPlan> choose_plan(const graph::Graph* graph, Problem given, const PlanContext& context) {
  BUDA_ASSIGN(Problem problem, with_options(std::move(given), graph, context.settings));
  BUDA_ASSIGN(ChoiceSpace space, space_of(graph, std::move(problem), context));
  return chosen_from(std::move(space), context);
}

std::optional<ChosenPlan> choose_other(const ChosenPlan& failed, const Failure& why, const PlanContext& context) {
  ChoiceSpace space = failed.space;
  const Problem& problem = failed.problem();
  const auto remove_taken = [&](OpId op) {
    return remove_models_like(failed.choice.ops[op.index()].model, space.models[op.index()].models);
  };
  bool has_changed = false;
  for (std::size_t i = 0; i < space.models.size(); ++i) {
    if (!names(why, problem.ops[i].op.name)) continue;
    if (remove_taken(OpId(static_cast<OpId::rep>(i)))) {
      has_changed = true;
      continue;
    }
    // The phases of an edge follow from both of its ends.
    for (const Operand& operand : problem.ops[i].operands)
      if (operand.from.op.valid() && remove_taken(operand.from.op)) has_changed = true;
    for (const OpUse& use : problem.ops[i].users)
      if (remove_taken(use.op)) has_changed = true;
  }
  if (!has_changed) return std::nullopt;
  space.kinds.clear();  // what was alike may not be any more
  auto chosen = chosen_from(std::move(space), context);
  return chosen ? std::optional(std::move(*chosen)) : std::nullopt;
}

}  // namespace buda::balance
