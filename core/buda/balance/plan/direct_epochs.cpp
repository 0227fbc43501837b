// SPDX-License-Identifier: Apache-2.0
// Each trial is a whole plan: its netlist, its streams, its report.
#include <buda/balance/plan/direct_epochs.hpp>

#include <buda/balance/chips/crossings.hpp>
#include <buda/balance/emit/report_bounds.hpp>
#include <buda/balance/plan/estimate.hpp>
#include <buda/balance/queues/queue_places.hpp>
#include <buda/base/text.hpp>
#include <buda/cost/transfer_model.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace buda::balance {
namespace {

// What of a plan depends on which epochs are direct.
struct BuiltPlan {
  BuiltNetlist built;
  PlacementReport report;
};

Result<BuiltPlan> built_with(const DirectEpochs& direct, const ChosenPlan& chosen, const PlanContext& context) {
  std::vector<std::int64_t> candidates;
  for (const auto& models : chosen.space.models) candidates.push_back(static_cast<std::int64_t>(models.models.size()));
  BuiltPlan out;
  BUDA_ASSIGN(out.built, build(chosen.problem(), chosen.choice, context.settings, context.host, direct));
  out.report = make_report(chosen.problem(), chosen.choice, out.built, candidates, context.policy_name);
  return out;
}

// Why a plan with these epochs is worse than the best so far; nothing where it is not. The estimate knows the way from core to core, but
// not the latency of a queue-pointer update, one for each crossing.
std::optional<std::string> why_slower(const DirectEpochs& direct, const BuiltPlan& made, const BuiltPlan& best, double pointer_latency) {
  const std::int64_t more = made.report.totals.cycles - best.report.totals.cycles;
  if (static_cast<double>(more) <= pointer_latency * static_cast<double>(direct.size())) return std::nullopt;
  return cat("without them the plan takes ", more, " cycles more");
}

Result<BuiltPlan> with_best_epochs(const ChosenPlan& chosen, const PlanContext& context) {
  BUDA_ASSIGN(BuiltPlan best, built_with({}, chosen, context));
  const double pointer_latency = cost::TransferModel(*chosen.problem().device).parameters().latency_cycles;
  const DirectEpochs possible = possibly_direct(chosen.problem(), chosen.choice);
  if (possible.empty()) return best;
  // Puts such a plan in the place of the best one if it is as good; otherwise says why it is not.
  const auto try_direct = [&](const DirectEpochs& direct) -> std::optional<std::string> {
    auto made = built_with(direct, chosen, context);
    if (!made) return made.failure().diagnostics().front().message;
    if (auto why = why_slower(direct, *made, best, pointer_latency)) return why;
    best = std::move(*made);
    return std::nullopt;
  };
  DirectEpochs direct;
  std::map<std::int32_t, std::string> queued;
  if (!try_direct(possible)) {
    direct = possible;
  } else {
    for (std::int32_t epoch : possible) {
      direct.insert(epoch);
      const auto why = try_direct(direct);
      if (!why) continue;
      direct.erase(epoch);
      queued[epoch] = *why;
    }
  }
  for (std::int32_t epoch : direct) best.report.epochs[static_cast<std::size_t>(epoch)].between_chips = "direct";
  for (const auto& [epoch, why] : queued) best.report.epochs[static_cast<std::size_t>(epoch)].between_chips = cat("queues: ", why);
  return best;
}

}  // namespace

Result<Plan> build_plan_of(const ChosenPlan& chosen, const PlanContext& context) {
  context.host.progress("building the netlist", 0, 0);
  BUDA_ASSIGN(BuiltPlan best, with_best_epochs(chosen, context));
  BUDA_TRY(check_queue_places(best.built.queues, context.settings.queues.places));
  Plan out{chosen.problem(), chosen.choice, std::move(best.built), std::move(best.report)};
  encode_selections(out.problem, out.choice, out.built.queues);
  context.host.progress("reporting", 0, 0);
  add_bounds(chosen.space, out.choice, context.settings.queues, out.report);
  return out;
}

}  // namespace buda::balance
