// SPDX-License-Identifier: Apache-2.0
// Pipes from ops into queues.
#pragma once

#include <buda/pipes/build/edge_pipes.hpp>
#include <buda/pipes/build/placed_epoch.hpp>
#include <buda/pipes/graph/id_sequence.hpp>

namespace buda::pipes {

// One pipe for each route into a queue (a number in the plan) that an op of the epoch writes. An untilized output has one for each buffer
// of the queue, with all cores in order; a gradient op has none. `edge` numbers the edge among those of the epoch.
EdgePipes output_pipes(const PlacedEpoch& epoch, std::size_t queue, std::size_t edge, IdSequence& ids);

}  // namespace buda::pipes
