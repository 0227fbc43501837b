// SPDX-License-Identifier: Apache-2.0
// All buffers of an epoch, but for relays and padding.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/pipes/build/placed_epoch.hpp>
#include <buda/pipes/graph/pipe_graph.hpp>

#include <vector>

namespace buda::pipes {

// Op by op: its buffers (op_buffers()), then those of queues that it is the first to use (queue_buffers()).
Result<std::vector<Buffer>> epoch_buffers(const PlacedEpoch& epoch);

}  // namespace buda::pipes
