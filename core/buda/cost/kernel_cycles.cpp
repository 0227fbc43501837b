// SPDX-License-Identifier: Apache-2.0
// Fused ops, whose steps follow one another on the same threads; all other ops are one step.
#include <buda/cost/kernel_cycles.hpp>

#include <buda/cost/single_op.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

namespace buda::cost {
namespace {

using device::DeviceDescriptor;
using netlist::Op;
using netlist::SubOp;
using netlist::SubOperand;

// The step as an op of its own.
Op as_op(const SubOp& step, const Op& op) {
  Op one = op;
  one.type = step.type;
  one.attributes = step.attributes;
  one.block = step.block;
  one.block.t = op.block.t;
  one.inputs.clear();
  for (const auto& in : step.inputs) {
    netlist::OpInput input;
    bool outside = in.operand.kind == SubOperand::Kind::input && static_cast<std::size_t>(in.operand.index) < op.inputs.size();
    input.format = outside ? op.inputs[static_cast<std::size_t>(in.operand.index)].format : op.intermed_format;
    one.inputs.push_back(std::move(input));
  }
  return one;
}

// What stays in the destination register is neither packed nor unpacked again.
KernelCycles step_cycles(const SubOp& step, const Op& op, const DeviceDescriptor& device) {
  const Op one = as_op(step, op);
  KernelCycles c = single_op_cycles(one, device, nullptr);
  auto from_dest =
      std::count_if(step.inputs.begin(), step.inputs.end(), [](const auto& in) { return in.operand.kind == SubOperand::Kind::dest; });
  bool to_dest = step.output.kind == SubOperand::Kind::dest;
  if (from_dest == 0 && !to_dest) return c;
  if (!step.inputs.empty()) c.unpack *= 1 - static_cast<double>(from_dest) / static_cast<double>(step.inputs.size());
  if (to_dest) c.pack = 0;
  // Of ops that bringing operands holds up, no measurement shows the math unit's part.
  c.math = std::max(c.math, static_cast<double>(one.block.tiles()) * device.cost.math_cycles_per_tile);
  c.total = c.overhead + std::max({c.unpack, c.math, c.pack});
  return c;
}

KernelCycles fused_cycles(const Op& op, const netlist::FusedOp& fused, const DeviceDescriptor& device) {
  KernelCycles out;
  double weighted_errors = 0;
  for (const auto& schedule : fused.schedules)
    for (const SubOp& step : schedule) {
      KernelCycles c = step_cycles(step, op, device);
      double alone = c.total - c.overhead;
      out.unpack += c.unpack;
      out.math += c.math;
      out.pack += c.pack;
      out.total += alone;
      out.overhead = std::max(out.overhead, c.overhead);
      out.basis = std::max(out.basis, c.basis);
      weighted_errors += alone * c.error;
    }
  if (out.total > 0) out.error = weighted_errors / out.total;
  out.total += out.overhead;
  return out;
}

}  // namespace

std::string_view basis_name(Basis basis) {
  constexpr std::array<std::string_view, 4> kNames = {"measured", "other format", "assumed", "as a copy"};
  return kNames[static_cast<std::size_t>(basis)];
}

KernelCycles kernel_cycles(const Op& op, const netlist::FusedOp* fused, const DeviceDescriptor& device, const SparseCounts* counts) {
  return fused == nullptr ? single_op_cycles(op, device, counts) : fused_cycles(op, *fused, device);
}

}  // namespace buda::cost
