// SPDX-License-Identifier: Apache-2.0
// Queues that hold rows of datums instead of tiles. Internal to the module.
#pragma once

#include <buda/overlay/plan/pipe_plan.hpp>
#include <buda/overlay/violations.hpp>

namespace buda::overlay {

// A pipe that takes rows lists the rows only; the part of a row that it takes follows from the number of rows before it, and from where the
// part of the receiving core begins (docs/formats/pipegen.md). Gives each block its offset among the row pieces of the queue's buffer,
// which lie row by row; from then on pieces are read like tiles. Leaves pipes of tiles as they are. False, with a violation (OV002), for
// rows that are not described or not there.
bool set_row_offsets(PipePlan& plan, Violations& violations);

}  // namespace buda::overlay
