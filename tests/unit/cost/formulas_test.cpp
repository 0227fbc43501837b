// SPDX-License-Identifier: Apache-2.0
// The formulas against sums that were worked out by hand.
#include <buda/cost/formulas.hpp>

#include "unit/cost/fixture.hpp"

namespace buda::cost {
namespace {

using netlist::MathFidelity;
using netlist::OpType;

TEST(Formulas, AnElementwiseOpGoesAsFastAsItsSlowestStage) {
  device::KernelCost row;
  row.block = 100;
  row.unpack = {10, 70};
  row.math = {5, 20};
  row.pack = {200, 30};
  // 2 blocks of 6 ublocks of one tile: pack, 230 each.
  KernelCycles c = elementwise_cycles(op_of(OpType::nop, kBfp8, {2, 2, 3, 1, 1}), row, 1);
  EXPECT_EQ(c.unpack, 12 * 80);
  EXPECT_EQ(c.math, 12 * 25);
  EXPECT_EQ(c.pack, 12 * 230);
  EXPECT_EQ(c.overhead, 200);
  EXPECT_EQ(c.total, 200 + 12 * 230);
  // Of eight tiles: unpack, 570 each; of tiles twice as large, 1130.
  auto wide = op_of(OpType::nop, kBfp8, {2, 2, 3, 2, 4});
  EXPECT_EQ(elementwise_cycles(wide, row, 1).total, 200 + 12 * 570);
  EXPECT_EQ(elementwise_cycles(wide, row, 2).total, 200 + 12 * 1130);
}

TEST(Formulas, AReductionReadsAllAndPacksTheResult) {
  device::KernelCost row;
  row.math = {0, 60};
  row.pack = {200, 0};
  auto op = op_of(OpType::reduce, kBfp8, {1, 2, 1, 1, 1});
  op.attributes.reduce_dim = netlist::Dim::c;
  op.attributes.m_k = 3;
  op.attributes.u_kt = 2;
  EXPECT_EQ(elementwise_cycles(op, row, 1).math, 2 * 3 * 2 * 60);
  EXPECT_EQ(elementwise_cycles(op, row, 1).pack, 2 * 200);
}

TEST(Formulas, AnAccumulationTakesTheFirstBlockAndTheFurtherOnes) {
  device::AccumulationCost row;
  row.block = 50;
  row.first = {10, 40};
  row.further = {0, 300};
  auto op = op_of(OpType::reduce, kBfp8, {2, 1, 3, 1, 2});
  op.attributes.reduce_dim = netlist::Dim::z;
  op.attributes.z = 4;
  EXPECT_EQ(accumulation_cycles(op, row).total, 2 * 50 + 6 * (10 + 2 * 40 + 3 * 2 * 300));
  // Depthwise: over m_k, per fidelity phase.
  op.type = OpType::depthwise;
  op.attributes.m_k = 2;
  op.fidelity = MathFidelity::hifi2;
  EXPECT_EQ(accumulation_cycles(op, row).total, 2 * 50 + 6 * (10 + 2 * 2 * 40 + 2 * 2 * 300));
}

device::MatmulCost matmul_row_of_small_numbers() {
  device::MatmulCost row;
  row.block = 1000;
  row.inner_block = 100;
  row.unpack = {7, 2, 3};
  row.math = {1, 4};
  row.pack = {90, 5};
  row.spill = {20, 6};
  return row;
}

TEST(Formulas, AMatmulSpillsBetweenInnerBlocks) {
  device::MatmulCost row = matmul_row_of_small_numbers();
  // A ublock of 2 x 2 tiles, u_kt 3, two phases: unpack 7 + 3 * (2 * 2 + 3 * 4) = 55, math 1 + 4 * 24 = 97, pack 110, spill 44.
  auto op = matmul_of(kBfp8, MathFidelity::hifi2, {1, 1, 5, 2, 2}, 4, 3);
  KernelCycles c = matmul_cycles(op, row, 1);
  EXPECT_EQ(c.unpack, 5 * 4 * 55);
  EXPECT_EQ(c.math, 5 * 4 * 97);
  EXPECT_EQ(c.pack, 5 * (110 + 3 * 44));
  EXPECT_EQ(c.total, 1000 + 4 * 100 + 5 * (110 + 3 * (97 + 44)));
  // Sums over t are further inner blocks.
  op.attributes.accumulate = true;
  op.attributes.z = 2;
  EXPECT_EQ(matmul_cycles(op, row, 1).total, 1000 + 8 * 100 + 5 * (110 + 7 * (97 + 44)));
}

TEST(Formulas, AMatmulsVectorOpFollowsOnTheLastInnerBlock) {
  device::MatmulCost row = matmul_row_of_small_numbers();
  auto op = matmul_of(kBfp8, MathFidelity::hifi2, {1, 1, 5, 2, 2}, 1, 3);
  EXPECT_EQ(matmul_cycles(op, row, 1, {10, 100}).total, 1100 + 5 * (97 + 410));
  op.attributes.sfpu_thread = netlist::SfpuThread::pack;
  EXPECT_EQ(matmul_cycles(op, row, 1, {10, 100}).total, 1100 + 5 * (110 + 410));
}

TEST(Formulas, ASparseMatmulCountsWhatIsNotZero) {
  device::SparseCost row;
  row.strip = 100;
  row.strip_column = 10;
  row.strip_tile = 1;
  row.decode = 6;
  row.math = 16;
  row.unpack = {30, 2};
  row.reload = {40, 5};
  row.pack = {50, 7};
  auto op = op_of(OpType::matmul, kBfp8, {1, 2, 3, 2, 2}, 3);
  op.attributes.identity = true;
  op.attributes.u_kt = 4;
  op.fidelity = MathFidelity::lofi;
  // 5 strips of 3 columns of 4 x 2 tiles, 8 ublocks of which 6 add to something, 20 tiles.
  KernelCycles c = sparse_matmul_cycles(op, {5, 8, 20}, row, 1);
  double strips = 5 * (100 + 3 * (10 + 4 * 2)), bring = 20 * 3 * (30 + 2 * 2), decode = 20 * 6, reload = 6 * 3 * (40 + 4 * 5);
  EXPECT_EQ(c.math, 20 * 3 * 2 * 16);
  EXPECT_EQ(c.unpack, bring + strips + decode + reload);
  EXPECT_EQ(c.pack, 6 * (50 + 4 * 7));
  EXPECT_EQ(c.total, bring + strips + decode + reload + c.pack);
}

}  // namespace
}  // namespace buda::cost
