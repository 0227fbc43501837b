// SPDX-License-Identifier: Apache-2.0
// What is told of an op in an epoch.
#include <buda/perf/op_figures.hpp>

#include <gtest/gtest.h>

namespace buda::perf {
namespace {

struct AnOp {
  AnOp() {
    epoch.inputs = 10;
    epoch.time = SimTime::from_cycles(1000);
    epoch.period = SimTime::from_cycles(60);
    op.kernel = SimTime::from_cycles(30);
    op.inputs.resize(2);
    op.inputs[0].bytes = 400;
    op.inputs[0].moving = 0.1;
  }
  EpochSummary epoch;
  EpochSummary::Op op;
};

TEST(OpFigures, DelaysAreThoseOfAFullPipelineWhereTheyAreKnown) {
  AnOp of;
  EXPECT_DOUBLE_EQ(bound_cycles(of.epoch, of.op), 40);
  EXPECT_DOUBLE_EQ(bandwidth_of(of.epoch, of.op, of.op.inputs[0]).measured, 10);
  of.op.inputs[0].delay = 2;
  EXPECT_DOUBLE_EQ(bound_cycles(of.epoch, of.op), 32);
  EXPECT_DOUBLE_EQ(bandwidth_of(of.epoch, of.op, of.op.inputs[0]).measured, 12.5);
  of.op.inputs[0].delay = 0;
  EXPECT_DOUBLE_EQ(bound_cycles(of.epoch, of.op), 30);
}

TEST(OpFigures, NoOpIsSlowerThanItsEpoch) {
  AnOp of;
  of.op.inputs[0].delay = 25;
  of.op.output.delay = 25;
  EXPECT_DOUBLE_EQ(bound_cycles(of.epoch, of.op), 60);
  of.op.kernel = SimTime::from_cycles(70);  // of the slowest core
  EXPECT_DOUBLE_EQ(bound_cycles(of.epoch, of.op), 70);
}

}  // namespace
}  // namespace buda::perf
