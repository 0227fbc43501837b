// SPDX-License-Identifier: Apache-2.0
// The formula and the row of each class, and the default where a device has none.
#include <buda/cost/single_op.hpp>

#include <buda/cost/formulas.hpp>
#include <buda/cost/rows.hpp>
#include <buda/netlist/model/op_shapes.hpp>

#include <algorithm>
#include <utility>

namespace buda::cost {
namespace {

using device::DeviceDescriptor;
using netlist::Op;
using netlist::OpType;

template <class Row>
KernelCycles based_on(KernelCycles cycles, const Row& row, const Op& op) {
  cycles.basis = !row.origin.measured()                                 ? Basis::assumed
                 : format_distance(row.format, operand_format(op)) == 0 ? Basis::measured
                                                                        : Basis::other_format;
  cycles.error = row.origin.error ? row.origin.error->mean : 0;
  return cycles;
}

KernelCycles copy_cycles(Op op, const DeviceDescriptor& device) {
  op.type = OpType::nop;
  KernelCycles out;
  if (const auto* row = kernel_row(op, device.cost)) out = elementwise_cycles(op, *row, larger_tiles(op, row->format, device));
  out.basis = Basis::copy;
  return out;
}

// What the vector unit does to each ublock of a matmul's result.
device::StageCost sfpu_afterwards(const Op& op, const DeviceDescriptor& device) {
  auto type = netlist::op_type_from_name(op.attributes.sfpu_op);
  if (!type) return {};
  Op after = op;
  after.type = *type;
  const auto* row = kernel_row(after, device.cost);
  return row == nullptr ? device::StageCost{} : row->math;
}

KernelCycles dense_cycles(const Op& op, const DeviceDescriptor& device) {
  const auto* row = matmul_row(op, device.cost);
  if (row == nullptr) return copy_cycles(op, device);
  return based_on(matmul_cycles(op, *row, larger_tiles(op, row->format, device), sfpu_afterwards(op, device)), *row, op);
}

KernelCycles sparse_cycles(const Op& op, const SparseCounts* counts, const DeviceDescriptor& device) {
  const auto* row = sparse_row(op, device.cost);
  if (row == nullptr) return dense_cycles(op, device);
  double larger = larger_tiles(op, row->format, device);
  if (counts != nullptr) return based_on(sparse_matmul_cycles(op, *counts, *row, larger), *row, op);
  KernelCycles guessed = sparse_matmul_cycles(op, guess_sparse_counts(op), *row, larger);
  guessed.basis = Basis::assumed;
  return guessed;
}

KernelCycles accumulation_cycles_of(const Op& op, const DeviceDescriptor& device) {
  if (const auto* row = accumulation_row(op, device.cost)) return based_on(accumulation_cycles(op, *row), *row, op);
  if (op.type == OpType::depthwise) return dense_cycles(op, device);
  Op everything = op;
  everything.block.t *= std::max(op.attributes.z, 1);
  return copy_cycles(std::move(everything), device);
}

}  // namespace

KernelCycles single_op_cycles(const Op& op, const DeviceDescriptor& device, const SparseCounts* counts) {
  switch (class_of(op).cost) {
    case ops::CostVariant::dense_products:
      return dense_cycles(op, device);
    case ops::CostVariant::sparse_products:
      return sparse_cycles(op, counts, device);
    case ops::CostVariant::accumulation:
      return accumulation_cycles_of(op, device);
    case ops::CostVariant::ublocks:
      break;
  }
  if (const auto* row = kernel_row(op, device.cost))
    return based_on(elementwise_cycles(op, *row, larger_tiles(op, row->format, device)), *row, op);
  return copy_cycles(op, device);
}

}  // namespace buda::cost
