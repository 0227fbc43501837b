// SPDX-License-Identifier: Apache-2.0
// Buffers of an op's kernel in L1.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/pipes/build/placed_epoch.hpp>
#include <buda/pipes/graph/pipe_graph.hpp>

#include <vector>

namespace buda::pipes {

// The shares of its prologues, then core by core inputs, output and intermediates. Errors as of queue_address(), for the ram of a gradient
// op.
Result<std::vector<Buffer>> op_buffers(const PlacedEpoch& epoch, std::size_t op);

}  // namespace buda::pipes
