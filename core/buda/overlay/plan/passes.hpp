// SPDX-License-Identifier: Apache-2.0
// How often a pipe traverses its list in the epoch, and whether its phases depend on that. Internal to the module.
//
// A pass begins when the producers' windows have been filled anew (docs/formats/pipegen.md). Their number follows from each source: tiles
// in the epoch by tiles of its window. All sources of a pipe must agree.
#pragma once

#include <buda/overlay/plan/epoch_input.hpp>
#include <buda/overlay/plan/pipe_plan.hpp>
#include <buda/overlay/violations.hpp>

namespace buda::overlay {

// Merges contiguous blocks of a classified plan and sets `ring`. False, with a violation (OV002), for an output without tiles that is not
// sent core after core.
bool merge_blocks(const EpochInput& in, PipePlan& plan, Violations& violations);

// Sets `passes` of all plans; needs `feeds`. OV002 for sources that disagree.
void count_passes(PipePlans& plans, Violations& violations);

// Sets `components`, and `flows` of all plans; needs `feeds`.
void find_components(PipePlans& plans);

}  // namespace buda::overlay
