// SPDX-License-Identifier: Apache-2.0
// Block sizes: how many tiles pipes take from an output or a queue as a unit.
#pragma once

#include <buda/pipes/plan/epoch_plan.hpp>

namespace buda::pipes {

// The plan with the granularities of all ops and queues, and with the sizes of output and intermediate buffers, which depend on them. All
// routes must be known.
EpochPlan settle_granularities(EpochPlan plan);

}  // namespace buda::pipes
