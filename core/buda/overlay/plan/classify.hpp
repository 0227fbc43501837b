// SPDX-License-Identifier: Apache-2.0
// The kinds of buffers that meet in a pipe decide how it is made. Internal to the module.
#pragma once

#include <buda/overlay/plan/epoch_input.hpp>
#include <buda/overlay/plan/pipe_plan.hpp>
#include <buda/overlay/violations.hpp>

namespace buda::overlay {

// Sets source, sink, before_epoch and multicast of a plan with sources, groups, routes and parts. False, with a violation (OV001, OV002,
// OV003), for kinds that do not go together.
bool classify(const EpochInput& in, PipePlan& plan, Violations& violations);

}  // namespace buda::overlay
