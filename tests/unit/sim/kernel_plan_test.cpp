// SPDX-License-Identifier: Apache-2.0
// Steps of kernels: what they need, free and put out adds up, whatever the op.
#include <buda/base/text.hpp>
#include <buda/sim/cores/kernel_plan.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace buda::sim {
namespace {

netlist::Op an_op(netlist::OpType type, netlist::BlockShape block) {
  netlist::Op op;
  op.name = "op";
  op.type = type;
  op.block = block;
  return op;
}

// Every step needs no more than `capacity` tiles of an operand at once, frees only what it needed, and all is used in the end.
void expect_consistent(const KernelPlan& plan, const std::string& what) {
  std::vector<std::int64_t> freed(plan.operands.size(), 0), needed(plan.operands.size(), 0);
  std::int64_t out = 0;
  Ticks time = 0;
  for (std::int64_t step = 0; step < plan.steps(); ++step) {
    EXPECT_GE(plan.out_before(step + 1), out) << what;
    EXPECT_GE(plan.time_before(step + 1), time) << what;
    EXPECT_TRUE(plan.gives(step) || plan.out_before(step + 1) == out) << what;
    out = plan.out_before(step + 1);
    time = plan.time_before(step + 1);
    for (std::size_t i = 0; i < plan.operands.size(); ++i) {
      const auto& o = plan.operands[i];
      EXPECT_GE(plan.needed(o, step), needed[i]) << what << ", operand " << i << ", step " << step;
      needed[i] = plan.needed(o, step);
      EXPECT_LE(needed[i] - freed[i], o.at_once) << what << ", operand " << i << ", step " << step << ": more than a block at once";
      freed[i] = plan.freed(o, step);
      EXPECT_LE(freed[i], needed[i]) << what << ", operand " << i << ", step " << step;
    }
  }
  EXPECT_EQ(out, plan.out_tiles) << what;
  EXPECT_EQ(time, plan.input_time) << what;
  for (std::size_t i = 0; i < plan.operands.size(); ++i) {
    EXPECT_EQ(freed[i], plan.operands[i].tiles) << what;
    EXPECT_EQ(needed[i], plan.operands[i].tiles) << what;
  }
}

TEST(KernelPlan, ElementwiseOpsGoUblockByUblock) {
  const auto op = an_op(netlist::OpType::add, {2, 2, 3, 1, 4});
  KernelPlan plan = plan_steps(op, {{48, 4, false}, {48, 4, false}});
  plan.input_time = 1200;
  EXPECT_EQ(plan.steps(), 12);
  expect_consistent(plan, "add");
}

TEST(KernelPlan, MatmulsTakeBlocksOfTheInnerDimension) {
  auto op = an_op(netlist::OpType::matmul, {2, 2, 3, 2, 1});
  op.attributes.m_k = 4;
  op.attributes.u_kt = 2;
  op.intermed_format = op.out_format = DataFormat::float16_b;
  // Left 2 * 2 * 2 tiles of a block, right 3 * 1 * 2, bias ublock by ublock.
  KernelPlan plan = plan_steps(op, {{2 * 4 * 8, 8, false}, {2 * 4 * 6, 6, false}, {2 * 12, 2, false}});
  plan.input_time = 4800;
  EXPECT_EQ(plan.steps(), 2 * (3 + 6));
  EXPECT_FALSE(plan.gives(2));
  EXPECT_TRUE(plan.gives(3));
  EXPECT_EQ(plan.time_before(1), 4800u / 2 / 4) << "all blocks take the same time";
  EXPECT_EQ(plan.out_before(9), 12);
  EXPECT_EQ(plan.freed(plan.operands[2], 2), 0) << "a bias is added in the end";
  expect_consistent(plan, "matmul");
}

TEST(KernelPlan, WhatComesInSmallerBlocksIsGatheredInSmallerSteps) {
  auto op = an_op(netlist::OpType::reduce, {2, 2, 2, 1, 1});
  op.attributes.reduce_dim = netlist::Dim::z;
  op.attributes.z = 5;
  KernelPlan plan = plan_steps(op, {{2 * 5 * 4, 1, false}});
  plan.input_time = 997;
  EXPECT_EQ(plan.steps(), 2 * 5 * 4);
  expect_consistent(plan, "reduce z");
}

TEST(KernelPlan, TheOperandWithTheMostBlocksDecides) {
  const auto op = an_op(netlist::OpType::fused_op, {1, 2, 2, 1, 1});
  KernelPlan plan = plan_steps(op, {{4, 1, false}, {12, 2, false}, {1, 1, true}, {7, 7, false}});
  plan.input_time = 10;
  EXPECT_EQ(plan.steps(), 6);
  plan.operands.erase(plan.operands.begin() + 2);
  expect_consistent(plan, "fused");
}

TEST(KernelPlan, GradientsGiveNothingWhileTheEpochRuns) {
  auto op = an_op(netlist::OpType::matmul, {1, 1, 1, 1, 1});
  op.gradient_op = true;
  EXPECT_EQ(plan_steps(op, {{1, 1, false}, {1, 1, false}}).out_tiles, 0);
}

}  // namespace
}  // namespace buda::sim
