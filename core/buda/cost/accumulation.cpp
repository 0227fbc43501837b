// SPDX-License-Identifier: Apache-2.0
// Ops that add up mblocks.
#include <buda/cost/formulas.hpp>

#include <algorithm>

namespace buda::cost {

KernelCycles accumulation_cycles(const netlist::Op& op, const device::AccumulationCost& row) {
  const auto& b = op.block;
  bool depthwise = op.type == netlist::OpType::depthwise;
  double blocks = std::max(depthwise ? op.attributes.m_k : op.attributes.z, 1);
  double tiles = static_cast<double>(b.ublock_tiles()) * (depthwise ? netlist::fidelity_phases(op.fidelity) : 1);
  double ublocks = static_cast<double>(b.t) * b.mblock_m * b.mblock_n;
  KernelCycles out;
  out.math = ublocks * (row.first.of(tiles) + (blocks - 1) * row.further.of(tiles));
  out.overhead = b.t * row.block;
  out.total = out.overhead + out.math;
  return out;
}

}  // namespace buda::cost
