// SPDX-License-Identifier: Apache-2.0
// Output groups that receive padding instead of tiles. Internal to the module.
#pragma once

#include <buda/overlay/plan/epoch_input.hpp>
#include <buda/overlay/plan/pipe_plan.hpp>
#include <buda/overlay/violations.hpp>

namespace buda::overlay {

// Moves groups for which the file lists padding from the plan's parts to its padding, and adds the buffers of the padding to its sources.
// False, with a violation (OV002), if a part cannot be made of such padding, if the padding is on another chip, or if a part has no other
// groups.
bool resolve_padding(const EpochInput& in, PipePlan& plan, Violations& violations);

}  // namespace buda::overlay
