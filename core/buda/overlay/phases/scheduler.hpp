// SPDX-License-Identifier: Apache-2.0
// Third step: the phases of all streams. Internal to the module.
//
// Pipes that lead to a common input form a component; their passes run side by side, pass w of one with pass w of the others, and their
// phases are numbered together (pass_numbering.hpp). A sender has a phase for every block. A receiver's phase continues while the same
// sender sends to no other receiver; it has the id of the first block, so both ends of a connection meet at equal ids.
//
// What repeats is written once: the passes of a component are periodic, and if the passes of the epoch are a multiple of the period, one
// period is written and iterated.
//
// Where one source sends its whole buffer in order, or DRAM is read, phases are independent of passes: as many whole passes as fit into the
// limit of tiles make one phase.
#pragma once

#include <buda/overlay/phases/schedule.hpp>
#include <buda/overlay/plan/core_map.hpp>
#include <buda/overlay/plan/epoch_input.hpp>
#include <buda/overlay/plan/pipe_plan.hpp>
#include <buda/overlay/streams/allocation.hpp>
#include <buda/overlay/violations.hpp>

namespace buda::overlay {

// OV002 for pipes of a component that differ in their number of passes, OV011 for far more phases than a stream program can have. Linear in
// the phases of one period.
PhaseSchedule schedule_phases(const EpochInput& in, const CoreMap& cores, const PipePlans& plans, const StreamAllocation& streams,
                              Violations& violations);

}  // namespace buda::overlay
