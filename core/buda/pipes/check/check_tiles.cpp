// SPDX-License-Identifier: Apache-2.0
// Tile by tile.
#include <buda/pipes/check/check_tiles.hpp>

namespace buda::pipes {

using netlist::BlockShape;
using netlist::Dim;
using netlist::Op;
using netlist::OpClass;
using netlist::OpType;
using netlist::SubOp;
using netlist::SubOperand;
using netlist::TileIndex;
using netlist::TileShape;
using netlist::UblockOrder;

TilePlace place_in(GridShape grid, const BlockShape& b, UblockOrder order, TileIndex tile) {
  std::int64_t rows_per_core = std::int64_t{b.mblock_m} * b.ublock_rt, cols_per_core = std::int64_t{b.mblock_n} * b.ublock_ct;
  std::int64_t m = tile.r % rows_per_core / b.ublock_rt, n = tile.c % cols_per_core / b.ublock_ct;
  std::int64_t ublock = order == UblockOrder::r ? m * b.mblock_n + n : n * b.mblock_m + m;
  std::int64_t ublock_tiles = std::int64_t{b.ublock_rt} * b.ublock_ct;
  TilePlace p;
  p.core = tile.r / rows_per_core * grid.cols + tile.c / cols_per_core;
  p.number =
      tile.t * b.mblock_m * b.mblock_n * ublock_tiles + ublock * ublock_tiles + tile.r % b.ublock_rt * b.ublock_ct + tile.c % b.ublock_ct;
  return p;
}

namespace {

// Appends a block of h x w tiles whose corner is tile (t, r, c), row by row.
void block(std::vector<TileIndex>& out, std::int64_t t, std::int64_t r, std::int64_t c, std::int64_t h, std::int64_t w) {
  for (std::int64_t i = 0; i < h; ++i)
    for (std::int64_t j = 0; j < w; ++j) out.push_back({t, r + i, c + j});
}

// rows x cols blocks of h x w tiles each, for t below ts, from tile (r0, c0) on; block rows outermost, or block columns.
Taken blocks(std::int64_t ts, std::int64_t r0, std::int64_t c0, std::int64_t rows, std::int64_t cols, std::int64_t h, std::int64_t w,
             bool rows_outermost) {
  Taken out;
  out.ts = ts;
  for (std::int64_t t = 0; t < ts; ++t) {
    if (rows_outermost) {
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < cols; ++j) block(out.tiles, t, r0 + i * h, c0 + j * w, h, w);
    } else {
      for (std::int64_t j = 0; j < cols; ++j)
        for (std::int64_t i = 0; i < rows; ++i) block(out.tiles, t, r0 + i * h, c0 + j * w, h, w);
    }
  }
  return out;
}

Taken like_output(const Op& op, GridCoord core) {
  const BlockShape& b = op.block;
  return blocks(b.t, std::int64_t{core.row} * b.mblock_m * b.ublock_rt, std::int64_t{core.col} * b.mblock_n * b.ublock_ct, b.mblock_m,
                b.mblock_n, b.ublock_rt, b.ublock_ct, op.ublock_order == UblockOrder::r);
}

Taken of_matmul(const Op& op, std::size_t input, const TileShape& arriving, GridCoord core) {
  const BlockShape& b = op.block;
  const auto& a = op.attributes;
  if (a.identity && (input == 0 || input == 2)) {
    std::int64_t count = input == 0 ? a.sparse.num_sparse_tiles : a.sparse.num_index_tiles;
    return blocks(1, core.row, core.col * count, 1, count, 1, 1, true);
  }
  std::int64_t ts = std::int64_t{b.t} * (a.accumulate && a.z > 1 ? a.z : 1);
  if (a.identity && input == 1) ts = arriving.t;
  if (input == 0)  // K by K: of each K block all row blocks
    return blocks(ts, std::int64_t{core.row} * b.mblock_m * b.ublock_rt, 0, b.mblock_m, a.m_k, b.ublock_rt, a.u_kt, false);
  if (input == 1)  // K by K: of each K block all column blocks
    return blocks(ts, 0, std::int64_t{core.col} * b.mblock_n * b.ublock_ct, a.m_k, b.mblock_n, a.u_kt, b.ublock_ct, true);
  return like_output(op, core);
}

Taken of_depthwise(const Op& op, std::size_t input, GridCoord core) {
  const BlockShape& b = op.block;
  const auto& a = op.attributes;
  if (input == 0)
    return blocks(b.t, std::int64_t{core.row} * b.mblock_m * b.ublock_rt, 0, b.mblock_m, std::int64_t{a.m_k} * b.mblock_n, b.ublock_rt,
                  b.ublock_ct, false);
  if (input == 1) return blocks(b.t, 0, std::int64_t{core.col} * b.mblock_n * b.ublock_ct, a.m_k, b.mblock_n, a.u_kt, b.ublock_ct, true);
  return like_output(op, core);
}

// Reductions of rows take column by column of blocks, those of columns row by row.
Taken of_reduce(const BlockShape& b, Dim dim, std::int64_t ts, std::int64_t m_k, std::int64_t u_kt, GridCoord core) {
  if (dim == Dim::r)
    return blocks(ts, core.row * m_k * u_kt, std::int64_t{core.col} * b.mblock_n * b.ublock_ct, m_k, b.mblock_n, u_kt, b.ublock_ct, false);
  return blocks(ts, std::int64_t{core.row} * b.mblock_m * b.ublock_rt, core.col * m_k * u_kt, b.mblock_m, m_k, b.ublock_rt, u_kt, true);
}

Taken of_fused(const netlist::Netlist& netlist, const Op& op, std::size_t input, GridCoord core) {
  for (const auto& fused : netlist.fused_ops) {
    if (fused.id != op.attributes.fused_op_id) continue;
    for (const auto& schedule : fused.schedules)
      for (const SubOp& sub : schedule)
        for (std::size_t i = 0; i < sub.inputs.size(); ++i) {
          const SubOperand& o = sub.inputs[i].operand;
          if (o.kind != SubOperand::Kind::input || o.index != static_cast<std::int32_t>(input)) continue;
          const BlockShape& b = sub.block;
          const auto& a = sub.attributes;
          std::int64_t r0 = std::int64_t{core.row} * b.mblock_m * b.ublock_rt, c0 = std::int64_t{core.col} * b.mblock_n * b.ublock_ct;
          if (sub.type == OpType::matmul && i == 0) return blocks(op.block.t, r0, 0, b.mblock_m, a.m_k, b.ublock_rt, a.u_kt, true);
          if (sub.type == OpType::matmul) return blocks(op.block.t, 0, c0, a.m_k, b.mblock_n, a.u_kt, b.ublock_ct, false);
          if (sub.type == OpType::reduce) return of_reduce(b, a.reduce_dim, op.block.t, a.m_k, a.u_kt, core);
          return blocks(op.block.t, r0, c0, b.mblock_m, b.mblock_n, b.ublock_rt, b.ublock_ct, op.ublock_order == UblockOrder::r);
        }
  }
  return {};
}

Taken of_splice(const Op& op, const TileShape& arriving, GridCoord core) {
  const BlockShape& b = op.block;
  std::int64_t rows = arriving.rt / op.grid.rows / b.ublock_rt, cols = arriving.ct / op.grid.cols / b.ublock_ct;
  std::int64_t ts = op.attributes.granularity == netlist::Granularity::t ? arriving.t : b.t;
  return blocks(ts, core.row * rows * b.ublock_rt, core.col * cols * b.ublock_ct, rows, cols, b.ublock_rt, b.ublock_ct,
                op.ublock_order == UblockOrder::r);
}

}  // namespace

Taken tiles_taken(const netlist::Netlist& netlist, const Op& op, std::size_t input, const TileShape& arriving, GridCoord core) {
  const auto& a = op.attributes;
  switch (op_class(op.type)) {
    case OpClass::binary:
    case OpClass::quant:
    case OpClass::unary:
    case OpClass::sfpu:
    case OpClass::ethernet:
    case OpClass::drainer:
      return like_output(op, core);
    case OpClass::buffer:
      if (input == 0) return like_output(op, core);
      return blocks(1, core.row, 0, 1, a.sparse.num_index_tiles, 1, 1, true);
    case OpClass::matmul:
      return of_matmul(op, input, arriving, core);
    case OpClass::depthwise:
      return of_depthwise(op, input, core);
    case OpClass::reduce:
      if (a.reduce_dim != Dim::z) return of_reduce(op.block, a.reduce_dim, op.block.t, a.m_k, a.u_kt, core);
      return blocks(std::int64_t{op.block.t} * (a.z > 1 ? a.z : 1), std::int64_t{core.row} * op.block.mblock_m * op.block.ublock_rt,
                    std::int64_t{core.col} * op.block.mblock_n * op.block.ublock_ct, op.block.mblock_m, op.block.mblock_n,
                    op.block.ublock_rt, op.block.ublock_ct, true);
    case OpClass::fused:
      return of_fused(netlist, op, input, core);
    case OpClass::splice:
      return of_splice(op, arriving, core);
    case OpClass::embedding:  // the numbers of the rows: a row of tiles for each row of cores
      return blocks(1, core.row, 0, 1, arriving.ct, 1, 1, true);
    case OpClass::topk:
      return blocks(op.block.t, std::int64_t{core.row} * op.block.mblock_m * op.block.ublock_rt, std::int64_t{core.col} * a.m_k * a.u_kt,
                    op.block.mblock_m, a.m_k, op.block.ublock_rt, a.u_kt, op.ublock_order == UblockOrder::r);
    default:
      return {};
  }
}

Taken tiles_stored(const netlist::Queue& q, GridCoord buffer) {
  const BlockShape& b = q.block;
  return blocks(b.t, std::int64_t{buffer.row} * b.mblock_m * b.ublock_rt, std::int64_t{buffer.col} * b.mblock_n * b.ublock_ct, b.mblock_m,
                b.mblock_n, b.ublock_rt, b.ublock_ct, q.ublock_order == UblockOrder::r);
}

}  // namespace buda::pipes
