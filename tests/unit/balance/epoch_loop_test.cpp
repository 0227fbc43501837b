// SPDX-License-Identifier: Apache-2.0
// Changes of epochs that can be told by hand.
#include <buda/balance/cost/epoch_loop.hpp>

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace buda::balance {
namespace {

constexpr double kChange = 1000;

cost::PipelineOp kernel(double cycles) {
  cost::PipelineOp op;
  op.kernel = cycles;
  return op;
}

// Takes from the op before when that is done with all of its input.
cost::PipelineOp after(double cycles, std::size_t from) {
  cost::PipelineOp op = kernel(cycles);
  cost::PipelineInput input;
  input.from = from;
  op.inputs = {input};
  return op;
}

LoopedEpoch epoch(std::vector<cost::PipelineOp> ops, std::vector<GridCoord> cores) {
  LoopedEpoch out;
  out.cycles = cost::pipeline_ends(ops, 1).all;
  out.ops = std::move(ops);
  for (GridCoord core : cores) out.cores.push_back({core, {1, 1}});
  out.change = kChange;
  return out;
}

TEST(EpochLoop, OneOpWaitsForEachChange) {
  EXPECT_EQ(hidden_changes({epoch({kernel(5000)}, {{0, 0}})}), std::vector<double>{0});
  EXPECT_TRUE(hidden_changes({}).empty());
}

// While the second works, the first core loads; while the first works, the second does.
TEST(EpochLoop, ACoreLoadsWhileAnotherWorks) {
  const LoopedEpoch both = epoch({kernel(2400), after(2400, 0)}, {{0, 0}, {0, 1}});
  EXPECT_DOUBLE_EQ(both.cycles, 4800);
  EXPECT_EQ(hidden_changes({both}), std::vector<double>{kChange});
  // A short second op hides as much as it takes.
  const std::vector<double> hidden = hidden_changes({epoch({kernel(2400), after(240, 0)}, {{0, 0}, {0, 1}})});
  EXPECT_NEAR(hidden[0], 240, 1);
}

// A core that is done early still holds what another takes slowly, and loads after that.
TEST(EpochLoop, ACoreLoadsWhenItsResultIsTaken) {
  LoopedEpoch slow = epoch({kernel(240), after(240, 0)}, {{0, 0}, {0, 1}});
  slow.ops[1].inputs[0].transfer = 4800;
  slow.cycles = cost::pipeline_ends(slow.ops, 1).all;
  const std::vector<double> hidden = hidden_changes({slow});
  // From then on the second has its last part to do.
  EXPECT_GT(hidden[0], 0);
  EXPECT_LT(hidden[0], 300);
}

TEST(EpochLoop, CoresOfTheEpochBeforeCount) {
  const LoopedEpoch left = epoch({kernel(2400)}, {{0, 0}}), right = epoch({kernel(2400)}, {{0, 1}});
  EXPECT_EQ(hidden_changes({left, right}), (std::vector<double>{kChange, kChange}));
  EXPECT_EQ(hidden_changes({left, left}), (std::vector<double>{0, 0}));
  // Another chip has other cores.
  LoopedEpoch elsewhere = left;
  elsewhere.chip = 1;
  EXPECT_EQ(hidden_changes({left, elsewhere}), (std::vector<double>{0, 0}));
}

// Of several inputs, only what comes before the last one is done matters.
TEST(EpochLoop, ManyInputsAreOneExecution) {
  LoopedEpoch many = epoch({kernel(2400), after(2400, 0)}, {{0, 0}, {0, 1}});
  many.inputs = 64;
  many.cycles = 4800 + 63 * 2400;
  EXPECT_EQ(hidden_changes({many}), std::vector<double>{kChange});
}

}  // namespace
}  // namespace buda::balance
