// SPDX-License-Identifier: Apache-2.0
// Tile order: which tiles of an input each core of an op takes, and in which order; and which cores take the same ones.
#pragma once

#include <buda/netlist/model/fused_op.hpp>
#include <buda/netlist/model/op.hpp>
#include <buda/netlist/model/operand_blocks.hpp>
#include <buda/netlist/model/queue.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

#pragma GCC visibility push(default)

namespace buda::tiling {

using netlist::MulticastAxis;
using netlist::OperandBlocks;

// One input as its consumer takes it. The tensor after all manipulations is divided among destinations (cores, rows or columns); each takes
// its part t by t, in blocks_r x blocks_c blocks of block_rt x block_ct tiles: blocks in `order`, the tiles of a block row by row.
struct TileOrder : OperandBlocks {
  GridShape grid{1, 1};  // of the consumer
  netlist::UblockOrder order = netlist::UblockOrder::r;
  netlist::KernelBroadcast kernel_broadcast;

  std::int64_t destinations() const {
    return axis == MulticastAxis::core ? grid.volume() : axis == MulticastAxis::row ? grid.rows : grid.cols;
  }
  // Cores that receive the tiles of one destination.
  std::int64_t cores_per_destination() const { return grid.volume() / destinations(); }
  std::int64_t tiles() const { return t * tiles_per_t(); }  // of one destination, for one input of the op
  // Blocks of a row or column, along the scan.
  std::int64_t line_blocks() const { return order == netlist::UblockOrder::r ? blocks_c : blocks_r; }
  // The shape that the tensor must have after its manipulations.
  netlist::TileShape needed() const { return shape(grid); }
  // The top left tile of a destination's part.
  netlist::TileIndex origin(std::int64_t destination) const;
  friend bool operator==(const TileOrder&, const TileOrder&) = default;
};

// How many blocks of an input of a fused op stay in its buffer because a later schedule reads it again.
std::int64_t kept_blocks(const netlist::FusedOp& fused, std::size_t input);

// Why an input has no tile order. `reason` is a sentence without full stop.
struct OrderError {
  enum class Kind : std::uint8_t {
    unsupported,  // takes no tiles, but rows of datums
    unread,       // no sub-op of the fused op reads the input
    empty_block,  // a block without tiles: m_k or u_kt is 0
  };
  Kind kind = Kind::unsupported;
  std::string reason;
};

// How `op` takes input number `input`. `fused`: the fused op it refers to, or null. `arriving`: the shape after manipulations; some ops
// take what comes.
std::variant<TileOrder, OrderError> tile_order_of(const netlist::Op& op, const netlist::FusedOp* fused, std::size_t input,
                                                  const netlist::TileShape& arriving);

// Each core takes the tiles that it makes: the order of an elementwise op's inputs.
TileOrder elementwise_order(const netlist::Op& op);

// How a queue takes an op's output: buffer by buffer, as it stores it.
TileOrder tile_order_of(const netlist::Queue& queue);

}  // namespace buda::tiling

#pragma GCC visibility pop
