// SPDX-License-Identifier: Apache-2.0
// Ops of an epoch moved to where the links of the networks have less to carry.
#pragma once

#include <buda/balance/policy/placement.hpp>
#include "rating/link_loads.hpp"

#include <vector>

namespace buda::balance {

// An epoch and what it takes for each input, as far as that is known without channels of DRAM.
struct RelievedEpoch {
  std::vector<PlacedOp> ops;
  double links = 0;    // cycles of the busiest link
  double slowest = 0;  // of the slowest op
  double latency = 0;  // of the longest way through the ops, each taking an input as a whole
};

// The placement's present epoch, which ends before number `end` of the schedule, with other places: where its busiest link takes longer
// than its slowest op, ops are moved or change places with others of the same grid, as long as that makes the sum of loads, each to a high
// power, smaller.
RelievedEpoch relieved_epoch(const Placement& placement, LinkModel& model, std::size_t end);

}  // namespace buda::balance
