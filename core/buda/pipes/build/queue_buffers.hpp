// SPDX-License-Identifier: Apache-2.0
// Buffers of queues in DRAM and host memory.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/pipes/build/placed_epoch.hpp>
#include <buda/pipes/graph/pipe_graph.hpp>

#include <vector>

namespace buda::pipes {

// All buffers of a queue; of a prologue queue a copy of them for each op that reads it. Errors as of queue_address().
Result<std::vector<Buffer>> queue_buffers(const PlacedEpoch& epoch, std::size_t queue);

// The worker that keeps a prologue reader's copy of a queue's buffer: the one at the same position of the grid, which is repeated where it
// is smaller than the queue's. For the operand that is multicast on network 1 rows are counted from the far end, where such multicasts
// begin.
GridCoord prologue_worker(const EpochPlan& plan, const QueuePlan& queue, std::size_t buffer, std::size_t reader);

}  // namespace buda::pipes
