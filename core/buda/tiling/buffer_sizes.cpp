// Buffer sizes by op class and operand.
#include <buda/tiling/buffer_sizes.hpp>

#include <buda/base/checked.hpp>

#include <algorithm>
#include <bit>
#include <limits>

namespace buda::tiling {

using netlist::Dim;
using netlist::Op;
using netlist::OpClass;
using netlist::OpType;
using netlist::SubOp;

namespace {

bool minimal(const Op& op, int input) { return op.attributes.min_buffer_input == input; }

FusedInput user_of(const OpContext& c, std::size_t input) { return c.fused == nullptr ? FusedInput{} : fused_input(*c.fused, input); }

// Tiles that the kernel waits for, reads and frees together.
std::int64_t clear_tiles(const OpContext& context, std::size_t input) {
  const Op& op = context.op;
  const auto& a = op.attributes;
  const auto& b = op.block;
  const std::int64_t ublock = b.ublock_tiles();
  const std::int64_t u_kt = a.u_kt, rt = b.ublock_rt, ct = b.ublock_ct;
  if (op.inputs[input].kernel_broadcast.tiles > 0) return op.inputs[input].kernel_broadcast.tiles;
  switch (op_class(op.type)) {
    case OpClass::matmul:
      if (a.identity) {
        if (input == 0) return a.sparse.num_sparse_tiles;
        return input == 1 ? b.mblock_n * ct * u_kt : input == 2 ? 1 : ublock;
      }
      if (input == 0) return (minimal(op, 0) ? 1 : b.mblock_m) * rt * u_kt;
      return input == 1 ? (minimal(op, 1) ? 1 : b.mblock_n) * ct * u_kt : ublock;
    case OpClass::depthwise:
      if (input == 0) return (minimal(op, 0) ? 1 : b.mblock_m) * ublock;
      return input == 1 ? (minimal(op, 1) ? 1 : b.mblock_n) * ct * u_kt : ublock;
    case OpClass::reduce:
      return a.reduce_dim == Dim::r ? ct * u_kt : a.reduce_dim == Dim::c ? rt * u_kt : ublock;
    case OpClass::topk:
      return rt * u_kt;
    case OpClass::embedding:
      return 1;
    case OpClass::buffer:
      return input == 0 ? ublock : 1;
    case OpClass::fused: {
      FusedInput user = user_of(context, input);
      if (user.sub == nullptr) return ublock;
      const SubOp& s = *user.sub;
      std::int64_t inner = s.attributes.u_kt, tiles = s.block.ublock_tiles();
      if (s.type == OpType::matmul) tiles = user.operand == 0 ? s.block.ublock_rt * inner : inner * s.block.ublock_ct;
      if (s.type == OpType::reduce) tiles = inner * (s.attributes.reduce_dim == Dim::r ? s.block.ublock_ct : s.block.ublock_rt);
      return tiles * user.buffered;
    }
    default:
      return ublock;
  }
}

// The block that input buffers are filled with, as the file tells it.
std::int64_t block_tiles(const OpContext& context, std::size_t input, std::int64_t clear, const TileOrder& order,
                         std::int64_t producer_tiles) {
  const Op& op = context.op;
  const auto& a = op.attributes;
  const auto& b = op.block;
  if (op.inputs[input].kernel_broadcast.tiles > 0) return clear;
  switch (op_class(op.type)) {
    case OpClass::matmul:
      if (a.identity) return input == 2 ? a.sparse.num_index_tiles : input > 2 ? b.mblock_tiles() : clear;
      return input < 2 ? clear : b.mblock_tiles();
    case OpClass::depthwise:
      if (input == 0) return b.mblock_m * b.ublock_tiles();
      return input == 1 ? std::int64_t{b.mblock_n} * b.ublock_ct * a.u_kt : b.mblock_tiles();
    case OpClass::reduce:
      return a.reduce_dim == Dim::z ? b.mblock_tiles() : clear;
    case OpClass::topk:
      return clear;
    case OpClass::splice:
      return producer_tiles;
    case OpClass::fused: {
      FusedInput user = user_of(context, input);
      if (user.sub == nullptr) return order.tiles_per_t();
      std::int64_t once = clear / user.buffered;
      if (user.sub->type == OpType::matmul) return user.operand == 0 ? once : user.sub->attributes.m_k * once;
      return user.sub->type == OpType::reduce ? once : order.tiles_per_t();
    }
    default:
      return order.tiles_per_t();
  }
}

// What the buffer must hold at least. An op of more than three inputs shares the room of three among them.
std::int64_t min_bytes(const OpContext& context, std::size_t input, std::int64_t tile, std::int64_t clear) {
  const Op& op = context.op;
  std::int64_t hidden = latency_tiles(tile) * tile;
  OpClass kind = op_class(op.type);
  if (op.inputs[input].kernel_broadcast.tiles > 0) return 0;
  if (kind == OpClass::matmul && op.attributes.identity && (input == 0 || input == 2)) return 0;
  if (kind != OpClass::fused && kind != OpClass::splice) return hidden;
  auto inputs = static_cast<std::int64_t>(op.inputs.size());
  std::int64_t bytes = inputs > 3 ? hidden * 3 / inputs : hidden;
  if (kind == OpClass::splice) return bytes;
  FusedInput user = user_of(context, input);
  if (user.sub == nullptr || user.sub->type != OpType::matmul) return bytes;
  // The right operand of a fused matmul stays while the left one passes by, unless the result is one column of blocks.
  std::int64_t m_k = user.sub->attributes.m_k, n = user.sub->block.mblock_n;
  if (user.operand == 1) return 2 * tile * m_k * n * clear;
  return n > 1 ? 2 * tile * m_k * clear : bytes;
}

std::int64_t splice_tiles(const Op& op, std::size_t input, const TileOrder& order) {
  std::int64_t tiles = order.tiles();
  const auto& range = op.inputs[input].splice;
  std::int64_t round = range ? std::int64_t{range->index} + range->stride : 0;
  return round > 0 ? tiles / round * range->length : tiles;
}

std::int64_t epoch_tiles(const OpContext& context, std::size_t input, std::int64_t clear, const TileOrder& order) {
  const Op& op = context.op;
  // The activations of a sparse product are counted per t of the output, whatever t they come with.
  const std::int64_t ts = op.attributes.identity && input == 1 ? op.block.t : order.t;
  const auto& broadcast = op.inputs[input].kernel_broadcast;
  if (broadcast.tiles > 0) return context.input_count * clear * (broadcast.per_t ? ts : 1);
  if (op_class(op.type) == OpClass::splice) return context.input_count * splice_tiles(op, input, order);
  return context.input_count * ts * order.tiles_per_t();
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
  return std::max<std::int64_t>(kLatencyBytes / nearest, 1);
}

InputBuffer input_buffer(const OpContext& context, std::size_t input, const TileOrder& order, TileDim dim, std::int64_t producer_tiles) {
  const Op& op = context.op;
  InputBuffer s;
  s.tile_bytes = tile_bytes(op.inputs[input].format, dim, context.tile_alignment);
  s.clear = clear_tiles(context, input);
  s.block = block_tiles(context, input, s.clear, order, producer_tiles);
  s.epoch_tiles = epoch_tiles(context, input, s.clear, order);
  std::int64_t tile = std::max(s.tile_bytes, 1);
  s.size = buffer_tiles(op.inputs[input], tile, std::max<std::int64_t>(s.clear, 1), min_bytes(context, input, tile, s.clear));
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
  switch (op_class(op.type)) {
    case OpClass::matmul:
      return a.identity || a.bias || op.gradient_op || a.requant || a.dequant || a.m_k > 1 || a.accumulate;
    case OpClass::depthwise:
      return a.m_k > 1 || a.bias || op.gradient_op;
    case OpClass::topk:
      return true;
    case OpClass::reduce:
      return (a.reduce_dim == Dim::z && a.z > 1) || op.gradient_op;
    case OpClass::fused:
      return true;  // as many as the fused op declares, perhaps none
    default:
      return op.gradient_op;
  }
}

bool shares_output(const Op& op) {
  OpClass kind = op_class(op.type);
  return !op.gradient_op && kind != OpClass::drainer && has_intermediates(op) && !op.untilize_output && kind != OpClass::fused &&
         kind != OpClass::topk && op.intermed_format == op.out_format;
}

namespace {

// Intermediate buffers of a fused op hold the ublocks that their sub-ops write; all m_k of them where a matmul reads them once per column.
std::int64_t fused_intermediate_tiles(const netlist::FusedOp& fused, std::int32_t index) {
  using Kind = netlist::SubOperand::Kind;
  std::int64_t tiles = 1;
  for (const auto& schedule : fused.schedules) {
    if (schedule.empty()) continue;
    const SubOp& last = schedule.back();
    bool read_per_column = last.type == OpType::matmul && last.block.mblock_n > 1 && !last.inputs.empty() &&
                           last.inputs.front().operand.kind == Kind::intermed && last.inputs.front().operand.index == index;
    for (const SubOp& sub : schedule) {
      if (sub.output.kind != Kind::intermed || sub.output.index != index) continue;
      bool all_blocks = read_per_column && sub.type != OpType::matmul;
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
  switch (op_class(op.type)) {
    case OpClass::fused: {
      for (std::int32_t i = context.fused == nullptr ? -1 : context.fused->intermediates - 1; i >= 0; --i)
        make(24 + i, fused_intermediate_tiles(*context.fused, i), op.intermed_format, mblock);
      break;
    }
    case OpClass::topk: {
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

std::int32_t passes_over_output(const Op& op) {
  const auto& a = op.attributes;
  std::int32_t passes = 1;
  switch (op_class(op.type)) {
    case OpClass::matmul:
      // A sparse product's passes are known at run time only.
      passes = a.identity ? std::numeric_limits<std::uint16_t>::max() - 2 : a.m_k * (a.accumulate ? std::max(a.z, 1) : 1);
      break;
    case OpClass::reduce:
      passes = a.z;
      break;
    case OpClass::depthwise:
      passes = a.m_k;
      break;
    default:
      break;
  }
  if (a.bias) {
    if (op.acc_format != DataFormat::int32) ++passes;
    if (a.requant || a.dequant) ++passes;
  }
  return passes;
}

}  // namespace buda::tiling
