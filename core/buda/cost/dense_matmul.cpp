// SPDX-License-Identifier: Apache-2.0
// Dense matmuls.
#include <buda/cost/formulas.hpp>

#include <algorithm>

namespace buda::cost {

KernelCycles matmul_cycles(const netlist::Op& op, const device::MatmulCost& row, double larger, device::StageCost after) {
  const auto& b = op.block;
  const auto& a = op.attributes;
  double ublocks = static_cast<double>(b.t) * b.mblock_m * b.mblock_n;
  auto tiles = static_cast<double>(b.ublock_tiles());
  double inner = std::max(a.u_kt, 1);
  // Sums over t add up further inner blocks.
  double blocks = static_cast<double>(std::max(a.m_k, 1)) * (a.accumulate ? std::max(a.z, 1) : 1);
  double unpack = row.unpack.ublock + inner * larger * (row.unpack.row * b.ublock_rt + row.unpack.product * tiles);
  double math = row.math.of(tiles * inner * netlist::fidelity_phases(op.fidelity));
  double pack = row.pack.of(tiles), spill = row.spill.of(tiles);
  double on_math = a.sfpu_thread == netlist::SfpuThread::math ? after.of(tiles) : 0;
  double on_pack = after.of(tiles) - on_math;
  KernelCycles out;
  out.unpack = ublocks * blocks * unpack;
  out.math = ublocks * (blocks * math + on_math);
  out.pack = ublocks * (pack + on_pack + (blocks - 1) * spill);
  out.overhead = b.t * (row.block + row.inner_block * blocks);
  double last = std::max({unpack, math + on_math, pack + on_pack});
  double before = std::max(unpack, math) + spill;
  out.total = out.overhead + ublocks * (last + (blocks - 1) * before);
  return out;
}

}  // namespace buda::cost
