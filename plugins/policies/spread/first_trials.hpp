// SPDX-License-Identifier: Apache-2.0
// Plans of epochs, placed: what the search for better ones starts with.
#pragma once

#include <buda/balance/bounds/relaxed_epochs.hpp>
#include <buda/balance/policy/placement.hpp>
#include <buda/diag/result.hpp>
#include "moves/tighten_epochs.hpp"
#include "rating/link_loads.hpp"
#include "rating/queue_times.hpp"
#include "rating/repeated_runs.hpp"
#include "trials.hpp"

#include <optional>
#include <vector>

namespace buda::balance {

// Of fewer inputs, the way of the first through an epoch counts as well as the interval between them.
inline constexpr double kSmallMicrobatch = 16;

// The ops of the schedule, with what their models cost.
std::vector<RelaxedOp> relaxed_ops(const Placement& placement, QueueTimes& times);

// Placements of the plans, in turns by all placers, until half of the ops that may be placed are, or all where none fits DRAM; best first.
// Shapes leave gaps between ops, so plans differ in the share of the chip that they give out; and in what queues may move.
Result<std::vector<Trial>> first_trials(std::vector<PacedPlacer>& placers, Trials& trials, LinkModel& links, RepeatedRuns& runs,
                                        const std::vector<RelaxedOp>& all_ops, const RelaxedChip& chip);

// The first plan that can be built with its ops in the first free places, at the lowest price of queues that is enough; nothing where none
// can.
std::optional<Trial> first_buildable(PacedPlacer& placer, Trials& trials, const std::vector<RelaxedOp>& ops, const RelaxedChip& chip);

}  // namespace buda::balance
