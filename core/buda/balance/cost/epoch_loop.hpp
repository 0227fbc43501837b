// SPDX-License-Identifier: Apache-2.0
// What the epochs of a loop save by following each other: cores load their next program while others still work.
//
// Target grid lets each core load as soon as it has done with an epoch, and begins the next epoch when all have. So a core that is done
// early has its program when the epoch begins.
#pragma once

#include <buda/base/grid.hpp>
#include <buda/cost/pipeline.hpp>

#include <cstdint>
#include <vector>

namespace buda::balance {

struct LoopedEpoch {
  std::vector<cost::PipelineOp> ops;
  std::vector<GridRect> cores;  // of each op; of no cores where it runs on none that loads programs
  std::int32_t chip = 0;
  std::int64_t inputs = 1;
  double cycles = 0;  // of all inputs, from when all cores have their programs
  double change = 0;  // until they have, from when they are done with the epoch before
};

// By epoch: how many cycles of its change the loop does not wait for, when it has been gone through a few times.
std::vector<double> hidden_changes(const std::vector<LoopedEpoch>& loop);

}  // namespace buda::balance
