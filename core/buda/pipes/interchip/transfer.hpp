// SPDX-License-Identifier: Apache-2.0
// Pipes between chips, and what has to be known of their tiles in order to route them.
#pragma once

#include <buda/base/grid.hpp>
#include <buda/netlist/model/op.hpp>
#include <buda/pipes/graph/pipe_graph.hpp>
#include <buda/pipes/interchip/route_allocator.hpp>

#include <cstdint>
#include <optional>

namespace buda::pipes {

// What a pipe transfers, and between which chips.
struct Transfer {
  // Of row pieces: where the receiver's part of the queue's buffer begins, in bytes, and the receiver's buffer, in pieces.
  struct RowPieces {
    std::int64_t offset = 0, buffer = 0;
  };

  const netlist::Op* op = nullptr;  // for which the pipe is made; errors name it
  std::int32_t from = 0, to = 0;    // chips
  bool from_queue = false, to_queue = false;
  bool from_ethernet_core = false;
  std::optional<GridCoord> source_worker;  // one that produces tiles: a relay on it gathers the others; without, any worker does
  std::int32_t tile_bytes = 0;
  std::int64_t pass_tiles = 0;   // tiles of one pass
  std::int64_t passes = 1;       // in the epoch
  std::int64_t input_count = 1;  // inputs of the epoch
  std::size_t edge = 0;          // equal for the pipes of an edge, which may share a route
  std::optional<RowPieces> rows;
  const ChipRoute* fixed_route = nullptr;  // to an op on Ethernet cores, whose input buffer is at the end of the last link
};

// A pipe that must be cut at chip boundaries.
struct InterChipPipe {
  Pipe pipe;
  Transfer transfer;
};

}  // namespace buda::pipes
