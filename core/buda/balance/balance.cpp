// SPDX-License-Identifier: Apache-2.0
// The steps of balancing in their order.
#include <buda/balance/balance.hpp>

#include <buda/balance/chips/given_chips.hpp>
#include <buda/balance/plan/choose.hpp>
#include <buda/balance/plan/direct_epochs.hpp>
#include <buda/balance/plan/hints.hpp>
#include <buda/balance/plan/several_chips.hpp>
#include <buda/balance/problem/constraints.hpp>
#include <buda/balance/problem/segment_order.hpp>
#include <buda/base/text.hpp>

#include <map>
#include <utility>
#include <vector>

namespace buda::balance {
namespace {

// With more effort, ops are placed in another order as well, with this one.
constexpr std::int32_t kUsualEffort = 1;
// Choices after a first one whose stream programs did not fit, or which cannot be used.
constexpr int kMaxOtherChoices = 16;

// Execution order, segment by segment, with the order constraints of the user.
Result<std::vector<graph::NodeId>> make_schedule(const graph::Graph& graph, SchedulePolicy policy) {
  BUDA_ASSIGN(auto waits_for, ops_to_wait_for(graph));
  std::vector<graph::NodeId> order = schedule(graph, policy, waits_for);
  order_by_segment(graph, order);
  BUDA_TRY(check_orders(graph, order, waits_for));
  return order;
}

// A plan, and what the caller finds in its netlist.
struct Attempt {
  Result<GraphPlan> planned;
  std::optional<Diagnostic> refusal = {};

  bool is_usable() const { return planned.ok() && !refusal; }
  Failure why_not() const { return refusal ? Failure(*refusal) : planned.failure(); }
};

Attempt check_plan(Result<GraphPlan> planned, const PlanContext& context) {
  Attempt out{std::move(planned)};
  if (!out.planned.ok() || !context.settings.find_refusal) return out;
  context.host.progress("looking for deadlocks", 0, 0);
  out.refusal = context.settings.find_refusal(out.planned->plan.built.netlist);
  return out;
}

// The plan, and a warning of what was found in it: values do not depend on a deadlock.
Result<GraphPlan> with_warning(Attempt attempt, const PlanContext& context) {
  if (attempt.refusal) {
    attempt.refusal->severity = Severity::warning;
    context.host.report(std::move(*attempt.refusal));
  }
  return std::move(attempt.planned);
}

Result<GraphPlan> plan_of(const graph::Graph& graph, const std::vector<graph::NodeId>& order, const device::DeviceDescriptor& device,
                          const PlanContext& context) {
  BUDA_ASSIGN(Problem problem, problem_of(graph, order, device, context.settings));
  BUDA_ASSIGN(const auto given, given_chips(graph, problem, context.settings.overrides));
  if (!given.empty()) return with_warning(check_plan(plan_on_given_chips(graph, order, given, device, context), context), context);
  BUDA_ASSIGN(ChosenPlan chosen, choose_plan(&graph, std::move(problem), context));
  Attempt first = check_plan(plan_in_stages(graph, order, chosen, context), context);
  if (first.is_usable()) return std::move(first.planned);
  Failure why = first.why_not();
  for (int others = 0; others < kMaxOtherChoices; ++others) {
    auto other = choose_other(chosen, why, context);
    if (!other) break;
    chosen = std::move(*other);
    Attempt next = check_plan(plan_in_stages(graph, order, chosen, context), context);
    if (next.is_usable()) return std::move(next.planned);
    why = next.why_not();
  }
  return with_warning(std::move(first), context);
}

// A plan of the normalized graph, in an order.
Result<Balanced> balance_in(SchedulePolicy schedule, const std::vector<graph::NodeId>& order, graph::Graph graph,
                            const device::DeviceDescriptor& device, const PlanContext& context) {
  auto planned = plan_of(graph, order, device, context);
  if (planned) return Balanced{std::move(planned->plan), schedule, planned->graph ? std::move(*planned->graph) : std::move(graph)};
  const auto fits = [&](const Settings& other) {
    return plan_of(graph, order, device, {context.policy, context.policy_name, other, context.host}).ok();
  };
  return with_hints(std::move(planned).failure(), context.settings, fits);
}

}  // namespace

Result<Balanced> balance(graph::Graph graph, const device::DeviceDescriptor& device, Policy& policy, const std::string& policy_name,
                         const BalanceOptions& options, Host& host) {
  BUDA_ASSIGN(const Settings settings, settings_for(options, device, host));
  for (const std::string& name : normalize(graph))
    host.report(warning("BL040", graph.node(graph.find(name)).loc,
                        cat("input '", name, "' is not used by any output; nothing will be pushed for it")));
  const SchedulePolicy first = options.schedule.value_or(SchedulePolicy::module_inputs_bfs);
  const PlanContext context{policy, policy_name, settings, host};
  BUDA_ASSIGN(const std::vector<graph::NodeId> order, make_schedule(graph, first));
  if (options.schedule || options.effort <= kUsualEffort) return balance_in(first, order, std::move(graph), device, context);
  BUDA_ASSIGN(const std::vector<graph::NodeId> other, make_schedule(graph, SchedulePolicy::topological));
  BUDA_ASSIGN(Balanced out, balance_in(first, order, graph, device, context));
  if (other == order) return out;
  // What it warns of has been reported.
  CollectingSink discarded;
  Host silent(host.fs(), discarded);
  silent.threads = host.threads;
  silent.seed = host.seed;
  silent.share_dir = host.share_dir;
  Settings usual = settings;
  usual.effort = kUsualEffort;
  auto plan = balance_in(SchedulePolicy::topological, other, std::move(graph), device, {policy, policy_name, usual, silent});
  if (!plan || plan->report.totals.cycles >= out.report.totals.cycles) return out;
  host.log(1, "ops are placed in topological order, in which the plan is faster");
  return std::move(*plan);
}

Result<Balanced> balance(Problem problem, Policy& policy, const std::string& policy_name, const BalanceOptions& options, Host& host) {
  BUDA_ASSIGN(const Settings settings, settings_for(options, *problem.device, host));
  const PlanContext context{policy, policy_name, settings, host};
  BUDA_ASSIGN(const ChosenPlan chosen, choose_plan(nullptr, std::move(problem), context));
  BUDA_ASSIGN(Plan plan, build_plan_of(chosen, context));
  return Balanced{std::move(plan), {}, graph::Graph()};
}

}  // namespace buda::balance
