// SPDX-License-Identifier: Apache-2.0
// What is said to be gained from a faster part of the chip, against runs in which it is faster.
#include <buda/base/rng.hpp>
#include <buda/base/text.hpp>
#include <buda/perf/op_figures.hpp>

#include "unit/pipes/check/random_netlists.hpp"
#include "unit/sim/run_of.hpp"

#include <algorithm>
#include <cmath>

namespace buda::sim {
namespace {

double gain_of(const perf::EpochSummary& summary, const std::string& what) {
  const auto found = std::find_if(summary.limits.begin(), summary.limits.end(), [&](const auto& limit) { return limit.what == what; });
  return found == summary.limits.end() ? 0 : found->gain;
}

double saved(const perf::EpochSummary& before, const perf::EpochSummary& after) {
  return 1 - static_cast<double>(after.time.ticks) / static_cast<double>(before.time.ticks);
}

TEST(Limits, TheSlowestKernelGainsUntilAnotherOneTakesOver) {
  for (const double others : {100.0, 3000.0, 4500.0}) {
    RunOf r(chain_of_ops(8, 16));
    ASSERT_EQ(r.problem, "");
    r.cores = FixedCore(others, {{"op3", 5000}});
    const auto summary = r.summary();
    r.cores = FixedCore(others, {{"op3", 2500}});
    const double gain = saved(summary, r.summary());
    EXPECT_EQ(summary.limits.front().what, "kernel of 'op3'");
    EXPECT_EQ(summary.limits.front().op, "op3");
    EXPECT_NEAR(summary.limits.front().gain, gain, 0.02) << others;
  }
}

TEST(Limits, FastKernelsWaitForTransfers) {
  RunOf r(two_ops(64));
  ASSERT_EQ(r.problem, "");
  r.cores = FixedCore(1);
  const auto summary = r.summary();
  EXPECT_NE(summary.limits.front().what.substr(0, 6), "kernel");
  r.transfers = {0.5, 1};
  EXPECT_NEAR(gain_of(summary, "networks"), saved(summary, r.summary()), 0.05);
  r.transfers = {1, 0.5};
  EXPECT_NEAR(gain_of(summary, "DRAM"), saved(summary, r.summary()), 0.05);
}

// 'b' and 'c' are almost as slow as each other: when one of them is twice as fast, the tiles that it takes or gives still have to be made.
TEST(Limits, AKernelGainsNoMoreThanTheNextSlowestAllows) {
  for (const char* fast : {"op3", "op5"}) {
    RunOf r(chain_of_ops(8, 32));
    ASSERT_EQ(r.problem, "");
    std::map<std::string, double> slow{{"op3", 5000}, {"op5", 4900}};
    r.cores = FixedCore(100, slow);
    const auto summary = r.summary();
    slow[fast] /= 2;
    r.cores = FixedCore(100, slow);
    const auto faster = r.summary();
    EXPECT_NEAR(gain_of(summary, cat("kernel of '", fast, '\'')), saved(summary, faster), 0.005) << fast;
  }
}

// What all actions had to wait for is known so exactly that nothing changes where nothing is faster.
TEST(Limits, WhatIsNotThereGainsNothing) {
  Rng rng(22);
  for (int round = 0; round < 200; ++round) {
    RunOf r(pipes::random_netlist(rng, 1, "wormhole_b0"));
    if (!r.problem.empty()) continue;
    const auto summary = r.summary();
    EXPECT_EQ(gain_of(summary, "links between chips and to the host"), 0);
    EXPECT_EQ(gain_of(summary, "the host"), 0);
  }
}

TEST(Limits, WaitsForTransfersAreDividedByWhatIsSlow) {
  RunOf r(two_ops(64));
  ASSERT_EQ(r.problem, "");
  r.cores = FixedCore(1);
  for (const auto& [networks, memories] : {std::pair(1.0, 20.0), std::pair(20.0, 1.0)}) {
    r.transfers = {networks, memories};
    const auto summary = r.summary();
    perf::EpochSummary::Pipe pipe;
    for (const auto& op : summary.ops)
      for (const auto& other : {op.inputs.front(), op.output})
        if (other.moving > pipe.moving) pipe = other;
    EXPECT_GT(pipe.moving, 0.2);
    EXPECT_LE(pipe.moving, pipe.waits);
    EXPECT_LE(pipe.dram, pipe.moving);
    EXPECT_EQ(pipe.dram > pipe.moving / 2, memories > networks) << pipe.dram << " of " << pipe.moving;
  }
}

// No op is slower than the epoch's period, however the pipeline was filled; once it has been full for long, the slowest takes the period.
TEST(Limits, DelaysAreThoseOfAFullPipeline) {
  for (const auto& [networks, memories] : {std::pair(1.0, 20.0), std::pair(20.0, 1.0), std::pair(4.0, 4.0)}) {
    for (const int inputs : {1, 2, 7, 16, 64, 257}) {
      RunOf r(two_ops(inputs));
      ASSERT_EQ(r.problem, "");
      r.cores = FixedCore(1);
      r.transfers = {networks, memories};
      const auto summary = r.summary();
      const double period = summary.period.cycles();
      double slowest = 0;
      for (const auto& op : summary.ops) {
        ASSERT_TRUE(op.output.delay);
        slowest = std::max(slowest, perf::bound_cycles(summary, op));
      }
      EXPECT_LE(slowest, period) << inputs;
      if (inputs == 257) EXPECT_GE(slowest, 0.97 * period) << networks << ", " << memories;
    }
  }
}

TEST(Limits, NameWhatSavesMost) {
  Rng rng(404);
  int built = 0, right = 0;
  double most = 0;
  for (int round = 0; built < 100 && round < 2000; ++round) {
    RunOf r(pipes::random_netlist(rng, 1, "wormhole_b0"));
    if (!r.problem.empty()) continue;
    ++built;
    const auto summary = r.summary();
    r.transfers = {0.5, 1};
    const double networks = saved(summary, r.summary());
    r.transfers = {1, 0.5};
    const double memories = saved(summary, r.summary());
    const bool named = gain_of(summary, "networks") >= gain_of(summary, "DRAM");
    right += (named ? networks - memories : memories - networks) >= -0.005;
    most = std::max(most, std::abs(gain_of(summary, "networks") - networks));
  }
  EXPECT_GE(right, 0.8 * built) << "of " << built << "; largest difference for the networks " << most;
}

}  // namespace
}  // namespace buda::sim
