// SPDX-License-Identifier: Apache-2.0
// Other models of single ops of an epoch in the places that they have.
#pragma once

#include "moves/tighten_epochs.hpp"
#include "trials.hpp"

#include <cstddef>

namespace buda::balance {

// Ops [begin, end) of the schedule stand in the placement as `standing` has them. Ends of the slowest edge get models whose grids fit where
// they stand and whose edges are faster, and ops for which the change of epochs counts more than their time get models of fewer cores, one
// at a time, as long as that makes the epoch faster and ops may be placed. Models are chosen before the ops that read them are placed, and
// this looks at them from both sides. What the placement holds of the epoch is replaced.
RatedEpoch with_other_models(PacedPlacer& placer, Trials& trials, std::size_t begin, std::size_t end, RatedEpoch standing);

}  // namespace buda::balance
