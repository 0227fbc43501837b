// SPDX-License-Identifier: Apache-2.0
// Phases by the names of graphs, and what they take of a step.
#include <buda/perf/phases.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::perf {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Phases, AreReadFromTheNamesOfGraphs) {
  EXPECT_EQ(phases_of_graph("fwd_0_3"), "forward");
  EXPECT_EQ(phases_of_graph("bwd_0"), "backward");
  EXPECT_EQ(phases_of_graph("opt_0_17"), "optimizer");
  EXPECT_EQ(phases_of_graph("bwd_opt_0_5"), "backward, optimizer");
  EXPECT_EQ(phases_of_graph("bwd_0_1,fwd_0_2, opt_0_3"), "forward, backward, optimizer");
  EXPECT_EQ(phases_of_graph("graph_bwd_0"), "");
  EXPECT_EQ(phases_of_graph("fwd"), "");
  EXPECT_EQ(phases_of_graph(""), "");
}

EpochSummary epoch(const char* graph, std::int64_t executions, std::uint64_t total, std::size_t ops) {
  EpochSummary out;
  out.graph = graph;
  out.executions = executions;
  out.total = SimTime::from_cycles(total);
  out.ops.resize(ops);
  return out;
}

TEST(Phases, CountTheCyclesOfAStep) {
  // Five steps of three batches each.
  const std::vector<EpochSummary> epochs = {epoch("fwd_0_0", 15, 30'000, 3), epoch("fwd_0_1", 15, 15'000, 1),
                                            epoch("bwd_0_2", 15, 60'000, 4), epoch("opt_0_3", 5, 10'000, 2)};
  const auto phases = phases_of(epochs);
  ASSERT_EQ(phases.size(), 3u);
  EXPECT_EQ(phases[0].phase, "forward");
  EXPECT_EQ(phases[0].ops, 4);
  EXPECT_EQ(phases[0].epochs, 2);
  EXPECT_EQ(phases[0].total.cycles(), 45'000);
  EXPECT_EQ(phases[0].cycles, 9'000);
  EXPECT_EQ(phases[1].cycles, 12'000);
  EXPECT_EQ(phases[2].cycles, 2'000);

  Summary summary;
  summary.epochs = epochs;
  summary.time = SimTime::from_cycles(115'000);
  EXPECT_THAT(summary_text(summary), HasSubstr("a step: 23000 cycles\n"
                                               "    39 %  forward: 4 ops in 2 epochs, 9000 cycles\n"
                                               "    52 %  backward: 4 ops in 1 epoch, 12000 cycles\n"
                                               "    8.7 %  optimizer: 2 ops in 1 epoch, 2000 cycles\n"));
}

TEST(Phases, OfNetlistsWithoutAnOptimizerAreThoseOfABackwardRun) {
  const auto phases = phases_of({epoch("fwd_0", 4, 400, 1), epoch("bwd_0", 2, 100, 1), epoch("other", 2, 50, 1)});
  ASSERT_EQ(phases.size(), 3u);
  EXPECT_EQ(phases[0].cycles, 200);
  EXPECT_EQ(phases[1].cycles, 50);
  EXPECT_EQ(phases[2].phase, "");
}

TEST(Phases, OfAnInferenceThereAreNone) {
  const std::vector<EpochSummary> epochs = {epoch("fwd_0_0", 2, 100, 1)};
  EXPECT_TRUE(phases_of(epochs).empty());
  Summary summary;
  summary.epochs = epochs;
  EXPECT_THAT(summary_text(summary), Not(HasSubstr("a step")));
}

}  // namespace
}  // namespace buda::perf
