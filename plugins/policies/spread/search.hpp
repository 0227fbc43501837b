// SPDX-License-Identifier: Apache-2.0
// A search for a plan, from first placements to improved ones.
#pragma once

#include <buda/balance/bounds/relaxed_epochs.hpp>
#include <buda/balance/policy/policy.hpp>
#include <buda/diag/result.hpp>
#include "epoch_pool.hpp"
#include "first_trials.hpp"
#include "moves/tighten_epochs.hpp"
#include "rating/link_loads.hpp"
#include "rating/repeated_runs.hpp"
#include "trials.hpp"

#include <optional>
#include <vector>

namespace buda::balance {

// Whatever it remembers is its own, so that several run beside each other. Searches differ in what they count between two ops.
class Search {
 public:
  // `budget`: as of Trials.
  Search(const Placement& empty, const Estimator& estimator, PairCost pairs, const RelaxedChip& chip, double budget);

  // Places the plans. Fails where none can be placed.
  Result<void> place_first();
  // Improves the best placements epoch by epoch, and then what is best put together from the epochs of all of them.
  void improve();

  // Those that were improved, in the order in which they were, and the other placements, best first.
  std::vector<Trial>& improved() { return improved_; }
  std::vector<Trial>& others() { return others_; }
  const EpochPool& pool() const { return pool_; }
  RepeatedRuns& runs() { return runs_; }
  // What is best put together from the epochs of a pool; nothing where they do not go together.
  std::optional<Trial> combined(EpochPool& pool);
  // The first plan that can be built without any care for links.
  std::optional<Trial> first_buildable() { return balance::first_buildable(placers_.back(), trials_, ops_, chip_); }
  const Trials& trials() const { return trials_; }
  LinkModel& links() { return links_; }
  Placement& placement() { return placement_; }

 private:
  // Tries the cuts of a trial in other places, and what is best put together then.
  void move_cuts(const Trial& trial);
  // Without buffers that alone hold an epoch up, where that is faster.
  Trial evened(Trial trial);

  Placement placement_;
  RelaxedChip chip_;
  LinkModel links_;
  RepeatedRuns runs_;
  Trials trials_;
  std::vector<RelaxedOp> ops_;
  std::vector<PacedPlacer> placers_;
  std::vector<Trial> improved_, others_;
  EpochPool pool_;
};

}  // namespace buda::balance
