// SPDX-License-Identifier: Apache-2.0
// Single tiles of values: where they lie in cores and buffers, and copies of them.
#pragma once

#include <buda/arith/precision.hpp>
#include <buda/arith/value.hpp>

#include <buda/base/grid.hpp>
#include <buda/netlist/model/block_shape.hpp>
#include <buda/netlist/model/tensor_maps.hpp>

#include <cstdint>

namespace buda::arith {

// The how manieth tile of which core or buffer of a grid, both row by row. Entries, or inputs, follow each other.
struct TilePlace {
  std::int64_t part = 0, number = 0;
};
struct TileOfEntry {
  std::int64_t entry = 0;
  netlist::TileIndex tile;
};
TilePlace tile_place(GridShape grid, const netlist::BlockShape& block, netlist::UblockOrder order, const TileOfEntry& tile);
TileOfEntry tile_at(GridShape grid, const netlist::BlockShape& block, netlist::UblockOrder order, TilePlace place);

// Both values hold integers, or both do not. Transposed, the numbers of the tile are, and tiles of `to` have the sizes of `from` exchanged.
void copy_tile(const Value& from, netlist::TileIndex source, Value& to, netlist::TileIndex target, bool transposed = false);
// Padding, rounded to the value's format, as it is in the device's memory.
void fill_tile(Value& to, netlist::TileIndex target, double number, Mode mode);

}  // namespace buda::arith
