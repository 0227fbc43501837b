// SPDX-License-Identifier: Apache-2.0
// What programs ask for, epoch by epoch.
#include <buda/timed/grouping.hpp>

#include <gtest/gtest.h>

namespace buda::timed {
namespace {

netlist::Execution of_graph(std::size_t graph) {
  netlist::Execution e;
  e.graph = graph;
  return e;
}

netlist::Netlist with_queues(std::size_t count) {
  netlist::Netlist netlist;
  netlist.queues.resize(count);
  return netlist;
}

TEST(Schedule, GraphsOfAnEpochAreGathered) {
  const std::vector<runtime::EpochStreams> epochs{{0, {0, 2}, nullptr}, {1, {1}, nullptr}};
  const netlist::Netlist netlist = with_queues(8);
  const TemporalEpochs grouping(epochs);
  runtime::Schedule schedule(netlist, grouping);
  ASSERT_TRUE(schedule.execute(of_graph(2)).ok());
  schedule.read_pointer_moved(7, 3);
  EXPECT_TRUE(schedule.actions.empty()) << "what comes after the epoch waits with it";
  ASSERT_TRUE(schedule.execute(of_graph(0)).ok());
  ASSERT_TRUE(schedule.execute(of_graph(1)).ok());
  ASSERT_EQ(schedule.actions.size(), 3u);
  const auto* first = std::get_if<runtime::ExecuteGraphs>(&schedule.actions[0]);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(grouping.group_of(first->executions[0].graph), 0u);
  EXPECT_EQ(first->executions.size(), 2u);
  const auto* move = std::get_if<runtime::MoveReadPointer>(&schedule.actions[1]);
  ASSERT_NE(move, nullptr);
  EXPECT_EQ(move->queue, 7u);
  EXPECT_EQ(move->value, 3);
  const auto* last = std::get_if<runtime::ExecuteGraphs>(&schedule.actions[2]);
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(grouping.group_of(last->executions[0].graph), 1u);
  EXPECT_TRUE(schedule.finish().ok());
}

TEST(Schedule, EpochsDoNotMix) {
  const std::vector<runtime::EpochStreams> epochs{{0, {0, 2}, nullptr}, {1, {1}, nullptr}};
  const netlist::Netlist netlist = with_queues(8);
  const TemporalEpochs grouping(epochs);
  runtime::Schedule schedule(netlist, grouping);
  ASSERT_TRUE(schedule.execute(of_graph(0)).ok());
  const auto other = schedule.execute(of_graph(1));
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.failure().diagnostics().front().code, "SM005");
}

}  // namespace
}  // namespace buda::timed
