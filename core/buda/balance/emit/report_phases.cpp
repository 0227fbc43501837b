// SPDX-License-Identifier: Apache-2.0
// Epochs and queues by phase.
#include <buda/balance/emit/report_phases.hpp>

#include <buda/balance/emit/epoch_phases.hpp>
#include <buda/balance/queues/dram.hpp>

#include <algorithm>

namespace buda::balance {
namespace {

ReportPhase& phase_of(const std::string& name, std::vector<ReportPhase>& phases) {
  const auto found = std::find_if(phases.begin(), phases.end(), [&](const ReportPhase& p) { return p.phase == name; });
  return found != phases.end() ? *found : phases.emplace_back(ReportPhase{name});
}

ReportStepMemory memory_of(const Problem& problem, const QueueSet& queues) {
  ReportStepMemory out;
  for (const QueuePlan& q : queues.queues) {
    const auto bytes = buffer_bytes(q.queue, *problem.device).value_or(0) * static_cast<std::uint64_t>(q.queue.grid.volume());
    if (q.role == QueueRole::loopback) {
      out.states += bytes;
    } else if (q.role == QueueRole::gradient) {
      out.gradients += bytes;
    } else if (q.writer.valid() && std::any_of(q.readers.begin(), q.readers.end(),
                                               [&](const OpUse& use) { return problem.op(use.op).phase != problem.op(q.writer).phase; })) {
      out.saved += bytes;
    }
  }
  return out;
}

}  // namespace

void add_phases(const Problem& problem, const Choice& choice, const QueueSet& queues, PlacementReport& report) {
  const auto phases = phases_of_epochs(problem, choice);
  for (std::size_t e = 0; e < report.epochs.size(); ++e) {
    ReportEpoch& epoch = report.epochs[e];
    epoch.phase = phases_text(phases[e]);
    ReportPhase& phase = phase_of(epoch.phase, report.totals.phases);
    phase.ops += static_cast<std::int64_t>(epoch.ops.size());
    ++phase.epochs;
    phase.cycles += epoch.cycles;
  }
  report.totals.step_memory = memory_of(problem, queues);
}

}  // namespace buda::balance
