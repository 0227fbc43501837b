// In which order an op takes the tiles of an input, and which cores take the same ones.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/netlist/netlist.hpp>

#include <cstdint>

namespace buda::pipes {

// Who gets a tile: one core, all cores of a grid row, or all of a grid column.
enum class Share : std::uint8_t { core, row, column };

// One input as its consumer wants it. The tensor after all manipulations is cut among destinations (cores, rows or columns), and each
// destination takes its part t after t, in blocks_r x blocks_c blocks of block_rt x block_ct tiles, blocks in `order`, tiles of a block row
// by row.
struct Consumption {
  Share share = Share::core;
  GridShape grid{1, 1};  // of the consumer
  std::int64_t t = 1;
  std::int64_t blocks_r = 1, blocks_c = 1, block_rt = 1, block_ct = 1;
  netlist::UblockOrder order = netlist::UblockOrder::r;
  netlist::KernelBroadcast kernel_broadcast;

  std::int64_t destinations() const { return share == Share::core ? grid.volume() : share == Share::row ? grid.rows : grid.cols; }
  std::int64_t part_rt() const { return blocks_r * block_rt; }
  std::int64_t part_ct() const { return blocks_c * block_ct; }
  std::int64_t tiles_per_t() const { return part_rt() * part_ct(); }
  std::int64_t tiles() const { return t * tiles_per_t(); }  // of one destination and input
  netlist::TileShape needed() const {
    return {t, part_rt() * (share == Share::column ? 1 : grid.rows), part_ct() * (share == Share::row ? 1 : grid.cols)};
  }
  // The top left tile of a destination's part.
  netlist::TileIndex origin(std::int64_t destination) const;
};

// The sub-op of a fused op that is first to read an input; null when none does.
struct FusedInput {
  const netlist::SubOp* sub = nullptr;
  int operand = 0;            // which of its operands
  std::int64_t buffered = 1;  // how many blocks of the input stay in its buffer because a later schedule reads it again
};
FusedInput fused_input(const netlist::FusedOp& fused, std::size_t input);

// The fused op that an op refers to, or null.
const netlist::FusedOp* fused_op_of(const netlist::Netlist& netlist, const netlist::Op& op);

// How many inputs an op of this kind takes tiles from; its list may not be longer.
std::size_t operand_count(const netlist::Op& op);

// How `op` takes its input number `input`. `arriving` is the shape after manipulations; some ops take what comes. What is not supported is
// a diagnostic with the op, the input and the feature.
Result<Consumption> consumption_of(const netlist::Netlist& netlist, const netlist::Op& op, std::size_t input,
                                   const netlist::TileShape& arriving);

// How a queue takes an op's output: buffer by buffer, as it stores it.
Consumption consumption_of(const netlist::Queue& queue);

// A feature that this version does not have, at the place of a field of an op.
Diagnostic not_supported(const netlist::Netlist& netlist, const netlist::Op& op, std::string feature, int input = -1,
                         std::string hint = "");

}  // namespace buda::pipes
