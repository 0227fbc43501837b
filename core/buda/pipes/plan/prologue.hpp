// SPDX-License-Identifier: Apache-2.0
// How inputs are read before the epoch.
//
// A prologue is read in the order of consumption ("post TM") where it fits the kernel's buffer. Right operands of products that are too
// large for that, and have no manipulations, are read in shares: each core of a column reads one, and all gather the shares while the epoch
// runs. Other prologues are read as the queue has them, and re-blocked while the epoch runs.
#pragma once

#include <buda/pipes/plan/epoch_plan.hpp>

namespace buda::pipes {

// The input with what its prologue would be, if it has one: post_tm, chunks and chunk_tiles.
InputPlan with_prologue(const EpochPlan& plan, const netlist::Op& op, std::size_t number, InputPlan input);

// All inputs of an op that read the same prologue queue share its copy of the buffers, so they read it in the same way. Returns the inputs
// with routes for what is read: shares, or one pipe for each core instead of a multicast.
std::vector<InputPlan> agree_on_prologues(std::vector<InputPlan> inputs, GridShape grid);

}  // namespace buda::pipes
