// SPDX-License-Identifier: Apache-2.0
// Last step: puts streams, phases and addresses together. Internal to the module.
#pragma once

#include <buda/overlay/blob/blob.hpp>
#include <buda/overlay/l1/layout.hpp>
#include <buda/overlay/phases/schedule.hpp>
#include <buda/overlay/plan/core_map.hpp>
#include <buda/overlay/plan/epoch_input.hpp>
#include <buda/overlay/streams/allocation.hpp>

namespace buda::overlay {

// The schedule and the layout have an entry for every stream of the allocation. Linear in streams and runs of phases.
Blob emit_blob(const EpochInput& in, const CoreMap& cores, StreamAllocation streams, PhaseSchedule phases, L1Layout layout);

}  // namespace buda::overlay
