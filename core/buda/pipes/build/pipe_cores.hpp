// SPDX-License-Identifier: Apache-2.0
// On which cores pipes do their work.
#pragma once

#include <buda/pipes/build/placed_epoch.hpp>
#include <buda/pipes/graph/pipe_graph.hpp>

#include <vector>

namespace buda::pipes {

// One core for each destination of a route: the producer, if all tiles come from one core and each goes to one consumer; otherwise the
// consumer. For multicasts along a row or column that is the core at the end where the network begins. `is_repeated`: an output group
// receives several rounds in a row.
std::vector<CoreCoord> pipe_cores(const PlacedEpoch& epoch, std::size_t op, const InputPlan& input, const PipeRoute& route,
                                  bool is_repeated);

}  // namespace buda::pipes
