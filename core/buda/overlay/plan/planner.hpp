// SPDX-License-Identifier: Apache-2.0
// First step: from the pipes of the file to plans. Internal to the module.
#pragma once

#include <buda/overlay/plan/epoch_input.hpp>
#include <buda/overlay/plan/pipe_plan.hpp>
#include <buda/overlay/violations.hpp>

namespace buda::overlay {

// A plan for every pipe that does not start at a relay buffer, in order of the file; pipes that do are parts of these plans. Plans with
// violations (OV001, OV002, OV003) are left out. O(blocks of all pipes, with their repetitions).
PipePlans plan_pipes(const EpochInput& in, Violations& violations);

// Operands of kernels have tiles, and a pipe leads to every input: a kernel would wait for it forever (OV002).
void check_operands(const EpochInput& in, const PipePlans& plans, Violations& violations);
// A kernel would wait forever for space in an output from which no pipe takes (OV002).
void check_outputs_are_taken(const EpochInput& in, const PipePlans& plans, Violations& violations);

}  // namespace buda::overlay
