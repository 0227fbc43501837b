// SPDX-License-Identifier: Apache-2.0
// Proves that the pipes of an epoch transfer every tile of every input to every core: the right one, in the right order, once.
#pragma once

#include <buda/device/cluster.hpp>
#include <buda/diag/result.hpp>
#include <buda/pipes/build/build_pipes.hpp>
#include <buda/pipes/graph/pipe_graph.hpp>
#include <buda/pipes/plan/epochs.hpp>
#include <buda/pipes/plan/netlist_index.hpp>

#include <cstdint>

namespace buda::pipes {

struct CheckCounts {
  std::int64_t buffers = 0;  // kernel inputs and queue buffers that pipes fill
  std::int64_t tiles = 0;    // compared one by one
};

// Walks every input of every core of the epoch's ops, and every buffer of the queues that they write, tile by tile: the expected tile by
// the definitions of blocks, manipulations and consumption orders, the tile that comes by following the pipes. Nothing of what made the
// pipes is used, so graphs from elsewhere (TT-Buda's own files) can be checked as well. Also checked: that all buffers are there, where
// they should be, and large enough. Up to twenty errors, with op, input, core and tile. Time is linear in the tiles compared.
Result<CheckCounts> check_pipes(const NetlistIndex& index, const device::DeviceDescriptor& device, const Epoch& epoch,
                                const PaddingTable& padding, const PipeGraph& graph, const device::Cluster& cluster = {});

}  // namespace buda::pipes
