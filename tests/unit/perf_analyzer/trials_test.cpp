// SPDX-License-Identifier: Apache-2.0
// Which overrides are tried for which limiter, and how plans are compared.
#include "apps/perf-analyzer/trials.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::perf_analyzer {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty;
using Cause = perf::EpochSummary::Cause;

balance::ReportOp planned(const std::string& name, GridShape grid) {
  balance::ReportOp op;
  op.name = name;
  op.grid = grid;
  op.mblock = {3, 2};
  op.ublock = {2, 1};
  op.m_k = 1;
  op.u_kt = 1;
  return op;
}

balance::PlacementReport plan() {
  balance::PlacementReport out;
  balance::ReportEpoch epoch;
  epoch.ops = {planned("a", {1, 1}), planned("b", {1, 2})};
  epoch.ops[1].m_k = 4;
  epoch.ops[1].t = 2;
  out.epochs = {epoch};
  return out;
}

perf::SummaryFile run_limited_by(std::vector<Cause> causes) {
  perf::SummaryFile out;
  perf::EpochSummary epoch;
  epoch.causes = std::move(causes);
  perf::EpochSummary::Op b;
  b.name = "b";
  b.inputs = {{.name = "a"}};
  epoch.ops = {b};
  out.epochs = {epoch};
  return out;
}

std::vector<std::string> texts(const std::vector<Trial>& trials) {
  std::vector<std::string> out;
  for (const Trial& t : trials) out.push_back(t.key + "=" + t.value);
  return out;
}

TEST(PerfAnalyzerTrials, AKernelGetsGridsThatDivideItsTiles) {
  const auto trials = trials_for(run_limited_by({{.kind = Cause::Kind::kernel, .op = "a"}}), plan(), {8, 8}, 100);
  EXPECT_THAT(texts(trials), ElementsAre("a.grid=[2,1]", "a.grid=[3,1]", "a.grid=[1,2]", "a.grid=[2,2]"));
}

TEST(PerfAnalyzerTrials, GridsAreNoLargerThanTheChip) {
  EXPECT_THAT(trials_for(run_limited_by({{.kind = Cause::Kind::kernel, .op = "a"}}), plan(), {1, 1}, 100), IsEmpty());
}

TEST(PerfAnalyzerTrials, AnInputGetsTheGridOfItsProducerAndMoreBuffers) {
  const auto trials = trials_for(run_limited_by({{.kind = Cause::Kind::send, .op = "b", .operand = 0}}), plan(), {8, 2}, 100);
  EXPECT_THAT(texts(trials),
              ElementsAre("b.grid=[1,1]", "b.input-buffer-multiplier=0:4", "b.grid=[2,2]", "b.grid=[3,2]", "b.u_kt=2", "b.t-stream=[1,1]"));
}

TEST(PerfAnalyzerTrials, EpochsThatTakeMostOfTheTimeComeFirst) {
  perf::SummaryFile run = run_limited_by({{.kind = Cause::Kind::kernel, .op = "a"}});
  run.epochs.push_back(run.epochs.front());
  run.epochs[1].total = perf::SimTime::from_cycles(9);
  const auto trials = trials_for(run, plan(), {8, 8}, 5);
  ASSERT_EQ(trials.size(), 5u);
  EXPECT_EQ(trials[0].epoch, 1u);
  EXPECT_EQ(trials[4].epoch, 0u);
}

TEST(PerfAnalyzerTrials, CausesWithoutAnOpOfThePlanAreLeftOut) {
  EXPECT_THAT(trials_for(run_limited_by({{.kind = Cause::Kind::load}, {.kind = Cause::Kind::kernel, .op = "gone"}}), plan(), {8, 8}, 100),
              IsEmpty());
}

TEST(PerfAnalyzerTrials, ChangesOfEpochsCount) {
  balance::PlacementReport before, after;
  before.totals.cycles = 900;
  before.totals.epochs = 1;
  after.totals.cycles = 400;
  after.totals.epochs = 6;
  EXPECT_DOUBLE_EQ(speedup(before, after, 0), 2.25);
  EXPECT_DOUBLE_EQ(speedup(before, after, 100), 1);
}

}  // namespace
}  // namespace buda::perf_analyzer
