// SPDX-License-Identifier: Apache-2.0
// Sizes of transfers, once it is known how large all buffers are. Internal to the module.
#pragma once

#include <buda/overlay/l1/layout.hpp>
#include <buda/overlay/phases/schedule.hpp>
#include <buda/overlay/plan/core_map.hpp>
#include <buda/overlay/plan/epoch_input.hpp>
#include <buda/overlay/streams/allocation.hpp>

namespace buda::overlay {

// A relay writes chunks of at most half of its buffer, so that receiving and writing overlap. Over PCIe, chunks are at most half of the
// receiver's buffer, and all phases and the buffers at both ends hold multiples of them. Kernels know the size of their buffers;
// transport buffers become a little smaller for that.
void adjust_chunks(const EpochInput& in, const CoreMap& cores, const StreamAllocation& streams, const PhaseSchedule& phases,
                   L1Layout& layout);

}  // namespace buda::overlay
