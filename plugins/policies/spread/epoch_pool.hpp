// SPDX-License-Identifier: Apache-2.0
// Epochs of many plans, put together anew.
#pragma once

#include <buda/balance/policy/placement.hpp>
#include "rating/repeated_runs.hpp"
#include "trials.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace buda::balance {

// Plans that cut a schedule in the same place may exchange what is before and behind it. The pool keeps the fastest epoch for each run of
// ops that was one epoch in some plan, or is alike to one that was, and finds the cuts with the fewest cycles among them.
class EpochPool {
 public:
  // `cycles_per_epoch`: what a change of epochs counts for in addition to the cycles of an epoch, which include it.
  EpochPool(std::size_t ops, double cycles_per_epoch) : ops_(ops), cycles_per_epoch_(cycles_per_epoch) {}

  // Takes up the epochs of a trial.
  void add(const Placement& placement, RepeatedRuns& runs, const Trial& trial);
  // An epoch whose first op is number `begin` of the schedule.
  void add(RepeatedRuns& runs, std::size_t begin, RatedEpoch epoch);
  void add(const EpochPool& other);
  // Sets the cycles of those of its epochs that are kept to those of the trial, and where they are kept for other runs, too.
  void correct(const Placement& placement, RepeatedRuns& runs, const Trial& trial);
  // The best cuts. What the placement holds is replaced. An epoch that does not go with the models of earlier ones is dropped, and the next
  // best cuts are tried; nothing where the dropped ones become many.
  std::optional<Choice> best(Placement& placement);

 private:
  using Run = std::pair<std::size_t, std::size_t>;  // of the schedule: its first op, and the one behind its last
  struct Epoch {
    double cycles = 0;
    std::shared_ptr<const std::vector<PlacedOp>> ops;  // shared by runs that are alike
  };
  std::vector<Run> best_cuts() const;

  std::size_t ops_;
  double cycles_per_epoch_;
  std::map<Run, Epoch> epochs_;
};

}  // namespace buda::balance
