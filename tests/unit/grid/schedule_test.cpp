// What programs ask for.
#include "grid/schedule.hpp"

#include <gtest/gtest.h>

namespace buda::grid {
namespace {

netlist::Execution of_graph(std::size_t graph) {
  netlist::Execution e;
  e.graph = graph;
  return e;
}

TEST(Schedule, GraphsOfAnEpochAreGathered) {
  const std::vector<runtime::EpochStreams> epochs{{0, {0, 2}, nullptr}, {1, {1}, nullptr}};
  Schedule schedule(epochs);
  ASSERT_TRUE(schedule.execute(of_graph(2)).ok());
  schedule.read_pointer_moved(7, 3);
  EXPECT_TRUE(schedule.actions.empty()) << "what comes after the epoch waits with it";
  EXPECT_FALSE(schedule.finish().ok());
  ASSERT_TRUE(schedule.execute(of_graph(0)).ok());
  ASSERT_TRUE(schedule.execute(of_graph(1)).ok());
  ASSERT_EQ(schedule.actions.size(), 3u);
  const auto* first = std::get_if<ExecuteEpoch>(&schedule.actions[0]);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->epoch, 0u);
  EXPECT_EQ(first->executions.size(), 2u);
  const auto* move = std::get_if<MoveReadPointer>(&schedule.actions[1]);
  ASSERT_NE(move, nullptr);
  EXPECT_EQ(move->queue, 7u);
  EXPECT_EQ(move->value, 3);
  const auto* last = std::get_if<ExecuteEpoch>(&schedule.actions[2]);
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(last->epoch, 1u);
  EXPECT_TRUE(schedule.finish().ok());
}

TEST(Schedule, EpochsDoNotMix) {
  const std::vector<runtime::EpochStreams> epochs{{0, {0, 2}, nullptr}, {1, {1}, nullptr}};
  Schedule schedule(epochs);
  ASSERT_TRUE(schedule.execute(of_graph(0)).ok());
  const auto other = schedule.execute(of_graph(1));
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.failure().diagnostics().front().code, "SM005");
}

}  // namespace
}  // namespace buda::grid
