// SPDX-License-Identifier: Apache-2.0
// From the bounds of a problem to the gaps of a plan.
#include <buda/balance/emit/report_bounds.hpp>

#include <buda/balance/bounds/bounds.hpp>
#include <buda/balance/bounds/epoch_ends.hpp>
#include <buda/balance/emit/report_summary.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace buda::balance {
namespace {

// Plans of more ops are not placed once more to tell why their epochs end.
constexpr std::size_t kMaxExplained = 20'000;

// Cycles of plans are whole.
std::int64_t whole_bound(double cycles) { return static_cast<std::int64_t>(std::floor(std::min(cycles, 9e18))); }

ReportBound bound_of(double bound, const ReportTotals& totals) {
  const std::int64_t cycles = whole_bound(bound);
  return {cycles, gap_above(static_cast<double>(totals.cycles), static_cast<double>(cycles)), ""};
}

void add_epoch_bounds(const ScheduleBound& bound, const Choice& choice, PlacementReport& report) {
  std::size_t begin = 0;
  for (std::size_t e = 0; e < report.epochs.size(); ++e) {
    std::size_t end = begin;
    while (end < choice.ops.size() && choice.ops[end].epoch == static_cast<std::int32_t>(e)) ++end;
    ReportEpoch& epoch = report.epochs[e];
    epoch.bound = whole_bound(bound.of_epoch(begin, end));
    epoch.gap = gap_above(static_cast<double>(epoch.cycles), static_cast<double>(epoch.bound));
    begin = end;
  }
}

// An iteration of a pipeline of chips takes no less than its share of what one chip would take.
double chips_of(const ChoiceSpace& space) { return static_cast<double>(space.problem->chips.size()); }

BoundedChip all_chips(const ChoiceSpace& space, BoundedChip chip) {
  chip.cores *= static_cast<std::int64_t>(space.problem->chips.size());
  chip.dram_bytes_per_cycle *= chips_of(space);
  return chip;
}

// What no loop of epochs can do without. It need not wait for any change, since cores may load while others work, nor for the whole of an
// input between ops.
BoundedChip of_any_loop(BoundedChip chip) {
  chip.epoch_change = chip.epoch_change_per_core = 0;
  chip.ops_overlap = true;
  return chip;
}

UniversalBound bound_of_any_plan(const ChoiceSpace& space, const QueueOptions& queues, const BoundedChip& chip) {
  return universal_bound(bounded_ops(space, queues), all_chips(space, chip));
}

}  // namespace

double lower_bound_of(const ChoiceSpace& space, const QueueOptions& queues, EpochChanges changes) {
  const BoundedChip chip = bounded_chip(space);
  const UniversalBound universal = bound_of_any_plan(space, queues, chip);
  const ScheduleBound schedule(bounded_ops(space, queues), changes == EpochChanges::hidden ? of_any_loop(chip) : chip);
  return std::max(schedule.cycles() / chips_of(space), universal.cycles());
}

double gap_above(double cycles, double bound) { return bound > 0 ? three_digits(100 * (cycles - bound) / bound) : 0; }

void add_bounds(const ChoiceSpace& space, const Choice& choice, const QueueOptions& queues, PlacementReport& report) {
  if (choice.ops.empty()) return;
  const BoundedChip chip = bounded_chip(space);
  const UniversalBound universal = bound_of_any_plan(space, queues, chip);
  report.totals.universal_bound = bound_of(universal.cycles(), report.totals);
  report.totals.universal_bound->limiter = universal.limiter();
  if (!follows_schedule(choice)) return;
  const ScheduleBound schedule(bounded_ops(space, queues), of_any_loop(chip));
  report.totals.schedule_bound = bound_of(std::max(schedule.cycles() / chips_of(space), universal.cycles()), report.totals);
  add_epoch_bounds(schedule, choice, report);
  // Whose change no other epoch hides.
  if (report.epochs.size() == 1) {
    ReportEpoch& epoch = report.epochs.front();
    epoch.bound = std::max(epoch.bound, whole_bound(universal.cycles()));
    epoch.gap = gap_above(static_cast<double>(epoch.cycles), static_cast<double>(epoch.bound));
  }
  if (choice.ops.size() > kMaxExplained) return;
  std::vector<double> intervals;
  for (const ReportEpoch& epoch : report.epochs) intervals.push_back(static_cast<double>(epoch.interval));
  const std::vector<std::string> ends = epoch_ends(space, choice, intervals);
  for (std::size_t e = 0; e < report.epochs.size() && e < ends.size(); ++e) report.epochs[e].ended_by = ends[e];
}

}  // namespace buda::balance
