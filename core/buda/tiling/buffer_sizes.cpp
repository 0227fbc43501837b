// SPDX-License-Identifier: Apache-2.0
// Buffer sizes by operand.
#include <buda/tiling/buffer_sizes.hpp>

#include <buda/base/checked.hpp>
#include <buda/netlist/model/op_shapes.hpp>
#include <buda/tiling/flat_rows.hpp>

#include <algorithm>
#include <bit>
#include <limits>

namespace buda::tiling {

using netlist::Op;
using netlist::OperandRole;
using netlist::OperandUse;
using netlist::SubOp;
using ops::Intermediates;
using ops::Passes;
using ops::Portion;
using ops::Reserve;

namespace {

std::int64_t portion_tiles(Portion portion, const TileOrder& order, bool minimal, std::int64_t producer_tiles) {
  switch (portion) {
    case Portion::block:
      return order.block_tiles();
    case Portion::line:
      return order.line_blocks() * order.block_tiles();
    case Portion::line_or_block:
      return (minimal ? 1 : order.line_blocks()) * order.block_tiles();
    case Portion::matrix:
      return order.tiles_per_t();
    case Portion::as_produced:
      break;
  }
  return producer_tiles;
}

// What the buffer must hold at least. `once`: what the kernel takes at once.
std::int64_t min_bytes(const OpContext& context, const OperandUse& use, const TileOrder& order, std::int64_t tile, std::int64_t once) {
  std::int64_t latency = latency_tiles(tile) * tile;
  const auto inputs = static_cast<std::int64_t>(context.op.inputs.size());
  if (class_of(context.op).shares_latency && inputs > 3) latency = latency * 3 / inputs;
  switch (use.operand->reserve) {
    case Reserve::none:
      return 0;
    case Reserve::reread_line:
      return use.block->mblock_n > 1 ? 2 * tile * order.line_blocks() * once : latency;
    case Reserve::matrix:
      return 2 * tile * order.blocks_r * order.blocks_c * once;
    case Reserve::latency:
      break;
  }
  return latency;
}

std::int64_t splice_tiles(const Op& op, std::size_t input, const TileOrder& order) {
  std::int64_t tiles = order.tiles();
  const auto& range = op.inputs[input].splice;
  std::int64_t round = range ? std::int64_t{range->index} + range->stride : 0;
  return round > 0 ? tiles / round * range->length : tiles;
}

// The activations of a sparse product are counted per t of the output, whatever t they come with.
std::int64_t counted_t(const Op& op, OperandRole role, const TileOrder& order) {
  return role == OperandRole::activations ? op.block.t : order.t;
}

// Twice what the kernel takes at once, `min_bytes`, or as much as the netlist asks for.
std::int64_t buffer_tiles(const netlist::OpInput& input, std::int64_t tile, std::int64_t clear, std::int64_t min_bytes) {
  std::int64_t bytes = std::max(min_bytes, 2 * clear * tile), asked = std::int64_t{input.min_buffer_tiles} * tile;
  return (bytes < asked ? align_up(asked, clear * tile) : align_up(bytes, 2 * clear * tile)) / tile;
}

}  // namespace

// TT-Buda counts in tiles of the nearest power of two, and a netlist's buffers have to be the same on both sides.
std::int64_t latency_tiles(std::int64_t tile_bytes) {
  auto lower = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(tile_bytes, 1))));
  std::int64_t nearest = 2 * lower - tile_bytes < tile_bytes - lower ? 2 * lower : lower;
  return std::max<std::int64_t>(kBytesUnderWay / nearest, 1);
}

InputBuffer input_buffer(const OpContext& context, std::size_t input, const TileOrder& order, TileDim dim, std::int64_t producer_tiles) {
  const Op& op = context.op;
  const OperandUse use = operand_use(op, context.fused, input);
  const std::int64_t ts = counted_t(op, use.operand->role, order);
  InputBuffer s;
  s.tile_bytes = tile_bytes(op.inputs[input].format, dim, context.tile_alignment);
  std::int64_t tile = std::max(s.tile_bytes, 1), least = 0;
  if (const auto& broadcast = op.inputs[input].kernel_broadcast; broadcast.tiles > 0) {
    s.clear = s.block = broadcast.tiles;
    s.epoch_tiles = context.input_count * broadcast.tiles * (broadcast.per_t ? ts : 1);
  } else {
    const bool minimal = op.attributes.min_buffer_input == static_cast<std::int32_t>(input);
    const bool by_sub_op = use.row != &class_of(op);
    const std::int64_t kept = by_sub_op ? kept_blocks(*context.fused, input) : 1;
    s.clear = portion_tiles(use.operand->takes, order, minimal, producer_tiles) * kept;
    s.block = portion_tiles(use.operand->filled_by, order, minimal, producer_tiles);
    const bool spliced = use.operand->role == OperandRole::spliced;
    s.epoch_tiles = context.input_count * (spliced ? splice_tiles(op, input, order) : ts * order.tiles_per_t());
    least = min_bytes(context, use, order, tile, s.clear);
  }
  s.size = buffer_tiles(op.inputs[input], tile, std::max<std::int64_t>(s.clear, 1), least);
  return s;
}

// A piece counts like a tile, and as large as one.
InputBuffer input_buffer(const OpContext& context, std::size_t input, const RowCut& cut, TileDim dim) {
  const Op& op = context.op;
  InputBuffer s;
  s.tile_bytes = cut.piece_bytes;
  s.clear = cut.rows_at_once;
  s.block = cut.rows;
  s.epoch_tiles = context.input_count * cut.core_pieces();
  std::int64_t tile = std::max(tile_datum_bytes(op.inputs[input].format, dim), 1);
  s.size = buffer_tiles(op.inputs[input], tile, s.clear, latency_tiles(tile) * tile);
  return s;
}

OutputBuffer output_buffer(const OpContext& context, bool scattered, std::int64_t granularity) {
  const Op& op = context.op;
  const std::int64_t mblock = op.block.mblock_tiles(), single = op.single_buffer_mblocks();
  const std::int64_t epoch_mblocks = context.input_count * op.block.t;
  OutputBuffer s;
  s.scattered = scattered;
  s.tiles_per_input = op.block.tiles();
  s.tile_bytes = op.untilize_output ? tile_datum_bytes(op.out_format, op.tile_dim) + tile_exponent_bytes(op.out_format, op.tile_dim)
                                    : tile_bytes(op.out_format, op.tile_dim, context.tile_alignment);
  if (scattered) {
    // Nothing is gained by a second half when the whole epoch fits into the first.
    bool whole = epoch_mblocks <= single;
    std::int64_t half = whole ? epoch_mblocks : single;
    s.block = granularity;
    s.replicate = half * mblock / granularity;
    s.size = (whole ? half : std::int64_t{op.buf_size_mb}) * mblock / s.replicate;
    s.epoch_tiles = epoch_mblocks * mblock / s.replicate;
  } else {
    s.block = mblock * single;
    s.size = op.untilize_output ? std::int64_t{op.buf_size_mb} * op.block.ublock_tiles() * op.block.mblock_n : op.buf_size_mb * mblock;
    s.epoch_tiles = epoch_mblocks * mblock;
  }
  return s;
}

bool has_intermediates(const Op& op) {
  const auto& a = op.attributes;
  if (op.gradient_op) return true;
  switch (class_of(op).intermediates) {
    case Intermediates::none:
      break;
    case Intermediates::partial_products:
      return a.m_k > 1 || a.bias || a.requant || a.dequant || a.accumulate;
    case Intermediates::partial_blocks:
      return a.m_k > 1 || a.bias;
    case Intermediates::partial_z:
      return a.z > 1;
    case Intermediates::always:
    case Intermediates::sorted_pair:
    case Intermediates::declared:  // as many as the fused op declares, perhaps none
      return true;
  }
  return false;
}

bool shares_output(const Op& op) {
  const Intermediates kind = class_of(op).intermediates;
  return !op.gradient_op && has_intermediates(op) && !op.untilize_output && kind != Intermediates::declared &&
         kind != Intermediates::sorted_pair && op.intermed_format == op.out_format;
}

namespace {

// Intermediate buffers of a fused op hold the ublocks that their sub-ops write; all m_k of them where a matmul reads them once per column.
std::int64_t fused_intermediate_tiles(const netlist::FusedOp& fused, std::int32_t index) {
  using Kind = netlist::SubOperand::Kind;
  std::int64_t tiles = 1;
  for (const auto& schedule : fused.schedules) {
    if (schedule.empty()) continue;
    const SubOp& last = schedule.back();
    bool read_per_column = class_of(last).operand(0).reserve == Reserve::reread_line && last.block.mblock_n > 1 && !last.inputs.empty() &&
                           last.inputs.front().operand.kind == Kind::intermed && last.inputs.front().operand.index == index;
    for (const SubOp& sub : schedule) {
      if (sub.output.kind != Kind::intermed || sub.output.index != index) continue;
      bool all_blocks = read_per_column && sub.type != last.type;
      tiles = std::max(tiles, sub.block.ublock_tiles() * (all_blocks ? last.attributes.m_k : 1));
    }
  }
  return tiles;
}

}  // namespace

std::vector<IntermediateBuffer> intermediate_buffers(const OpContext& context, const OutputBuffer& output) {
  const Op& op = context.op;
  std::vector<IntermediateBuffer> out;
  if (!has_intermediates(op)) return out;
  const std::int64_t mblock = op.block.mblock_tiles();
  auto make = [&](std::int32_t operand, std::int64_t tiles, DataFormat format, std::int64_t block) {
    std::int64_t epoch = op.gradient_op ? block : context.input_count * block;
    out.push_back({operand, tiles, block, epoch, tile_bytes(format, op.tile_dim, context.tile_alignment)});
  };
  switch (class_of(op).intermediates) {
    case Intermediates::declared: {
      for (std::int32_t i = context.fused == nullptr ? -1 : context.fused->intermediates - 1; i >= 0; --i)
        make(24 + i, fused_intermediate_tiles(*context.fused, i), op.intermed_format, mblock);
      break;
    }
    case Intermediates::sorted_pair: {
      std::int64_t block = std::int64_t{op.block.mblock_m} * op.attributes.m_k * op.attributes.u_kt * op.block.ublock_rt;
      for (std::int32_t i = 1; i >= 0; --i)
        make(24 + i, block, op.inputs.size() > 1 ? op.inputs[static_cast<std::size_t>(i)].format : op.intermed_format, block);
      break;
    }
    default: {
      std::int64_t tiles = op.gradient_op ? op.block.t * mblock : mblock;
      if (shares_output(op)) tiles = output.total_tiles();
      make(24, tiles, op.intermed_format, mblock);
    }
  }
  return out;
}

std::int64_t staging_tiles(std::int64_t buffer_tiles, std::int64_t clear_tiles, std::int64_t tile_bytes) {
  return std::max<std::int64_t>(std::min(buffer_tiles / 2, std::max(clear_tiles, latency_tiles(tile_bytes))), 1);
}

namespace {

// What a file says of passes that are known at run time only.
constexpr std::int32_t kUnknownPasses = std::numeric_limits<std::uint16_t>::max() - 2;

std::int32_t passes_for_sums(Passes passes, const netlist::OpAttributes& a) {
  switch (passes) {
    case Passes::once:
      break;
    case Passes::inner_blocks:
      return a.m_k;
    case Passes::summed_inner_blocks:
      return a.m_k * (a.accumulate ? std::max(a.z, 1) : 1);
    case Passes::z:
      return a.z;
    case Passes::unknown:
      return kUnknownPasses;
  }
  return 1;
}

}  // namespace

std::int32_t passes_over_output(const Op& op) {
  const auto& a = op.attributes;
  std::int32_t passes = passes_for_sums(class_of(op).passes, a);
  if (a.bias) {
    if (op.acc_format != DataFormat::int32) ++passes;
    if (a.requant || a.dequant) ++passes;
  }
  return passes;
}

}  // namespace buda::tiling
