// SPDX-License-Identifier: Apache-2.0
// Blocks and shapes of operands, role by role.
#include <buda/netlist/model/op_shapes.hpp>

#include <algorithm>

namespace buda::netlist {

using ops::Needs;
using ops::OpClassInfo;
using ops::Operand;
using ops::OpVariant;

namespace {

OpVariant variant_of(const Op& op) {
  if (op.attributes.identity) return OpVariant::sparse;
  return op.attributes.reduce_dim == Dim::z ? OpVariant::over_z : OpVariant::plain;
}

// Tiles in a row, whatever they mean.
OperandBlocks strip(std::int64_t tiles, MulticastAxis axis) { return {axis, 1, 1, tiles, 1, 1}; }

void take_inner_rows(OperandBlocks& blocks, const OpAttributes& a) {
  blocks.blocks_r = a.m_k;
  blocks.block_rt = a.u_kt;
}

void take_inner_columns(OperandBlocks& blocks, const OpAttributes& a) {
  blocks.blocks_c = a.m_k;
  blocks.block_ct = a.u_kt;
}

// t of a product's operands: groups of z are summed.
std::int64_t summed_t(const OperandUse& use, std::int64_t t) {
  return use.row->sums_t && use.attributes->accumulate ? t * std::max(use.attributes->z, 1) : t;
}

// Concatenation takes each input cut into blocks of the output's size, as many as it has.
void cut_like_output(OperandBlocks& blocks, GridShape grid, const OpAttributes& a, const TileShape& arriving) {
  if (a.granularity == Granularity::t) blocks.t = arriving.t;
  blocks.blocks_r = std::max<std::int64_t>(1, arriving.rt / (grid.rows * blocks.block_rt));
  blocks.blocks_c = std::max<std::int64_t>(1, arriving.ct / (grid.cols * blocks.block_ct));
}

OperandBlocks blocks_of(const OperandUse& use, std::int64_t t, GridShape grid, const TileShape& arriving) {
  const BlockShape& b = *use.block;
  const OpAttributes& a = *use.attributes;
  OperandBlocks out{MulticastAxis::core, t, b.mblock_m, b.mblock_n, b.ublock_rt, b.ublock_ct};
  switch (use.operand->role) {
    case OperandRole::left:
      out.axis = MulticastAxis::row;
      out.t = summed_t(use, t);
      take_inner_columns(out, a);
      break;
    case OperandRole::depthwise_left:
      out.axis = MulticastAxis::row;
      out.blocks_c *= a.m_k;
      break;
    case OperandRole::right:
      out.axis = MulticastAxis::column;
      out.t = summed_t(use, t);
      take_inner_rows(out, a);
      break;
    case OperandRole::activations:
      out.axis = MulticastAxis::column;
      out.t = arriving.t;
      take_inner_rows(out, a);
      break;
    case OperandRole::sparse_tiles:
      return strip(a.sparse.num_sparse_tiles, MulticastAxis::core);
    case OperandRole::index_tiles:
      return strip(a.sparse.num_index_tiles, MulticastAxis::core);
    case OperandRole::row_indices:
      return strip(a.sparse.num_index_tiles, MulticastAxis::row);
    case OperandRole::row_numbers:
      return strip(arriving.ct, MulticastAxis::row);
    case OperandRole::reduced:
      if (a.reduce_dim == Dim::r) take_inner_rows(out, a);
      if (a.reduce_dim == Dim::c) take_inner_columns(out, a);
      break;
    case OperandRole::reduced_z:
      out.t *= std::max(a.z, 1);
      break;
    case OperandRole::sorted:
      take_inner_columns(out, a);
      break;
    case OperandRole::spliced:
      cut_like_output(out, grid, a, arriving);
      break;
    case OperandRole::elementwise:
    case OperandRole::scales:
    case OperandRole::bias:
    case OperandRole::table:
    case OperandRole::rows:
    case OperandRole::fused:
      break;
  }
  return out;
}

bool has_free_shape(OperandRole role) {
  switch (role) {
    case OperandRole::sparse_tiles:
    case OperandRole::index_tiles:
    case OperandRole::row_indices:
    case OperandRole::row_numbers:
    case OperandRole::spliced:
    case OperandRole::table:
    case OperandRole::rows:
    case OperandRole::fused:
      return true;
    default:
      return false;
  }
}

bool is_needed(const Operand& operand, const OpAttributes& a) {
  switch (operand.needs) {
    case Needs::bias:
      return a.bias;
    case Needs::requant:
      return a.requant || a.dequant;
    case Needs::optional:
      return false;
    case Needs::nothing:
      break;
  }
  return true;
}

// The place of the operand that needs an attribute, after those that are present.
std::optional<std::size_t> input_that(const Op& op, Needs needs) {
  std::size_t input = 0;
  for (const Operand& operand : class_of(op).operands) {
    const bool present = is_needed(operand, op.attributes);
    if (operand.needs == needs) return present ? std::optional(input) : std::nullopt;
    input += present ? 1 : 0;
  }
  return std::nullopt;
}

}  // namespace

const OpClassInfo& class_of(const Op& op) { return ops::class_info(op_class(op.type), variant_of(op)); }
const OpClassInfo& class_of(const SubOp& sub) { return ops::class_info(op_class(sub.type), OpVariant::sub_op); }

const Operand& operand_row(const Op& op, std::size_t input) {
  const auto& operands = class_of(op).operands;
  for (const Operand& operand : operands) {
    const bool absent = operand.needs != Needs::optional && !is_needed(operand, op.attributes);
    if (!absent && input-- == 0) return operand;
  }
  return operands.back();
}

std::optional<std::size_t> operand_that_reads(const SubOp& sub, std::size_t input) {
  for (std::size_t i = 0; i < sub.inputs.size(); ++i) {
    const SubOperand& o = sub.inputs[i].operand;
    if (o.kind == SubOperand::Kind::input && static_cast<std::size_t>(o.index) == input) return i;
  }
  return std::nullopt;
}

OperandUse operand_use(const Op& op, const FusedOp* fused, std::size_t input) {
  const OpClassInfo& row = class_of(op);
  const OperandUse own{&row, &operand_row(op, input), &op.block, &op.attributes};
  if (own.operand->role != OperandRole::fused || fused == nullptr) return own;
  for (const auto& schedule : fused->schedules)
    for (const SubOp& sub : schedule)
      if (auto i = operand_that_reads(sub, input)) return {&class_of(sub), &class_of(sub).operand(*i), &sub.block, &sub.attributes};
  return own;
}

OperandBlocks operand_blocks(const Op& op, const OperandUse& use, const TileShape& arriving) {
  return blocks_of(use, op.block.t, op.grid, arriving);
}

OperandBlocks operand_blocks(const SubOp& sub, std::size_t operand) {
  const OpClassInfo& row = class_of(sub);
  return blocks_of({&row, &row.operand(operand), &sub.block, &sub.attributes}, sub.block.t, {1, 1}, {});
}

std::optional<TileShape> needed_shape(const Op& op, std::size_t input, const FusedOp* fused) {
  const OperandUse use = operand_use(op, fused, input);
  if (has_free_shape(use.operand->role)) return std::nullopt;
  TileShape shape = operand_blocks(op, use, {0, 0, 0}).shape(op.grid);
  // All cores of a row would share it, but each column of cores needs columns of its own. Pipes can do that for one column of cores.
  if (use.operand->role == OperandRole::depthwise_left) shape.ct *= op.grid.cols;
  return shape;
}

InputCount expected_inputs(const Op& op) {
  const OpClassInfo& row = class_of(op);
  InputCount count{0, static_cast<std::size_t>(row.repeats)};
  for (const Operand& operand : row.operands) {
    const bool needed = is_needed(operand, op.attributes);
    count.min += needed ? 1 : 0;
    count.max += needed || operand.needs == Needs::optional ? 1 : 0;
  }
  return count;
}

std::optional<std::size_t> bias_input(const Op& op) { return input_that(op, Needs::bias); }
std::optional<std::size_t> requant_input(const Op& op) { return input_that(op, Needs::requant); }

std::uint64_t entry_bytes(const Queue& queue, std::int32_t tile_alignment) {
  auto tiles = static_cast<std::uint64_t>(queue.block.tiles());
  std::int32_t bytes = queue.layout == QueueLayout::flat ? tile_datum_bytes(queue.format, queue.tile_dim)
                                                         : tile_bytes(queue.format, queue.tile_dim, tile_alignment);
  return tiles * static_cast<std::uint64_t>(bytes);
}

std::uint64_t buffer_bytes(const Queue& queue, std::int32_t tile_alignment, std::int32_t header) {
  return static_cast<std::uint64_t>(header) + static_cast<std::uint64_t>(queue.entries) * entry_bytes(queue, tile_alignment);
}

}  // namespace buda::netlist
