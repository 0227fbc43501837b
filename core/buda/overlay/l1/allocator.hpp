// SPDX-License-Identifier: Apache-2.0
// Fourth step: addresses in L1. Internal to the module.
//
// Operands are allocated from the end of L1 downwards: first the headers of further tile sizes, then inputs, outputs and intermediates in
// order of their streams, then what is only there for transport. The first part is the same in all cores of an op, because a multicast
// writes to the same address in each of its cores. A stream program that needs more than the default takes it from the other end, unless
// the op says how large it may be. Where all that is too much, the buffers of multicasts and relays are reduced: that costs time, not
// correctness.
#pragma once

#include <buda/overlay/l1/layout.hpp>
#include <buda/overlay/phases/schedule.hpp>
#include <buda/overlay/plan/core_map.hpp>
#include <buda/overlay/plan/epoch_input.hpp>
#include <buda/overlay/plan/pipe_plan.hpp>
#include <buda/overlay/streams/allocation.hpp>
#include <buda/overlay/violations.hpp>

namespace buda::overlay {

// Core by core; phases decide the size of the stream program. OV015 for a core whose buffers do not fit, OV001 for a multicast whose
// receivers are at different addresses. With violations, sizes of transfers are not adjusted.
L1Layout allocate_l1(const EpochInput& in, const CoreMap& cores, const PipePlans& plans, const StreamAllocation& streams,
                     const PhaseSchedule& phases, Violations& violations);

}  // namespace buda::overlay
