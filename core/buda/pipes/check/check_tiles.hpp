// SPDX-License-Identifier: Apache-2.0
// The definitions, tile by tile: where each tile of a tensor is, and in which order ops take them. Internal to the checker, and on purpose
// without the runs, lines and tables with which pipes are made.
#pragma once

#include <buda/netlist/model/netlist.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace buda::pipes {

// A tile in the buffers of a producer (op or queue): the core or buffer, row by row, and its number in the data of one input.
struct TilePlace {
  std::int64_t core = 0;
  std::int64_t number = 0;
  friend bool operator==(const TilePlace&, const TilePlace&) = default;
};
TilePlace place_in(GridShape grid, const netlist::BlockShape& block, netlist::UblockOrder order, netlist::TileIndex tile);

// Which tiles of the arriving tensor one core of an op takes from an input, for one input of the graph, in their order. `ts` divides them
// into equal parts, one per t, for kernel_broadcast_per_t. An empty list for what is not supported.
struct Taken {
  std::vector<netlist::TileIndex> tiles;
  std::int64_t ts = 1;
};
Taken tiles_taken(const netlist::Netlist& netlist, const netlist::Op& op, std::size_t input, const netlist::TileShape& arriving,
                  GridCoord core);
// The same for a buffer of a queue.
Taken tiles_stored(const netlist::Queue& queue, GridCoord buffer);

}  // namespace buda::pipes
