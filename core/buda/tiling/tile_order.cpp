// SPDX-License-Identifier: Apache-2.0
// Tile orders by operand.
#include <buda/tiling/tile_order.hpp>

#include <buda/base/text.hpp>
#include <buda/netlist/model/op_shapes.hpp>

#include <algorithm>

namespace buda::tiling {

using netlist::Op;
using netlist::OperandRole;
using netlist::SubOp;
using netlist::TileShape;
using netlist::UblockOrder;

netlist::TileIndex TileOrder::origin(std::int64_t destination) const {
  std::int64_t row = 0, col = 0;
  if (axis == MulticastAxis::core) {
    row = destination / grid.cols;
    col = destination % grid.cols;
  } else if (axis == MulticastAxis::row) {
    row = destination;
  } else {
    col = destination;
  }
  return {0, row * part_rt(), col * part_ct()};
}

// An input that a schedule with a matmul or reduce reads, and a later schedule again, waits in its buffer for all blocks of that schedule.
std::int64_t kept_blocks(const netlist::FusedOp& fused, std::size_t input) {
  int readers = 0;
  std::int64_t inner_blocks = 1, waiting = 1;
  for (const auto& schedule : fused.schedules) {
    bool collapses = false;
    for (const SubOp& sub : schedule) {
      if (operand_that_reads(sub, input)) ++readers;
      if (!class_of(sub).ends_schedule) continue;
      collapses = true;
      inner_blocks = std::max(1, sub.attributes.m_k);
    }
    if (readers == 1 && collapses) waiting = inner_blocks;
  }
  return readers > 1 ? waiting : 1;
}

TileOrder elementwise_order(const Op& op) {
  const auto& b = op.block;
  return {{MulticastAxis::core, b.t, b.mblock_m, b.mblock_n, b.ublock_rt, b.ublock_ct}, op.grid, op.ublock_order, {}};
}

namespace {

UblockOrder scan_of(const Op& op, const netlist::OperandUse& use) {
  switch (use.operand->scan) {
    case ops::Scan::rows:
      return UblockOrder::r;
    case ops::Scan::columns:
      return UblockOrder::c;
    case ops::Scan::across:
      return use.attributes->reduce_dim == netlist::Dim::r ? UblockOrder::c : UblockOrder::r;
    case ops::Scan::output:
      break;
  }
  return op.ublock_order;
}

}  // namespace

std::variant<TileOrder, OrderError> tile_order_of(const Op& op, const netlist::FusedOp* fused_op, std::size_t input,
                                                  const TileShape& arriving) {
  const netlist::OperandUse use = operand_use(op, fused_op, input);
  const OperandRole role = use.operand->role;
  if (role == OperandRole::fused)
    return OrderError{OrderError::Kind::unread, cat("no sub-op of fused op '", op.attributes.fused_op_id, "' reads input", input)};
  if (role == OperandRole::rows || role == OperandRole::table)
    return OrderError{OrderError::Kind::unsupported, cat("op type ", op_type_name(op.type))};
  TileOrder c{operand_blocks(op, use, arriving), op.grid, scan_of(op, use), op.inputs[input].kernel_broadcast};
  if (c.blocks_r < 1 || c.blocks_c < 1 || c.block_rt < 1 || c.block_ct < 1)
    return OrderError{OrderError::Kind::empty_block, cat("the block that it takes has no tiles (", c.blocks_r, 'x', c.blocks_c,
                                                         " blocks of ", c.block_rt, 'x', c.block_ct, " tiles)")};
  return c;
}

TileOrder tile_order_of(const netlist::Queue& queue) {
  const auto& b = queue.block;
  return {{MulticastAxis::core, b.t, b.mblock_m, b.mblock_n, b.ublock_rt, b.ublock_ct}, queue.grid, queue.ublock_order, {}};
}

}  // namespace buda::tiling
