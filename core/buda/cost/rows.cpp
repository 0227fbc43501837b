// SPDX-License-Identifier: Apache-2.0
// Choice of rows.
#include <buda/cost/rows.hpp>
#include <buda/ops/table/op_traits.hpp>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace buda::cost {
namespace {

using netlist::Op;

// Of those that fit, the first whose format is nearest.
template <class Row, class Fits>
const Row* nearest(const std::vector<Row>& rows, DataFormat format, Fits fits) {
  const Row* best = nullptr;
  for (const Row& row : rows)
    if (fits(row) && (best == nullptr || format_distance(row.format, format) < format_distance(best->format, format))) best = &row;
  return best;
}

}  // namespace

// Integers go their own ways through the math unit; among formats of a kind the width decides.
int format_distance(DataFormat a, DataFormat b) {
  return (is_integer(a) != is_integer(b) ? 1000 : 0) + std::abs(bits_per_datum(a) - bits_per_datum(b));
}

DataFormat operand_format(const Op& op) {
  if (op.inputs.empty()) return op.out_format;
  if (ops::is_quantization(op.type)) return op.inputs[0].format;
  if (op.attributes.identity && op.inputs.size() > 1) return op.inputs[1].format;
  DataFormat widest = op.inputs[0].format;
  if (!ops::combines_two(op.type) && !ops::multiplies_matrices(op.type)) return widest;
  if (op.inputs.size() > 1 && bits_per_datum(op.inputs[1].format) > bits_per_datum(widest)) widest = op.inputs[1].format;
  return widest;
}

std::string_view row_variant(const Op& op) {
  if (op.attributes.approximate_mode) return "approx";
  if (op.type != netlist::OpType::reduce) return "";
  return op.attributes.reduce_dim == netlist::Dim::r ? "dim_r" : "dim_c";
}

double larger_tiles(const Op& op, DataFormat measured, const device::DeviceDescriptor& device) {
  double ours = tile_bytes(operand_format(op), op.tile_dim, device.tile_alignment);
  return ours / std::max(tile_bytes(measured, {}, device.tile_alignment), 1);
}

const device::KernelCost* kernel_row(const Op& op, const device::CostParameters& cost) {
  std::string_view name = netlist::op_type_name(ops::is_copy_of_tiles(op.type) ? netlist::OpType::nop : op.type);
  std::string_view variant = row_variant(op);
  DataFormat format = operand_format(op);
  auto row = [&](std::string_view v) {
    return nearest(cost.kernels, format, [&](const device::KernelCost& r) { return r.op == name && r.variant == v; });
  };
  const device::KernelCost* found = row(variant);
  return found == nullptr && !variant.empty() ? row("") : found;
}

const device::AccumulationCost* accumulation_row(const Op& op, const device::CostParameters& cost) {
  std::string_view name = netlist::op_type_name(op.type);
  return nearest(cost.accumulations, operand_format(op), [&](const device::AccumulationCost& r) { return r.op == name; });
}

const device::MatmulCost* matmul_row(const Op& op, const device::CostParameters& cost) {
  auto row = [&](bool l1_acc) {
    return nearest(cost.matmuls, operand_format(op), [&](const device::MatmulCost& r) { return r.l1_acc == l1_acc; });
  };
  const device::MatmulCost* found = row(op.attributes.l1_acc);
  return found == nullptr ? row(!op.attributes.l1_acc) : found;
}

const device::SparseCost* sparse_row(const Op& op, const device::CostParameters& cost) {
  return nearest(cost.sparse_matmuls, operand_format(op), [](const device::SparseCost&) { return true; });
}

}  // namespace buda::cost
