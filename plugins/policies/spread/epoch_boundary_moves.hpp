// SPDX-License-Identifier: Apache-2.0
// Where neighbouring epochs of a plan could meet instead.
#pragma once

#include "epoch_pool.hpp"
#include "moves/tighten_epochs.hpp"
#include "rating/repeated_runs.hpp"
#include "trials.hpp"

#include <cstddef>

namespace buda::balance {

// Places the two epochs beside each cut of a trial as if the cut were a few ops earlier or later, and adds the placements that fit to the
// pool. Ends after placing about `most` ops, with more tries for cuts whose epochs take more of the time. What the placement holds is
// replaced.
void add_moved_cuts(PacedPlacer& placer, Trials& trials, RepeatedRuns& runs, const Trial& trial, std::size_t most, EpochPool& pool);

}  // namespace buda::balance
