// SPDX-License-Identifier: Apache-2.0
// Ops that go once over the ublocks of an output, or reduce several to one.
#include <buda/cost/formulas.hpp>

#include <algorithm>

namespace buda::cost {

KernelCycles elementwise_cycles(const netlist::Op& op, const device::KernelCost& row, double larger) {
  const auto& b = op.block;
  const double ublocks = static_cast<double>(b.t) * b.mblock_m * b.mblock_n;
  const auto tiles = static_cast<double>(b.ublock_tiles());
  bool reduces = op.type == netlist::OpType::reduce;
  const double ublocks_in = ublocks * (reduces ? std::max(op.attributes.m_k, 1) : 1);
  const double tiles_in = tiles * (reduces ? std::max(op.attributes.u_kt, 1) : 1);
  KernelCycles out;
  out.unpack = ublocks_in * (row.unpack.ublock + row.unpack.tile * larger * tiles_in);
  out.math = ublocks_in * row.math.of(tiles_in);
  out.pack = ublocks * row.pack.of(tiles);
  out.overhead = b.t * row.block;
  out.total = out.overhead + std::max({out.unpack, out.math, out.pack});
  return out;
}

}  // namespace buda::cost
