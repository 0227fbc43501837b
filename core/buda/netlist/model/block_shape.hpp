// SPDX-License-Identifier: Apache-2.0
// How a tensor of tiles is cut into grids of blocks.
#pragma once

#include <buda/base/grid.hpp>
#include <buda/netlist/model/tensor_maps.hpp>

#include <cstdint>

#pragma GCC visibility push(default)

namespace buda::netlist {

// Shape of the data in one buffer or core, in tiles: t mblocks in sequence, each m x n ublocks of rt x ct tiles. All at least 1.
struct BlockShape {
  std::int32_t t = 1;
  std::int32_t mblock_m = 1;
  std::int32_t mblock_n = 1;
  std::int32_t ublock_rt = 1;
  std::int32_t ublock_ct = 1;
  std::int64_t ublock_tiles() const { return std::int64_t{ublock_rt} * ublock_ct; }
  std::int64_t mblock_tiles() const { return ublock_tiles() * mblock_m * mblock_n; }
  std::int64_t tiles() const { return mblock_tiles() * t; }
  friend bool operator==(const BlockShape&, const BlockShape&) = default;
};

// The tensor that a grid of such blocks holds.
inline TileShape tensor_shape(GridShape grid, const BlockShape& b) {
  return {b.t, std::int64_t{grid.rows} * b.mblock_m * b.ublock_rt, std::int64_t{grid.cols} * b.mblock_n * b.ublock_ct};
}

}  // namespace buda::netlist

#pragma GCC visibility pop
