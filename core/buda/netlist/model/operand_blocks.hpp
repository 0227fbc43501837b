// SPDX-License-Identifier: Apache-2.0
// Which part of an operand a core takes.
#pragma once

#include <buda/base/grid.hpp>
#include <buda/netlist/model/tensor_maps.hpp>

#include <cstdint>

#pragma GCC visibility push(default)

namespace buda::netlist {

// Which cores receive the same tiles: one core, all cores of a grid row, or all of a grid column. Rows and columns are served by a
// multicast each.
enum class MulticastAxis : std::uint8_t { core, row, column };

// The part of an operand that a core takes: t by t, blocks_r x blocks_c blocks of block_rt x block_ct tiles.
struct OperandBlocks {
  MulticastAxis axis = MulticastAxis::core;
  std::int64_t t = 1;
  std::int64_t blocks_r = 1, blocks_c = 1, block_rt = 1, block_ct = 1;

  std::int64_t part_rt() const { return blocks_r * block_rt; }
  std::int64_t part_ct() const { return blocks_c * block_ct; }
  std::int64_t block_tiles() const { return block_rt * block_ct; }
  std::int64_t tiles_per_t() const { return part_rt() * part_ct(); }
  // The whole operand of an op on a grid of cores.
  TileShape shape(GridShape grid) const {
    return {t, part_rt() * (axis == MulticastAxis::column ? 1 : grid.rows), part_ct() * (axis == MulticastAxis::row ? 1 : grid.cols)};
  }
  friend bool operator==(const OperandBlocks&, const OperandBlocks&) = default;
};

}  // namespace buda::netlist

#pragma GCC visibility pop
