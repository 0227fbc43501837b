// SPDX-License-Identifier: Apache-2.0
// Estimates build the netlist that would be written, without its names.
#include <buda/balance/plan/estimate.hpp>

#include <buda/balance/chips/chips_of_choice.hpp>
#include <buda/balance/emit/forked_inputs.hpp>
#include <buda/balance/problem/phases.hpp>
#include <buda/balance/queues/queues.hpp>

#include <algorithm>
#include <utility>

namespace buda::balance {

Result<BuiltNetlist> build(const Problem& problem, const Choice& choice, const Settings& settings, Host& host, const DirectEpochs& direct) {
  BUDA_ASSIGN(QueueSet queues, make_queues(problem, choice, settings.queues, direct));
  BUDA_ASSIGN(BuiltNetlist built, build_netlist(problem, choice, std::move(queues), settings.queues));
  if (settings.forked_inputs) fork_dram_inputs(built.netlist, built.queues);
  BUDA_ASSIGN(built.laid_out, lay_out_with_room(built.netlist, *problem.device, settings.links, host));
  return built;
}

namespace {

// What the report would say of a choice whose chips are known, but for what streams wait for each other by chance: no search rates that,
// and of many plans that differ in little else the one would win that is underestimated most.
Result<PlacementReport> estimated_report(const Problem& problem, const Choice& choice, const Settings& settings, Host& host) {
  BUDA_ASSIGN(BuiltNetlist built, build(problem, choice, settings, host));
  for (EpochLoads& loads : built.laid_out.loads) loads.shared = {};
  return make_report(problem, choice, built, std::vector<std::int64_t>(problem.ops.size(), 0), "");
}

// Where the model does not fit on one chip, and its ops are not shared out yet, by the slowest op of each epoch.
Result<PlacementReport> report_on_all_chips(const Problem& problem, Choice choice, const Settings& settings, Host& host) {
  std::vector<EpochTime> times(static_cast<std::size_t>(choice.epochs()));
  for (std::size_t i = 0; i < choice.ops.size(); ++i) {
    EpochTime& time = times[static_cast<std::size_t>(choice.ops[i].epoch)];
    time.first = time.interval = std::max(time.interval, choice.ops[i].model.cycles);
    time.inputs = inputs_of_op(problem, OpId(static_cast<std::uint32_t>(i)));
  }
  choice.chips = best_stages(staged_epochs(problem, choice, std::move(times)));
  return estimated_report(problem, choice, settings, host);
}

}  // namespace

Result<PlacementReport> report_of_choice(const Problem& problem, Choice choice, const Settings& settings, Host& host) {
  choice.chips = chips_of_ops(problem, choice);
  auto report = estimated_report(problem, choice, settings, host);
  if (report || problem.chips.size() == 1 || !choice.chips.empty()) return report;
  auto on_all = report_on_all_chips(problem, std::move(choice), settings, host);
  return on_all ? std::move(on_all) : std::move(report);
}

std::optional<std::vector<double>> estimated_cycles(const Problem& problem, const Choice& choice, EpochChanges changes,
                                                    const Settings& settings, Host& host) {
  const auto report = report_of_choice(problem, choice, settings, host);
  if (!report) return std::nullopt;
  std::vector<double> out;
  for (const ReportEpoch& epoch : report->epochs)
    out.push_back(static_cast<double>(changes == EpochChanges::hidden ? epoch.cycles : epoch.cycles + epoch.hidden));
  return out;
}

}  // namespace buda::balance
