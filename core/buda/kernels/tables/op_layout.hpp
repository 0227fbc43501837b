// SPDX-License-Identifier: Apache-2.0
// Where an op's tiles go on a core: which tiles of each operand, in which order, and in which places of L1.
#pragma once

#include <buda/arith/op.hpp>
#include <buda/netlist/model/operand_blocks.hpp>
#include <buda/tiling/tile_order.hpp>

#include <kernels/arguments.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace buda::kernels {

// One operand, or the output, as a core of the op goes through it.
struct OperandLayout {
  netlist::OperandBlocks blocks;
  GridShape grid{1, 1};  // of the destinations of different tiles
  netlist::UblockOrder order = netlist::UblockOrder::r;
  std::int64_t tiles = 0;    // of one core
  std::int64_t at_once = 1;  // of an input: that have to be in L1 at the same time
  bool turned = false;       // its tiles arrive as they were before a transpose, and the kernel turns them
  tt::Ring ring = {};

  // Number `number` of those that the core takes or makes.
  netlist::TileIndex tile(GridCoord core, std::int64_t number) const;
};

struct OpLayout {
  std::vector<OperandLayout> inputs;
  OperandLayout output;
  tt::Arguments arguments = {};
  std::int64_t row_messages = 0;     // of an output that leaves as rows of numbers; 0: as tiles
  std::int64_t input_row_tiles = 0;  // of a first input that comes as rows of numbers, the tiles that a message has; 0: as tiles
  std::vector<std::uint32_t> table;  // of steps: words at arguments.table
  std::uint32_t table_words = 0;     // that are there; of a sparse matmul they are the kernel's own
};

// Whether it makes tiles of rows of numbers, which are its first input; those of an embedding are the rows that were looked up.
bool takes_rows(const netlist::Op& op);

// Whether the operands of a depthwise product are so large that its kernel is one that can take its inner dimension in several blocks, with
// sums that wait between them.
bool sums_by_blocks(const netlist::Op& op);

// Where the rings of a core are, and how many slots they have at least because whoever brings and takes tiles wants so; none: as few as
// the kernel needs.
struct L1Part {
  std::uint32_t begin = 0, end = 0;
  std::vector<std::int64_t> input_slots;
  std::int64_t output_slots = 0;
};

// A sentence without a full stop where the op cannot run on a core: its tiles do not come in an order that its kernel takes, or do not fit
// in L1.
std::variant<OpLayout, std::string> layout_of(const arith::OpCall& call, const L1Part& l1);

}  // namespace buda::kernels
