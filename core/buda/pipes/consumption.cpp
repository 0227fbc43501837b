// The table of consumers: op by op, operand by operand.
#include <buda/pipes/consumption.hpp>

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::pipes {

using netlist::Dim;
using netlist::Netlist;
using netlist::Op;
using netlist::OpClass;
using netlist::OpType;
using netlist::SubOp;
using netlist::SubOperand;
using netlist::TileShape;
using netlist::UblockOrder;

netlist::TileIndex Consumption::origin(std::int64_t destination) const {
  std::int64_t row = 0, col = 0;
  if (share == Share::core) {
    row = destination / grid.cols;
    col = destination % grid.cols;
  } else if (share == Share::row) {
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

const netlist::FusedOp* fused_op_of(const Netlist& netlist, const Op& op) {
  for (const auto& f : netlist.fused_ops)
    if (f.id == op.attributes.fused_op_id) return &f;
  return nullptr;
}

Diagnostic not_supported(const Netlist& netlist, const Op& op, std::string feature, int input, std::string hint) {
  netlist::Place place = input < 0 ? op.places.self : op.places.of(netlist::Field::inputs);
  std::string operand = input < 0 ? "" : cat(", input ", input);
  Diagnostic d = input_error("PP001", netlist.loc(place), cat("op '", op.name, "'", operand, ": ", feature, " is not supported yet"));
  d.node = op.name;
  d.hint = std::move(hint);
  d.data = {{"feature", std::move(feature)}};
  if (input >= 0) d.data.emplace_back("input", cat(input));
  return d;
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

namespace {

// Like the output: each core its own blocks.
Consumption elementwise(const Op& op) {
  Consumption c;
  c.grid = op.grid;
  c.t = op.block.t;
  c.blocks_r = op.block.mblock_m;
  c.blocks_c = op.block.mblock_n;
  c.block_rt = op.block.ublock_rt;
  c.block_ct = op.block.ublock_ct;
  c.order = op.ublock_order;
  return c;
}

// A left operand of a matrix product: a grid row shares it; columns of blocks come one after the other.
Consumption left_operand(const Op& op, std::int64_t blocks_k, std::int64_t block_k) {
  Consumption c = elementwise(op);
  c.share = Share::row;
  c.blocks_c = blocks_k;
  c.block_ct = block_k;
  c.order = UblockOrder::c;
  return c;
}

// A right operand: a grid column shares it; rows of blocks come one after the other.
Consumption right_operand(const Op& op, std::int64_t blocks_k, std::int64_t block_k) {
  Consumption c = elementwise(op);
  c.share = Share::column;
  c.blocks_r = blocks_k;
  c.block_rt = block_k;
  c.order = UblockOrder::r;
  return c;
}

// `count` tiles in a row for each core, whatever they mean.
Consumption strip(const Op& op, std::int64_t count) {
  Consumption c = elementwise(op);
  c.t = c.blocks_r = c.block_rt = c.block_ct = 1;
  c.blocks_c = count;
  return c;
}

// Tiles of numbers: a grid row shares them.
Consumption indices(const Op& op, std::int64_t tiles) {
  Consumption c = strip(op, tiles);
  c.share = Share::row;
  return c;
}

Consumption matmul(const Op& op, std::size_t input, const TileShape& arriving) {
  const auto& a = op.attributes;
  if (a.identity) {
    if (input == 0) return strip(op, a.sparse.num_sparse_tiles);
    if (input == 2) return strip(op, a.sparse.num_index_tiles);
    if (input > 2) return elementwise(op);
    Consumption c = right_operand(op, a.m_k, a.u_kt);
    c.t = arriving.t;
    return c;
  }
  if (input > 1) return elementwise(op);
  Consumption c = input == 0 ? left_operand(op, a.m_k, a.u_kt) : right_operand(op, a.m_k, a.u_kt);
  if (a.accumulate) c.t *= std::max(a.z, 1);
  return c;
}

// Rows or columns are collapsed: the side that vanishes has m_k blocks of u_kt tiles.
void reduce_side(Consumption& c, Dim dim, std::int64_t m_k, std::int64_t u_kt) {
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

Consumption reduce(const Op& op) {
  Consumption c = elementwise(op);
  if (op.attributes.reduce_dim == Dim::z) {
    c.t *= std::max(op.attributes.z, 1);
    c.order = UblockOrder::r;
  } else {
    reduce_side(c, op.attributes.reduce_dim, op.attributes.m_k, op.attributes.u_kt);
  }
  return c;
}

// Fused matmuls scan their operands the other way round.
Consumption fused(const Op& op, const FusedInput& user) {
  const SubOp& sub = *user.sub;
  Consumption c = elementwise(op);
  c.blocks_r = sub.block.mblock_m;
  c.blocks_c = sub.block.mblock_n;
  c.block_rt = sub.block.ublock_rt;
  c.block_ct = sub.block.ublock_ct;
  if (sub.type == OpType::matmul && user.operand == 0) {
    c.share = Share::row;
    c.blocks_c = sub.attributes.m_k;
    c.block_ct = sub.attributes.u_kt;
    c.order = UblockOrder::r;
  } else if (sub.type == OpType::matmul) {
    c.share = Share::column;
    c.blocks_r = sub.attributes.m_k;
    c.block_rt = sub.attributes.u_kt;
    c.order = UblockOrder::c;
  } else if (sub.type == OpType::reduce) {
    reduce_side(c, sub.attributes.reduce_dim, sub.attributes.m_k, sub.attributes.u_kt);
  }
  return c;
}

// Concatenation takes each input cut into blocks of the output's size, as many as it has.
Consumption splice(const Op& op, const TileShape& arriving) {
  Consumption c = elementwise(op);
  auto by_t = op.attributes.granularity == netlist::Granularity::t;
  if (by_t) c.t = arriving.t;
  c.blocks_r = std::max<std::int64_t>(1, arriving.rt / (std::int64_t{op.grid.rows} * c.block_rt));
  c.blocks_c = std::max<std::int64_t>(1, arriving.ct / (std::int64_t{op.grid.cols} * c.block_ct));
  return c;
}

}  // namespace

Result<Consumption> consumption_of(const Netlist& netlist, const Op& op, std::size_t input, const TileShape& arriving) {
  const auto& a = op.attributes;
  int number = static_cast<int>(input);
  Consumption c;
  switch (op_class(op.type)) {
    case OpClass::binary:
    case OpClass::quant:
    case OpClass::unary:
    case OpClass::sfpu:
    case OpClass::ethernet:
    case OpClass::drainer:
      c = elementwise(op);
      break;
    case OpClass::buffer:
      c = input == 0 ? elementwise(op) : indices(op, a.sparse.num_index_tiles);
      break;
    case OpClass::matmul:
      c = matmul(op, input, arriving);
      break;
    case OpClass::depthwise:
      if (input == 0) {
        c = left_operand(op, std::int64_t{a.m_k} * op.block.mblock_n, op.block.ublock_ct);
      } else {
        c = input == 1 ? right_operand(op, a.m_k, a.u_kt) : elementwise(op);
      }
      break;
    case OpClass::reduce:
      c = reduce(op);
      break;
    case OpClass::splice:
      c = splice(op, arriving);
      break;
    case OpClass::topk:
      c = elementwise(op);
      c.blocks_c = a.m_k;
      c.block_ct = a.u_kt;
      break;
    case OpClass::fused: {
      const netlist::FusedOp* f = fused_op_of(netlist, op);
      FusedInput user = f == nullptr ? FusedInput{} : fused_input(*f, input);
      if (user.sub == nullptr) {
        Diagnostic d = input_error("PP002", netlist.loc(op.places.of(netlist::Field::inputs)),
                                   cat("op '", op.name, "': no sub-op of fused op '", a.fused_op_id, "' reads input", input));
        d.node = op.name;
        return d;
      }
      c = fused(op, user);
      break;
    }
    case OpClass::embedding:
      c = indices(op, arriving.ct);
      break;
    case OpClass::tilizer:
      return not_supported(netlist, op, cat("op type ", op_type_name(op.type)), number);
  }
  if (c.blocks_r < 1 || c.blocks_c < 1 || c.block_rt < 1 || c.block_ct < 1) {
    Diagnostic d = input_error("PP003", netlist.loc(op.places.of(netlist::Field::attributes)),
                               cat("op '", op.name, "', input ", input, ": the block that it takes has no tiles (", c.blocks_r, 'x',
                                   c.blocks_c, " blocks of ", c.block_rt, 'x', c.block_ct, " tiles)"));
    d.node = op.name;
    d.hint = "attributes m_k and u_kt give the inner dimension in blocks and tiles; both must be at least 1";
    return d;
  }
  c.kernel_broadcast = op.inputs[input].kernel_broadcast;
  return c;
}

Consumption consumption_of(const netlist::Queue& queue) {
  Consumption c;
  c.grid = queue.grid;
  c.t = queue.block.t;
  c.blocks_r = queue.block.mblock_m;
  c.blocks_c = queue.block.mblock_n;
  c.block_rt = queue.block.ublock_rt;
  c.block_ct = queue.block.ublock_ct;
  c.order = queue.ublock_order;
  return c;
}

}  // namespace buda::pipes
