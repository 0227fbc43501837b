// SPDX-License-Identifier: Apache-2.0
// Orders and breaks that tags of ops ask for.
#include "unit/balance/fixture.hpp"

#include <buda/balance/problem/schedule.hpp>
#include <buda/graph/tags/constraint_tags.hpp>

namespace buda::balance {
namespace {

using graph::NodeId;
using ::testing::HasSubstr;

// x -> a -> b -> y and x -> c -> d -> z.
struct Branches : DeviceGraph {
  NodeId x = input("x", {1, 1, 32, 32}), a = step("a", x), b = step("b", a), c = step("c", x), d = step("d", c);
  Branches() {
    output("y", b);
    output("z", d);
  }
  NodeId step(const std::string& name, NodeId from) { return op(name, "exp", {from}, {1, 1, 32, 32}); }
  void place(NodeId id, std::string_view at) { graph::add_constraint(graph.node(id), graph::kSchedulePlace, at); }
  void begins_epoch(NodeId id, std::string_view label) { graph::add_constraint(graph.node(id), graph::kEpochBreak, label); }
};

std::string order_of(const Balanced& b) {
  std::string out;
  for (const OpSpec& op : b.problem.ops) out += op.node_name;
  return out;
}

std::string epochs_of(const Result<Balanced>& b) {
  std::string out;
  if (!b.ok()) return text_of(b.failure());
  for (const auto& op : b->choice.ops) out += cat(op.epoch);
  return out;
}

TEST(Constraints, WithoutThemBranchesAdvanceTogether) {
  auto result = balance_with(Branches().graph, "n150");
  ASSERT_TRUE(result.ok()) << text_of(result.failure());
  EXPECT_EQ(order_of(*result), "acbd");
  EXPECT_EQ(epochs_of(result), "0000");
}

TEST(Constraints, AnOrderIsKept) {
  for (auto policy : {SchedulePolicy::module_inputs_bfs, SchedulePolicy::topological}) {
    Branches g;
    g.place(g.d, "0:0");
    g.place(g.a, "0:1");
    BalanceOptions options;
    options.schedule = policy;
    auto result = balance_with(g.graph, "n150", options);
    ASSERT_TRUE(result.ok()) << text_of(result.failure());
    EXPECT_EQ(order_of(*result), "cdab");
  }
}

// A place whose op is gone does not end the order.
TEST(Constraints, AnOrderReachesOverAPlaceWithoutOps) {
  Branches g;
  g.place(g.b, "3:0");
  g.place(g.c, "3:7");
  auto result = balance_with(g.graph, "n150");
  ASSERT_TRUE(result.ok()) << text_of(result.failure());
  EXPECT_EQ(order_of(*result), "abcd");
}

TEST(Constraints, AnOrderAgainstTheDataIsRefused) {
  Branches g;
  g.place(g.b, "0:0");
  g.place(g.a, "0:1");
  auto result = balance_with(g.graph, "n150");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().diagnostics().front().code, "BL041");
  EXPECT_THAT(text_of(result.failure()), HasSubstr("op 'b' would be scheduled before op 'a', whose result it takes"));
}

TEST(Constraints, OrdersAgainstEachOtherAreRefused) {
  Branches g;
  g.place(g.a, "0:0");
  g.place(g.c, "0:1");
  g.place(g.c, "1:0");
  g.place(g.a, "1:1");
  auto result = balance_with(g.graph, "n150");
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(text_of(result.failure()), HasSubstr("cannot be scheduled before"));
}

TEST(Constraints, AnOrderMustBeWrittenAsOne) {
  Branches g;
  g.place(g.a, "first");
  auto result = balance_with(g.graph, "n150");
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(text_of(result.failure()), HasSubstr("node 'a': tag schedule_place has 'first', which is not ORDER:PLACE"));
}

TEST(Constraints, AnEpochBeginsWithTheFirstOpOfAConstraint) {
  Branches g;
  g.begins_epoch(g.b, "late");
  g.begins_epoch(g.d, "late");
  EXPECT_EQ(epochs_of(balance_with(g.graph, "n150")), "0011");
  g.begins_epoch(g.d, "later");
  EXPECT_EQ(epochs_of(balance_with(g.graph, "n150")), "0012");
}

TEST(Constraints, AnOverrideTakesABreakOff) {
  Branches g;
  g.begins_epoch(g.b, "early");
  BalanceOptions options;
  EXPECT_EQ(epochs_of(balance_with(g.graph, "n150", options)), "0011");
  options.overrides = {{"b.epoch-break", "false"}};
  EXPECT_EQ(epochs_of(balance_with(g.graph, "n150", options)), "0000");
}

TEST(Constraints, AChipThatIsNotThereIsAnEpoch) {
  Branches g;
  graph::add_constraint(g.graph.node(g.d), graph::kChipBreak, "d");
  EXPECT_EQ(epochs_of(balance_with(g.graph, "n150")), "0001");
}

TEST(Constraints, AQueueStandsBetweenOpsOfOneEpoch) {
  Branches g;
  graph::add_constraint(g.graph.node(g.b), graph::kQueueBefore, "0");
  auto result = balance_with(g.graph, "n150");
  ASSERT_TRUE(result.ok()) << text_of(result.failure());
  EXPECT_EQ(epochs_of(result), "0000");
  const QueuePlan& queue = result->built.queues.queues.back();
  EXPECT_EQ(queue.queue.name, "buffering_a_0");
  EXPECT_EQ(role_name(queue.role), "buffering");
  EXPECT_EQ(queue.queue.input, "a");
  ASSERT_EQ(queue.readers.size(), 1u);
  EXPECT_EQ(result->problem.op(queue.readers[0].op).node_name, "b");
  // In another epoch the queue between epochs is one.
  g.begins_epoch(g.b, "b");
  result = balance_with(g.graph, "n150");
  ASSERT_TRUE(result.ok()) << text_of(result.failure());
  EXPECT_EQ(role_name(result->built.queues.queues.back().role), "epoch-to-epoch");
}

TEST(Constraints, AQueueIsForAnInputThatIsThere) {
  Branches g;
  graph::add_constraint(g.graph.node(g.b), graph::kQueueBefore, "1");
  auto result = balance_with(g.graph, "n150");
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(text_of(result.failure()), HasSubstr("node 'b': tag queue_before has '1', which is none of its 1 inputs"));
}

TEST(Constraints, WhatATilizerReadsLiesInRows) {
  DeviceGraph g;
  auto x = g.input("x", {1, 1, 64, 96});
  auto tilizer = g.op("t", "tilizer", {x}, {1, 1, 64, 96});
  g.output("y", g.op("e", "exp", {tilizer}, {1, 1, 64, 96}));
  auto result = balance_with(g.graph, "n150");
  ASSERT_TRUE(result.ok()) << text_of(result.failure());
  EXPECT_EQ(result->built.queues.queues.front().queue.layout, netlist::QueueLayout::flat);
  EXPECT_EQ(result->choice.ops[0].model.block.ublock_rt, 1);
  // Nobody else can read rows, and rows come from the host.
  auto e = g.graph.find("e");
  g.graph.set_input(e, 0, x);
  g.output("z", g.op("f", "exp", {tilizer}, {1, 1, 64, 96}));
  result = balance_with(g.graph, "n150");
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(text_of(result.failure()), HasSubstr("op 'e' needs tiles"));
  g.graph.set_input(tilizer, 0, e);
  result = balance_with(g.graph, "n150");
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(text_of(result.failure()), HasSubstr("the input of a tilizer is a model input"));
}

TEST(Constraints, OfOpsThatBecomeOneAreAllKept) {
  Branches g;
  g.begins_epoch(g.a, "one");
  g.begins_epoch(g.b, "two");
  g.place(g.b, "0:1");
  graph::merge_constraints(g.graph.node(g.a), g.graph.node(g.b));
  graph::merge_constraints(g.graph.node(g.a), g.graph.node(g.b));
  EXPECT_EQ(g.graph.node(g.a).tags.at(graph::kEpochBreak), "one\ntwo");
  EXPECT_EQ(g.graph.node(g.a).tags.at(graph::kSchedulePlace), "0:1");
}

}  // namespace
}  // namespace buda::balance
