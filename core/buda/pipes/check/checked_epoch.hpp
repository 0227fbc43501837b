// SPDX-License-Identifier: Apache-2.0
// What the checker works on: a pipe graph, and the definitions that it has to follow. Internal to the checker.
#pragma once

#include <buda/device/cluster.hpp>
#include <buda/netlist/model/netlist.hpp>
#include <buda/pipes/build/padding_table.hpp>
#include <buda/pipes/graph/pipe_graph.hpp>
#include <buda/pipes/plan/epochs.hpp>
#include <buda/pipes/plan/netlist_index.hpp>

namespace buda::pipes {

struct CheckedEpoch {
  const NetlistIndex& index;
  const device::DeviceDescriptor& device;
  const device::Cluster& cluster;
  const Epoch& epoch;
  const PaddingTable& padding;
  const PipeGraph& graph;
  BufferIndex buffers;

  const netlist::Netlist& netlist() const { return index.netlist(); }
};

// The worker of an op's core.
inline GridCoord worker_at(const netlist::Op& op, std::int64_t core) {
  auto r = static_cast<std::int32_t>(core / op.grid.cols), c = static_cast<std::int32_t>(core % op.grid.cols);
  return op.grid_transpose ? GridCoord{op.grid_loc.row + c, op.grid_loc.col + r} : GridCoord{op.grid_loc.row + r, op.grid_loc.col + c};
}

}  // namespace buda::pipes
