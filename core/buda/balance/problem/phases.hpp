// SPDX-License-Identifier: Apache-2.0
// The phases of a training step as segments of the device: forward, backward and optimizer are programs of their own, where the graph has
// ops that add up gradients (graph/training.hpp).
#pragma once

#include <buda/balance/problem/problem.hpp>
#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>

#include <cstdint>

namespace buda::balance {

inline constexpr std::int32_t kForwardSegment = 0, kBackwardSegment = 1, kOptimizerSegment = 2;
inline constexpr std::int32_t kPhases = 3;  // OpSpec::phase and, in programs of their own, OpSpec::segment

bool has_phases(const graph::Graph& graph);

// Tags each op of the device with its segment: the phase that its tag says, or a later one from which it takes a value. BL056: the
// optimizer reads what is made for each batch, and is no sum; or an earlier phase reads what a later one makes.
Result<void> mark_phases(graph::Graph& graph);

// Sets the phases of ops, and marks those that add up gradients. BL057: such an op is not a copy any more, or inputs of the model are
// several entries of a queue.
Result<void> set_phases(const graph::Graph& graph, Problem& problem);

// Inputs that one execution of an epoch of a segment takes: the optimizer runs once for a step.
std::int32_t inputs_of_segment(const Problem& problem, std::int32_t segment);
std::int32_t inputs_of_op(const Problem& problem, OpId op);

// Is some op one of a backward or an optimizer phase?
bool is_training_step(const Problem& problem);

// Is it read by the optimizer alone? Then the host gives it once for each step.
bool is_of_step(const Problem& problem, const SourceSpec& source);

}  // namespace buda::balance
