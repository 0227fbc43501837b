// SPDX-License-Identifier: Apache-2.0
// Faster or slower parts of a chip, to see what they would change.
#pragma once

#pragma GCC visibility push(default)

namespace buda::sim {

// Of the time that transfers take.
struct TimeScale {
  double networks = 1;
  double memories = 1;  // DRAM
};

}  // namespace buda::sim

#pragma GCC visibility pop
