// SPDX-License-Identifier: Apache-2.0
// Choices compared by what the report would say of them.
#pragma once

#include <buda/balance/policy/policy.hpp>
#include "rating/flow_times.hpp"
#include "rating/link_loads.hpp"
#include "rating/repeated_runs.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace buda::balance {

// Bytes that queues between epochs may have together, so that they fit DRAM beside the model's sources.
double room_of_queues(const Placement& placement);

// Cycles of one input through all epochs of a choice: the slowest op of each.
double pipelined_cycles(const Choice& choice);

// A choice and its cycles.
struct Trial {
  Choice choice;
  bool fails = false;          // it cannot be built: its queues do not fit DRAM, or there are no stream programs for it
  double cycles = 0;           // of one input, with its share of the change of epochs
  std::vector<double> epochs;  // of each epoch with all its inputs
  bool is_better(const Trial& other) const { return fails != other.fails ? other.fails : cycles < other.cycles; }
};

// An epoch with the places of its ops that are best for the links, and the cycles that all inputs take.
struct RatedEpoch {
  std::vector<PlacedOp> ops;
  double cycles = 0;
};

// Choices of so many ops that may be estimated.
std::size_t most_estimates(std::size_t ops);

// Compares choices: many by what is known of them at once, few by the estimate.
class Trials {
 public:
  // `inputs`: over which the change of epochs is divided. `budget`: how many times the usual number of ops may be placed.
  Trials(Placement& placement, const Estimator& estimator, LinkModel& links, RepeatedRuns& runs, double inputs, double budget = 1);

  // Whether choices of this size are estimated at all.
  bool estimates() const { return estimates_; }
  // How many ops may still be placed.
  std::size_t ops_left() const { return ops_left_; }
  void count_ops(std::size_t placed) { ops_left_ -= std::min(placed, ops_left_); }

  // Rates a choice by the slowest op of each epoch, by what its queues move, and, where choices of this size are estimated, by its busiest
  // link, which is relieved first. Epochs that stand as one before them that is alike are rated as that one. What the placement holds is
  // replaced.
  Trial rated(Choice choice);
  // The same for the placement's present epoch, which ends before number `end` of the schedule.
  RatedEpoch rated_epoch(std::size_t end);
  // A trial of rated epochs.
  Trial summed_up(Choice choice, std::vector<double> epochs) const;
  // The trial as the estimate rates it. May be called from several threads at once.
  Trial estimated(Trial trial) const;

 private:
  void sum_up(Trial& trial) const;

  Placement& placement_;
  const Estimator& estimator_;
  LinkModel& links_;
  RepeatedRuns& runs_;
  FlowTimes flow_;
  double inputs_;
  double change_;  // cycles of a change to an epoch of all cores
  bool estimates_;
  std::size_t ops_left_;
};

}  // namespace buda::balance
