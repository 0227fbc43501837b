// SPDX-License-Identifier: Apache-2.0
// Cuts from the first to the last, since epochs stand on those before them.
#include "epoch_boundary_moves.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace buda::balance {
namespace {

// By how many ops a cut is moved, in the order in which it is tried.
constexpr std::ptrdiff_t kMoves[] = {-1, 1, -2, 2, -3, 3, -4, 4, -5, 5, -6, 6};
// How many cycles ops may take in a changed epoch, as parts of what the slowest op of the old one takes.
constexpr double kPaces[] = {1.0, 0.8, 1.2};

class CutMover {
 public:
  CutMover(PacedPlacer& placer, Trials& trials, RepeatedRuns& runs, EpochPool& pool)
      : placer_(placer), placement_(placer.placement()), trials_(trials), runs_(runs), pool_(pool) {}

  // Puts the cut between ops [begin, cut) and [cut, end), whose slowest ops take so many cycles, in other places, as long as fewer than
  // `most` ops are placed for it. The placement holds the epochs before `begin`.
  void move(std::size_t begin, std::size_t cut, std::size_t end, double before, double behind, double most) {
    const std::size_t left = trials_.ops_left();
    for (std::ptrdiff_t move : kMoves) {
      const std::ptrdiff_t moved = static_cast<std::ptrdiff_t>(cut) + move;
      if (moved <= static_cast<std::ptrdiff_t>(begin) || moved >= static_cast<std::ptrdiff_t>(end)) continue;
      if (static_cast<double>(left - trials_.ops_left()) >= most) break;
      const auto there = static_cast<std::size_t>(moved);
      if (add_epoch(begin, there, before)) add_epoch(there, end, behind);
    }
  }

 private:
  // Adds the best placement of ops [begin, end) as an epoch; false where none fits.
  bool add_epoch(std::size_t begin, std::size_t end, double interval) {
    std::optional<RatedEpoch> best;
    placer_.expect_end(end);
    for (double pace : kPaces) {
      begin_again(placement_, begin);
      trials_.count_ops(end - begin);
      if (!fits_within(placer_, begin, end, std::vector<double>(end - begin, pace * interval))) continue;
      RatedEpoch rated = trials_.rated_epoch(end);
      if (!best || rated.cycles < best->cycles) best = std::move(rated);
    }
    begin_again(placement_, begin);
    if (!best || !stand_as(placement_, begin, best->ops)) return false;
    pool_.add(runs_, begin, std::move(*best));
    return true;
  }

  PacedPlacer& placer_;
  Placement& placement_;
  Trials& trials_;
  RepeatedRuns& runs_;
  EpochPool& pool_;
};

}  // namespace

void add_moved_cuts(PacedPlacer& placer, Trials& trials, RepeatedRuns& runs, const Trial& trial, std::size_t most, EpochPool& pool) {
  Placement& placement = placer.placement();
  CutMover mover(placer, trials, runs, pool);
  const std::vector<std::size_t> bounds = bounds_of(placement, trial.choice);
  std::vector<double> slowest;  // op of each epoch
  for (std::size_t e = 0; e + 1 < bounds.size(); ++e) {
    double cycles = 0;
    for (std::size_t i = bounds[e]; i < bounds[e + 1]; ++i) cycles = std::max(cycles, placer.cycles(placement.schedule()[i], trial.choice));
    slowest.push_back(cycles);
  }
  // Each epoch is beside two cuts.
  const double total = 2 * std::accumulate(trial.epochs.begin(), trial.epochs.end(), 0.0);
  std::set<std::tuple<std::size_t, std::size_t, std::size_t>> seen;  // first run that is alike to both epochs, and their lengths
  placement.rewind(placement.schedule().front());
  for (std::size_t e = 0; e + 2 < bounds.size(); ++e) {
    const std::size_t begin = bounds[e], cut = bounds[e + 1], end = bounds[e + 2];
    placement.next_epoch();
    if (seen.insert({runs.starts(begin, end).front(), cut - begin, end - cut}).second) {
      const double share = (trial.epochs[e] + trial.epochs[e + 1]) / total;
      mover.move(begin, cut, end, slowest[e], slowest[e + 1], share * static_cast<double>(most));
    }
    begin_again(placement, begin);
    if (!stand_as_in(placement, begin, cut, trial.choice)) return;
  }
}

}  // namespace buda::balance
