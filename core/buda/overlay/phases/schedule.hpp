// SPDX-License-Identifier: Apache-2.0
// What each stream does, in which order: the result of the third step. Internal to the module.
#pragma once

#include <buda/overlay/blob/blob.hpp>
#include <buda/overlay/streams/per_stream.hpp>

#include <cstdint>
#include <vector>

namespace buda::overlay {

// As in Stream, whose members of the same names it becomes.
struct StreamPhases {
  std::vector<PhaseRun> phases;
  std::int64_t iterations = 1;
  std::int64_t window_tiles = 0, ids_per_pass = 0, passes = 0;  // of scattered outputs

  std::int64_t phase_count() const { return count_of(phases); }
};

// Every stream of the allocation has an entry.
using PhaseSchedule = PerStream<StreamPhases>;

}  // namespace buda::overlay
