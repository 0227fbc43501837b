// SPDX-License-Identifier: Apache-2.0
// Intervals that can be told by hand.
#include <buda/cost/pipeline.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace buda::cost {
namespace {

constexpr double kPart = 1.0 / kPipelineParts;

PipelineOp stage_of(double kernel, double room = 2) {
  PipelineOp op;
  op.kernel = kernel;
  op.room = room;
  return op;
}

PipelineInput from(std::size_t op, double transfer) {
  PipelineInput input;
  input.from = op;
  input.transfer = transfer;
  input.block = kPart;
  return input;
}

TEST(Pipeline, TheSlowestOfOpsAndStreamsSetsTheInterval) {
  std::vector<PipelineOp> ops{stage_of(2400), stage_of(4800)};
  ops[1].inputs = {from(0, 1200)};
  EXPECT_DOUBLE_EQ(pipeline_times(ops).interval, 4800);
  ops[1].inputs = {from(0, 7200)};
  EXPECT_DOUBLE_EQ(pipeline_times(ops).interval, 7200);
  ops[1].write = 9600;
  EXPECT_DOUBLE_EQ(pipeline_times(ops).interval, 9600);
  EXPECT_EQ(pipeline_times({}).interval, 0);
}

TEST(Pipeline, WhatNeedsAllOfAnInputBeginsWhenItHasCome) {
  std::vector<PipelineOp> ops{stage_of(2400), stage_of(4800)};
  ops[1].inputs = {from(0, 24)};
  EXPECT_DOUBLE_EQ(pipeline_times(ops).first, 100 + 1 + 4800);
  ops[1].inputs[0].block = 1;
  EXPECT_DOUBLE_EQ(pipeline_times(ops).first, 2400 + 1 + 4800);
  ops[1].inputs[0].block = kPart;
  ops[0].gathers = 0.5;
  EXPECT_DOUBLE_EQ(pipeline_times(ops).first, 1300 + 1 + 4800);
  ops[0].gathers = 0;
  ops[1].inputs[0].lead = 0.5;
  EXPECT_DOUBLE_EQ(pipeline_times(ops).first, 1300 + 1 + 4800);
}

TEST(Pipeline, AProducerWithOneWindowWaitsWhileItIsEmptied) {
  std::vector<PipelineOp> ops{stage_of(2400, 1), stage_of(24)};
  ops[1].inputs = {from(0, 4800)};
  EXPECT_DOUBLE_EQ(pipeline_times(ops).interval, 4800);
  // The first tile is the producer's last.
  ops[1].inputs[0].in_order = false;
  ops[1].inputs[0].lead = 1;
  EXPECT_DOUBLE_EQ(pipeline_times(ops).interval, 2400 + 4800);
  ops[0].room = 2;
  EXPECT_DOUBLE_EQ(pipeline_times(ops).interval, 4800);
}

TEST(Pipeline, TheBuffersOfAShortWayHoldUpALongOne) {
  // Three ops one after the other, each with all of an input, and the first's result once more at the last.
  std::vector<PipelineOp> ops{stage_of(2400), stage_of(2400), stage_of(2400), stage_of(2400)};
  for (std::size_t i = 1; i < ops.size(); ++i) {
    ops[i].inputs = {from(i - 1, 24)};
    ops[i].inputs[0].block = 1;
  }
  EXPECT_DOUBLE_EQ(pipeline_times(ops).interval, 2400);
  ops[3].inputs.push_back(from(0, 24));
  ops[3].inputs[1].room = 2 * kPart;
  EXPECT_GT(pipeline_times(ops).interval, 1.3 * 2400);
  ops[3].inputs[1].room = 2;
  EXPECT_DOUBLE_EQ(pipeline_times(ops).interval, 2400);
}

TEST(Pipeline, BuffersThatAreTooSmallDoNotStopIt) {
  std::vector<PipelineOp> ops{stage_of(2400, 0.2), stage_of(2400)};
  ops[1].inputs = {from(0, 24)};
  ops[1].inputs[0].lead = 1;
  ops[1].inputs[0].block = 0.143;
  ops[1].inputs[0].room = 0.15;
  const PipelineTimes times = pipeline_times(ops);
  EXPECT_GE(times.interval, 2400);
  EXPECT_GT(times.first, 0);
}

}  // namespace
}  // namespace buda::cost
