// SPDX-License-Identifier: Apache-2.0
// Measured ops, a few of each class: predictions lie within three times the mean error that their row admits, or within 1 %. All
// measurements are judged by tests/bench/silicon.
#include <buda/cost/kernel_cycles.hpp>

#include "unit/cost/fixture.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace buda::cost {
namespace {

using netlist::MathFidelity;
using netlist::OpType;

struct Measured {
  std::string name;
  std::string device;
  netlist::Op op;
  double cycles = 0;
  std::optional<SparseCounts> counts = std::nullopt;
};

netlist::Op approximate(netlist::Op op) {
  op.attributes.approximate_mode = true;
  return op;
}

netlist::Op with_l1_acc(netlist::Op op) {
  op.attributes.l1_acc = true;
  return op;
}

netlist::Op sparse(DataFormat format, MathFidelity fidelity, netlist::BlockShape block, std::int32_t u_kt) {
  netlist::Op op = matmul_of(format, fidelity, block, 7, u_kt);
  op.attributes.identity = true;
  op.inputs[0].format = DataFormat::bfp2;
  op.inputs.resize(3);
  return op;
}

netlist::Op depthwise(netlist::BlockShape block, std::int32_t m_k) {
  netlist::Op op = matmul_of(DataFormat::float16, MathFidelity::hifi2, block, m_k, 1);
  op.type = OpType::depthwise;
  return op;
}

netlist::Op reduced(netlist::Dim dim, netlist::BlockShape block, std::int32_t m_k, std::int32_t u_kt, std::int32_t z) {
  netlist::Op op = op_of(OpType::reduce, kBfp8, block);
  op.attributes.reduce_dim = dim;
  op.attributes.m_k = m_k;
  op.attributes.u_kt = u_kt;
  op.attributes.z = z;
  return op;
}

std::vector<Measured> examples() {
  const char *wormhole = "n150", *grayskull = "e150";
  return {
      {"approximate exp", wormhole, approximate(op_of(OpType::exp, kBfp8, {1, 7, 2, 8, 1})), 91060},
      {"sine", wormhole, op_of(OpType::sine, kBfp8, {1, 2, 4, 4, 1}), 54723},
      {"add", wormhole, op_of(OpType::add, kBfp8, {1, 4, 2, 2, 4}, 2), 5359},
      {"add of Int32", wormhole, op_of(OpType::add, DataFormat::int32, {1, 4, 4, 2, 2}, 2), 37519},
      {"maximum of Int32", wormhole, op_of(OpType::maximum, DataFormat::int32, {1, 2, 2, 1, 2}, 2), 5111},
      {"nop of large ublocks", wormhole, op_of(OpType::nop, kHalf, {1, 2, 4, 2, 4}), 9436},
      {"nop of single tiles", wormhole, op_of(OpType::nop, kHalf, {1, 4, 4, 1, 1}), 4176},
      {"splice", wormhole, op_of(OpType::splice, kBfp8, {1, 2, 6, 1, 4}), 3880},
      {"requantization", wormhole, op_of(OpType::requantization, DataFormat::int8, {1, 4, 4, 1, 4}, 2), 32291},
      {"matmul", wormhole, matmul_of(kBfp8, MathFidelity::lofi, {1, 2, 2, 4, 2}, 16, 2), 43510},
      {"matmul with l1_acc", wormhole, with_l1_acc(matmul_of(kHalf, MathFidelity::hifi4, {1, 2, 2, 2, 2}, 4, 8)), 35343},
      {"sparse matmul", wormhole, sparse(DataFormat::bfp8, MathFidelity::lofi, {3, 4, 1, 4, 2}, 4), 12461, SparseCounts{6, 15, 71}},
      {"sparse matmul of halves", wormhole, sparse(DataFormat::float16, MathFidelity::hifi2, {3, 7, 1, 4, 1}, 2), 15512,
       SparseCounts{6, 15, 71}},
      {"depthwise", wormhole, depthwise({1, 1, 10, 1, 3}, 8), 35823},
      {"reduce along c", wormhole, reduced(netlist::Dim::c, {1, 1, 1, 8, 1}, 8, 8, 0), 46634},
      {"reduce along r", wormhole, reduced(netlist::Dim::r, {1, 1, 4, 1, 1}, 4, 8, 0), 7287},
      {"reduce along z", wormhole, reduced(netlist::Dim::z, {1, 4, 1, 1, 2}, 0, 0, 16), 39966},
      {"power", grayskull, op_of(OpType::power, kBfp8, {1, 7, 2, 8, 1}), 15797},
      {"nop", grayskull, op_of(OpType::nop, kBfp8, {1, 2, 4, 2, 4}), 5793},
      {"matmul", grayskull, matmul_of(kBfp8, MathFidelity::lofi, {1, 2, 2, 2, 2}, 2, 4), 6446},
  };
}

TEST(Silicon, IsPredictedWithinTheErrorsOfTheRows) {
  for (const Measured& m : examples()) {
    KernelCycles c = kernel_cycles(m.op, nullptr, shipped(m.device), m.counts ? &*m.counts : nullptr);
    EXPECT_EQ(c.basis, Basis::measured) << m.device << ' ' << m.name;
    EXPECT_NEAR(c.total / m.cycles, 1, std::max(0.01, 3 * c.error / 100)) << m.device << ' ' << m.name;
  }
}

}  // namespace
}  // namespace buda::cost
