// SPDX-License-Identifier: Apache-2.0
// The policy `ribbon`, after PyBuda's default for convolutional networks: the ops of an epoch have the same number of rows of cores, so
// that data pass from op to op along rows.
#pragma once

#include <buda/plugin/policy.hpp>

#include <cstdint>

namespace buda::ribbon {

struct Options {
  std::int32_t rows = 0;          // of cores for all ops; 0: each epoch the number that is best for it
  double target_cycles = 95'000;  // that an op may take for an input before it gets more columns
};

// An epoch is tried with every number of rows: ops are placed in the order of the schedule until one finds no room, each with the rows that
// are nearest to those of the epoch and the fewest columns with which it keeps within the target. The epoch with the best use of the chip
// stands; then its slowest ops get more columns as long as that makes it faster. O(rows * models) for each op.
Result<balance::Choice> choose(balance::Placement& placement, const Options& options);

}  // namespace buda::ribbon
