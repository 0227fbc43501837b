// Shapes of inputs, op class by op class.
#include <buda/netlist/model/op_shapes.hpp>

namespace buda::netlist {
namespace {

// t of a matmul's operands: groups of z are summed.
std::int64_t summed_t(const Op& op) {
  return op.attributes.accumulate && op.attributes.z > 0 ? std::int64_t{op.block.t} * op.attributes.z : op.block.t;
}

TileShape reduce_input(const Op& op, GridShape grid, const BlockShape& block, const OpAttributes& a) {
  TileShape s = tensor_shape(grid, block);
  s.t = op.block.t;
  std::int64_t inner = std::int64_t{a.m_k} * a.u_kt;
  if (a.reduce_dim == Dim::r && inner > 0) s.rt = grid.rows * inner;
  if (a.reduce_dim == Dim::c && inner > 0) s.ct = grid.cols * inner;
  if (a.reduce_dim == Dim::z) s.t *= a.z > 0 ? a.z : 1;
  return s;
}

std::optional<TileShape> matmul_shape(const Op& op, std::size_t input) {
  TileShape out = op.shape();
  switch (input_role(op, input)) {
    case InputRole::matmul_row:
      return TileShape{summed_t(op), out.rt, op.inner_tiles()};
    case InputRole::matmul_column:
      // The activations of a sparse matmul have any t: the encoding picks from all of them.
      return TileShape{op.attributes.identity ? 0 : summed_t(op), op.inner_tiles(), out.ct};
    case InputRole::elementwise:
    case InputRole::scalars:
      return out;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<std::size_t> bias_input(const Op& op) {
  if (!op.attributes.bias) return std::nullopt;
  return op.attributes.identity ? 3 : 2;
}

std::optional<std::size_t> requant_input(const Op& op) {
  if (!op.attributes.requant && !op.attributes.dequant) return std::nullopt;
  std::size_t operands = op.attributes.identity ? 3 : 2;
  return operands + (op.attributes.bias ? 1 : 0);
}

std::size_t expected_inputs(const Op& op) {
  if (op_class(op.type) == OpClass::matmul)
    return (op.attributes.identity ? 3u : 2u) + (op.attributes.bias ? 1u : 0u) + (op.attributes.requant || op.attributes.dequant ? 1u : 0u);
  if (op_class(op.type) == OpClass::depthwise) return op.attributes.bias ? 3 : 2;
  return static_cast<std::size_t>(info(op.type).least_inputs);
}

InputRole input_role(const Op& op, std::size_t input) {
  switch (op_class(op.type)) {
    case OpClass::matmul:
      if (op.attributes.identity && input == 0) return InputRole::sparse_tiles;
      if (op.attributes.identity && input == 2) return InputRole::indices;
      if (input == requant_input(op)) return InputRole::scalars;
      break;
    case OpClass::depthwise:
      break;
    case OpClass::quant:
      return input == 1 ? InputRole::scalars : InputRole::elementwise;
    case OpClass::embedding:
      return input == 0 ? InputRole::table : InputRole::indices;
    case OpClass::tilizer:
      return InputRole::flat;
    case OpClass::splice:
      return InputRole::splice;
    case OpClass::buffer:
      return input == 0 ? InputRole::matmul_column : InputRole::indices;
    default:
      return InputRole::elementwise;
  }
  if (input == 0) return InputRole::matmul_row;
  return input == 1 ? InputRole::matmul_column : InputRole::elementwise;
}

std::optional<TileShape> needed_shape(const Op& op, std::size_t input) {
  switch (op_class(op.type)) {
    case OpClass::binary:
    case OpClass::quant:
    case OpClass::unary:
    case OpClass::sfpu:
    case OpClass::ethernet:
      return op.shape();
    case OpClass::matmul:
      return matmul_shape(op, input);
    case OpClass::depthwise: {
      TileShape out = op.shape();
      std::int64_t blocks = op.attributes.m_k;
      if (input == 0) return TileShape{out.t, out.rt, out.ct * blocks};
      if (input == 1) return TileShape{out.t, op.inner_tiles(), out.ct};
      return out;
    }
    case OpClass::reduce:
      return reduce_input(op, op.grid, op.block, op.attributes);
    case OpClass::topk: {
      TileShape s = op.shape();
      s.ct = op.grid.cols * op.inner_tiles();
      return s;
    }
    default:
      return std::nullopt;
  }
}

std::optional<TileShape> fused_input_shape(const Op& op, const FusedOp& fused, std::size_t input) {
  for (const auto& schedule : fused.schedules) {
    for (const SubOp& sub : schedule) {
      for (std::size_t i = 0; i < sub.inputs.size(); ++i) {
        const SubOperand& operand = sub.inputs[i].operand;
        if (operand.kind != SubOperand::Kind::input || static_cast<std::size_t>(operand.index) != input) continue;
        TileShape s = tensor_shape(op.grid, sub.block);
        s.t = op.block.t;
        if (op_class(sub.type) == OpClass::reduce) return reduce_input(op, op.grid, sub.block, sub.attributes);
        if (op_class(sub.type) == OpClass::matmul) {
          std::int64_t inner = std::int64_t{sub.attributes.m_k} * sub.attributes.u_kt;
          if (i == 0) s.ct = inner;
          if (i == 1) s.rt = inner;
        }
        return s;
      }
    }
  }
  return std::nullopt;
}

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
