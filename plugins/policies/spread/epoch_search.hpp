// SPDX-License-Identifier: Apache-2.0
// Other placements of single epochs of a choice, those first that take most of the time.
#pragma once

#include <buda/balance/bounds/relaxed_epochs.hpp>
#include "moves/tighten_epochs.hpp"
#include "rating/repeated_runs.hpp"
#include "trials.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace buda::balance {

// An epoch that stands, and the cycles of each of its ops.
struct StandingEpoch {
  std::vector<OpId> ops;
  std::vector<double> cycles;
  std::vector<double> edges;  // of the slowest edge of each op to others of the epoch
  double interval = 0;        // of the slowest op
  std::int64_t idle = 0;      // cores without an op
};

// The cycles that each op may take in another placement.
using Pace = std::function<std::vector<double>(const StandingEpoch& epoch)>;

// What ops may take so that the first input comes through soon, if so many idle cores go to ops of its longest way, each time where a core
// saves most cycles. `choices`: of each op, as best_choices() has them.
std::vector<double> hastened(const Placement& placement, const StandingEpoch& epoch, const std::vector<std::vector<CoreCost>>& choices,
                             std::int64_t cores);

// Places epochs at other paces and by other goals, as long as that makes one faster and ops may be placed. An epoch is tried the more
// often, the more of all cycles it takes, together with those that are alike to it: they take over what is found. The cuts remain.
class EpochSearch {
 public:
  // `few`: inputs are so few that the way of the first one counts for as much as the interval between them.
  EpochSearch(std::vector<PacedPlacer>& placers, Trials& trials, RepeatedRuns& runs, bool few);

  // `least`: where so few ops are left that may be placed, the search ends.
  Trial improved(Trial start, std::size_t least);

 private:
  // One pass through all epochs; false where nothing is left to try or nothing got better.
  bool sweep(Trial& trial, std::size_t least);
  // The best of so many further tries for the epoch that stands in the placement.
  RatedEpoch best_of(std::size_t epoch, std::size_t begin, std::size_t end, std::size_t tries, RatedEpoch standing);
  // The better one of the epoch that stands and one that is alike to it.
  RatedEpoch better_of(std::size_t begin, std::size_t end, RatedEpoch standing, const RatedEpoch& alike);
  // For each epoch the first one that is alike to it.
  std::vector<std::size_t> first_alike(const std::vector<std::size_t>& bounds);

  std::vector<PacedPlacer>& placers_;
  Trials& trials_;
  RepeatedRuns& runs_;
  std::vector<Pace> paces_;
  std::vector<double> with_idle_cores(const StandingEpoch& epoch, double share);
  std::vector<double> with_fast_edges(const StandingEpoch& epoch, double part);
  // Cycles of the op's fastest model.
  double fastest(OpId op);

  std::vector<std::size_t> next_;  // by epoch that is the first of its like: the number of the next try
};

}  // namespace buda::balance
