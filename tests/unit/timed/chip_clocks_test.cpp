// SPDX-License-Identifier: Apache-2.0
// When executions on several chips begin.
#include <buda/timed/chip_clocks.hpp>

#include <gtest/gtest.h>

namespace buda::timed {
namespace {

netlist::Queue queue(const std::string& name, const std::string& input, std::int32_t entries) {
  netlist::Queue q;
  q.name = name;
  q.input = input;
  q.entries = entries;
  return q;
}

netlist::Graph graph(const std::string& op, const std::string& input, std::int32_t chip) {
  netlist::Graph g;
  g.target_device = chip;
  g.input_count = 4;
  g.ops.resize(1);
  g.ops[0].name = op;
  g.ops[0].inputs.resize(1);
  g.ops[0].inputs[0].name = input;
  return g;
}

// Graph 0 on chip 1 writes queue 1, graph 1 on chip 0 reads it. It has room for two executions.
netlist::Netlist two_chips() {
  netlist::Netlist n;
  n.queues = {queue("x", "HOST", 8), queue("between", "a", 8), queue("y", "b", 8)};
  n.graphs = {graph("a", "x", 1), graph("b", "between", 0)};
  return n;
}

class Chips : public ::testing::Test {
 protected:
  sim::Ticks run(std::size_t g, std::set<std::int32_t> chips, sim::Ticks time) {
    const std::vector<netlist::Execution> executions{{g, {}}};
    const ChipClocks::Together together{executions, std::move(chips)};
    const sim::Ticks begin = clocks_.earliest(together, queues_);
    if (g == 0) queues_[1].append(4);
    clocks_.ended(together, begin + time, queues_);
    if (g == 1) {
      queues_[1].drop(4);
      clocks_.moved(1, queues_);
    }
    return begin;
  }

  netlist::Netlist netlist_ = two_chips();
  QueueTable queues_{netlist_};
  ChipClocks clocks_{netlist_};
};

TEST_F(Chips, WorkBesideEachOther) {
  EXPECT_EQ(run(0, {1}, 100), 0U);
  EXPECT_EQ(run(1, {0}, 120), 100U) << "what it reads is there when the other has ended";
  EXPECT_EQ(run(0, {1}, 100), 100U);
  EXPECT_EQ(run(1, {0}, 120), 220U);
  EXPECT_EQ(clocks_.latest(), 340U);
}

TEST_F(Chips, WaitForRoom) {
  EXPECT_EQ(run(0, {1}, 10), 0U);
  EXPECT_EQ(run(1, {0}, 100), 10U);
  EXPECT_EQ(run(0, {1}, 10), 10U);
  EXPECT_EQ(run(1, {0}, 100), 110U);
  EXPECT_EQ(run(0, {1}, 10), 110U) << "the first entries are free when the first reader has ended";
}

TEST_F(Chips, WaitForEachOtherWhereAnEpochHasCoresOfBoth) {
  EXPECT_EQ(run(0, {1}, 100), 0U);
  EXPECT_EQ(run(1, {0, 1}, 120), 100U);
  EXPECT_EQ(run(0, {1}, 100), 220U);
}

TEST_F(Chips, GoOnTogetherFromATime) {
  run(0, {1}, 100);
  clocks_.set(500);
  EXPECT_EQ(run(0, {1}, 100), 500U);
}

}  // namespace
}  // namespace buda::timed
