// SPDX-License-Identifier: Apache-2.0
// On which networks and virtual channels pipes transfer.
#pragma once

#include <buda/pipes/build/placed_epoch.hpp>
#include <buda/pipes/graph/pipe_graph.hpp>

namespace buda::pipes {

// Sets the networks of a pipe into an input, whose outputs and cores are known. Data leave on the network that multicasts need; without
// multicasts the inputs of an op alternate. Data arrive on the nearer one; those in L1 since before the epoch, on the other one.
void choose_nocs(const PlacedEpoch& epoch, std::size_t op, std::size_t input, Pipe& pipe);

// The same for a pipe from a core of an op into a buffer of a queue.
void choose_queue_nocs(const PlacedEpoch& epoch, std::size_t op, std::size_t core, const QueuePlan& queue, std::size_t buffer, Pipe& pipe);

}  // namespace buda::pipes
