// SPDX-License-Identifier: Apache-2.0
// Chips with few links, and pipes between them, for tests of routing.
#pragma once

#include <buda/pipes/interchip/transfer.hpp>

#include "unit/pipes/built.hpp"

#include <utility>
#include <vector>

namespace buda::pipes {

inline device::DeviceDescriptor mesh_of(std::int32_t chips) {
  device::DeviceDescriptor d = shipped("wormhole_b0");
  d.chips = chips;
  return d;
}

// Chips 0 and 1 with this many links of one stream.
inline device::Cluster parallel_links(std::int32_t count) {
  device::Cluster c;
  c.eth_core.link_streams = {9};
  for (std::int32_t i = 0; i < count; ++i) c.links.push_back({0, i, 1, i});
  return c;
}

// A pipe of 4 tiles a pass from a kernel's buffer of chip 0 to buffers of chip 1. Ids are multiples of kIdStep.
inline InterChipPipe pipe_between(std::size_t edge, Id number, std::vector<std::vector<Id>> groups) {
  static const netlist::Op op = [] {
    netlist::Op made;
    made.name = "op";
    return made;
  }();
  InterChipPipe out;
  out.pipe.id = number * kIdStep;
  out.pipe.inputs = {(number + 100) * kIdStep};
  out.pipe.mcast_core.assign(groups.size(), {1, {3, 3}});
  out.pipe.outputs = std::move(groups);
  out.transfer.op = &op;
  out.transfer.to = 1;
  out.transfer.source_worker = GridCoord{2, 1};
  out.transfer.tile_bytes = 2080;
  out.transfer.pass_tiles = 4;
  out.transfer.passes = 6;
  out.transfer.edge = edge;
  return out;
}

}  // namespace buda::pipes
