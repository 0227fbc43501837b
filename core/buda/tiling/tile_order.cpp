// Tile orders by op class and operand.
#include <buda/tiling/tile_order.hpp>

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::tiling {

using netlist::Dim;
using netlist::Op;
using netlist::OpClass;
using netlist::OpType;
using netlist::SubOp;
using netlist::SubOperand;
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
FusedInput fused_input(const netlist::FusedOp& fused, std::size_t input) {
  FusedInput found;
  int readers = 0;
  std::int64_t inner_blocks = 1, waiting = 1;
  for (const auto& schedule : fused.schedules) {
    bool collapses = false;
    for (const SubOp& sub : schedule) {
      bool reads = false;
      for (std::size_t i = 0; i < sub.inputs.size(); ++i) {
        const SubOperand& o = sub.inputs[i].operand;
        if (o.kind != SubOperand::Kind::input || static_cast<std::size_t>(o.index) != input) continue;
        reads = true;
        if (found.sub == nullptr) {
          found.sub = &sub;
          found.operand = static_cast<int>(i);
        }
      }
      if (reads) ++readers;
      if (sub.type == OpType::matmul || sub.type == OpType::reduce) {
        collapses = true;
        inner_blocks = std::max(1, sub.attributes.m_k);
      }
    }
    if (readers == 1 && collapses) waiting = inner_blocks;
  }
  if (readers > 1) found.buffered = waiting;
  return found;
}

std::size_t operand_count(const Op& op) {
  const auto& a = op.attributes;
  switch (op_class(op.type)) {
    case OpClass::matmul:
      return 2u + (a.identity ? 1 : 0) + (a.bias ? 1 : 0) + (a.requant || a.dequant ? 1 : 0);
    case OpClass::binary:
    case OpClass::quant:
      return 2;
    case OpClass::unary:
    case OpClass::sfpu:
    case OpClass::reduce:
    case OpClass::ethernet:
    case OpClass::drainer:
      return 1;
    default:
      return op.inputs.size();
  }
}

TileOrder elementwise_order(const Op& op) {
  TileOrder c;
  c.grid = op.grid;
  c.t = op.block.t;
  c.blocks_r = op.block.mblock_m;
  c.blocks_c = op.block.mblock_n;
  c.block_rt = op.block.ublock_rt;
  c.block_ct = op.block.ublock_ct;
  c.order = op.ublock_order;
  return c;
}

namespace {

// A left operand of a matrix product: a grid row shares it; columns of blocks come one after the other.
TileOrder left_operand(const Op& op, std::int64_t blocks_k, std::int64_t block_k) {
  TileOrder c = elementwise_order(op);
  c.axis = MulticastAxis::row;
  c.blocks_c = blocks_k;
  c.block_ct = block_k;
  c.order = UblockOrder::c;
  return c;
}

// A right operand: a grid column shares it; rows of blocks come one after the other.
TileOrder right_operand(const Op& op, std::int64_t blocks_k, std::int64_t block_k) {
  TileOrder c = elementwise_order(op);
  c.axis = MulticastAxis::column;
  c.blocks_r = blocks_k;
  c.block_rt = block_k;
  c.order = UblockOrder::r;
  return c;
}

// `count` tiles in a row for each core, whatever they mean.
TileOrder strip(const Op& op, std::int64_t count) {
  TileOrder c = elementwise_order(op);
  c.t = c.blocks_r = c.block_rt = c.block_ct = 1;
  c.blocks_c = count;
  return c;
}

// Tiles of numbers: a grid row shares them.
TileOrder indices(const Op& op, std::int64_t tiles) {
  TileOrder c = strip(op, tiles);
  c.axis = MulticastAxis::row;
  return c;
}

TileOrder matmul(const Op& op, std::size_t input, const TileShape& arriving) {
  const auto& a = op.attributes;
  if (a.identity) {
    if (input == 0) return strip(op, a.sparse.num_sparse_tiles);
    if (input == 2) return strip(op, a.sparse.num_index_tiles);
    if (input > 2) return elementwise_order(op);
    TileOrder c = right_operand(op, a.m_k, a.u_kt);
    c.t = arriving.t;
    return c;
  }
  if (input > 1) return elementwise_order(op);
  TileOrder c = input == 0 ? left_operand(op, a.m_k, a.u_kt) : right_operand(op, a.m_k, a.u_kt);
  if (a.accumulate) c.t *= std::max(a.z, 1);
  return c;
}

// Rows or columns are collapsed: the side that vanishes has m_k blocks of u_kt tiles.
void reduce_side(TileOrder& c, Dim dim, std::int64_t m_k, std::int64_t u_kt) {
  if (dim == Dim::r) {
    c.blocks_r = m_k;
    c.block_rt = u_kt;
    c.order = UblockOrder::c;
  } else {
    c.blocks_c = m_k;
    c.block_ct = u_kt;
    c.order = UblockOrder::r;
  }
}

TileOrder reduce(const Op& op) {
  TileOrder c = elementwise_order(op);
  if (op.attributes.reduce_dim == Dim::z) {
    c.t *= std::max(op.attributes.z, 1);
    c.order = UblockOrder::r;
  } else {
    reduce_side(c, op.attributes.reduce_dim, op.attributes.m_k, op.attributes.u_kt);
  }
  return c;
}

// Fused matmuls scan their operands the other way round.
TileOrder fused(const Op& op, const FusedInput& user) {
  const SubOp& sub = *user.sub;
  TileOrder c = elementwise_order(op);
  c.blocks_r = sub.block.mblock_m;
  c.blocks_c = sub.block.mblock_n;
  c.block_rt = sub.block.ublock_rt;
  c.block_ct = sub.block.ublock_ct;
  if (sub.type == OpType::matmul && user.operand == 0) {
    c.axis = MulticastAxis::row;
    c.blocks_c = sub.attributes.m_k;
    c.block_ct = sub.attributes.u_kt;
    c.order = UblockOrder::r;
  } else if (sub.type == OpType::matmul) {
    c.axis = MulticastAxis::column;
    c.blocks_r = sub.attributes.m_k;
    c.block_rt = sub.attributes.u_kt;
    c.order = UblockOrder::c;
  } else if (sub.type == OpType::reduce) {
    reduce_side(c, sub.attributes.reduce_dim, sub.attributes.m_k, sub.attributes.u_kt);
  }
  return c;
}

// Concatenation takes each input cut into blocks of the output's size, as many as it has.
TileOrder splice(const Op& op, const TileShape& arriving) {
  TileOrder c = elementwise_order(op);
  auto by_t = op.attributes.granularity == netlist::Granularity::t;
  if (by_t) c.t = arriving.t;
  c.blocks_r = std::max<std::int64_t>(1, arriving.rt / (std::int64_t{op.grid.rows} * c.block_rt));
  c.blocks_c = std::max<std::int64_t>(1, arriving.ct / (std::int64_t{op.grid.cols} * c.block_ct));
  return c;
}

}  // namespace

std::variant<TileOrder, OrderError> tile_order_of(const Op& op, const netlist::FusedOp* fused_op, std::size_t input,
                                                  const TileShape& arriving) {
  const auto& a = op.attributes;
  TileOrder c;
  switch (op_class(op.type)) {
    case OpClass::binary:
    case OpClass::quant:
    case OpClass::unary:
    case OpClass::sfpu:
    case OpClass::ethernet:
    case OpClass::drainer:
      c = elementwise_order(op);
      break;
    case OpClass::buffer:
      c = input == 0 ? elementwise_order(op) : indices(op, a.sparse.num_index_tiles);
      break;
    case OpClass::matmul:
      c = matmul(op, input, arriving);
      break;
    case OpClass::depthwise:
      if (input == 0) {
        c = left_operand(op, std::int64_t{a.m_k} * op.block.mblock_n, op.block.ublock_ct);
      } else {
        c = input == 1 ? right_operand(op, a.m_k, a.u_kt) : elementwise_order(op);
      }
      break;
    case OpClass::reduce:
      c = reduce(op);
      break;
    case OpClass::splice:
      c = splice(op, arriving);
      break;
    case OpClass::topk:
      c = elementwise_order(op);
      c.blocks_c = a.m_k;
      c.block_ct = a.u_kt;
      break;
    case OpClass::fused: {
      FusedInput user = fused_op == nullptr ? FusedInput{} : fused_input(*fused_op, input);
      if (user.sub == nullptr)
        return OrderError{OrderError::Kind::unread, cat("no sub-op of fused op '", a.fused_op_id, "' reads input", input)};
      c = fused(op, user);
      break;
    }
    case OpClass::embedding:
      c = indices(op, arriving.ct);
      break;
    case OpClass::tilizer:
      return OrderError{OrderError::Kind::unsupported, cat("op type ", op_type_name(op.type))};
  }
  if (c.blocks_r < 1 || c.blocks_c < 1 || c.block_rt < 1 || c.block_ct < 1)
    return OrderError{OrderError::Kind::empty_block, cat("the block that it takes has no tiles (", c.blocks_r, 'x', c.blocks_c,
                                                         " blocks of ", c.block_rt, 'x', c.block_ct, " tiles)")};
  c.kernel_broadcast = op.inputs[input].kernel_broadcast;
  return c;
}

TileOrder tile_order_of(const netlist::Queue& queue) {
  TileOrder c;
  c.grid = queue.grid;
  c.t = queue.block.t;
  c.blocks_r = queue.block.mblock_m;
  c.blocks_c = queue.block.mblock_n;
  c.block_rt = queue.block.ublock_rt;
  c.block_ct = queue.block.ublock_ct;
  c.order = queue.ublock_order;
  return c;
}

}  // namespace buda::tiling
