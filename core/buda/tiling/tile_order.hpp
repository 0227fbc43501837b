// Tile order: which tiles of an input each core of an op takes, and in which order; and which cores take the same ones.
#pragma once

#include <buda/netlist/model/fused_op.hpp>
#include <buda/netlist/model/op.hpp>
#include <buda/netlist/model/queue.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

namespace buda::tiling {

// Which cores receive the same tiles: one core, all cores of a grid row, or all of a grid column. Rows and columns are served by a
// multicast each.
enum class MulticastAxis : std::uint8_t { core, row, column };

// One input as its consumer takes it. The tensor after all manipulations is divided among destinations (cores, rows or columns); each takes
// its part t by t, in blocks_r x blocks_c blocks of block_rt x block_ct tiles: blocks in `order`, the tiles of a block row by row.
struct TileOrder {
  MulticastAxis axis = MulticastAxis::core;
  GridShape grid{1, 1};  // of the consumer
  std::int64_t t = 1;
  std::int64_t blocks_r = 1, blocks_c = 1, block_rt = 1, block_ct = 1;
  netlist::UblockOrder order = netlist::UblockOrder::r;
  netlist::KernelBroadcast kernel_broadcast;

  std::int64_t destinations() const {
    return axis == MulticastAxis::core ? grid.volume() : axis == MulticastAxis::row ? grid.rows : grid.cols;
  }
  // Cores that receive the tiles of one destination.
  std::int64_t cores_per_destination() const { return grid.volume() / destinations(); }
  std::int64_t part_rt() const { return blocks_r * block_rt; }
  std::int64_t part_ct() const { return blocks_c * block_ct; }
  std::int64_t tiles_per_t() const { return part_rt() * part_ct(); }
  std::int64_t tiles() const { return t * tiles_per_t(); }  // of one destination, for one input of the op
  // The shape that the tensor must have after its manipulations.
  netlist::TileShape needed() const {
    return {t, part_rt() * (axis == MulticastAxis::column ? 1 : grid.rows), part_ct() * (axis == MulticastAxis::row ? 1 : grid.cols)};
  }
  // The top left tile of a destination's part.
  netlist::TileIndex origin(std::int64_t destination) const;
  friend bool operator==(const TileOrder&, const TileOrder&) = default;
};

// The sub-op of a fused op that is first to read an input; null when none does.
struct FusedInput {
  const netlist::SubOp* sub = nullptr;
  int operand = 0;            // which of its operands
  std::int64_t buffered = 1;  // how many blocks of the input stay in its buffer because a later schedule reads it again
};
FusedInput fused_input(const netlist::FusedOp& fused, std::size_t input);

// How many inputs an op of this kind takes tiles from; its list may not be longer.
std::size_t operand_count(const netlist::Op& op);

// Why an input has no tile order. `reason` is a sentence without full stop.
struct OrderError {
  enum class Kind : std::uint8_t {
    unsupported,  // takes no tiles: rows of a tilizer
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
