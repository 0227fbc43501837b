// SPDX-License-Identifier: Apache-2.0
// The graph's indices: names, users, orders.
#include <buda/base/rng.hpp>
#include <buda/graph/graph.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace buda::graph {
namespace {

std::vector<std::string> graph_names(const Graph& g, const std::vector<NodeId>& ids) {
  std::vector<std::string> out;
  for (NodeId id : ids) out.push_back(g.node(id).name());
  return out;
}

using Names = std::vector<std::string>;

TEST(Graph, FindsByName) {
  Graph g("g");
  NodeId x = g.add("x", "input"), y = g.add("y", "relu", {x}), out = g.add("y", "output", {y});
  EXPECT_EQ(g.find("y"), y);
  EXPECT_EQ(g.find_output("y"), out);
  EXPECT_FALSE(g.find("z").valid());
  EXPECT_FALSE(g.find_output("x").valid());
  EXPECT_EQ(g.inputs(), std::vector<NodeId>{x});
  EXPECT_EQ(g.outputs(), std::vector<NodeId>{out});
  EXPECT_EQ(g.node(x).kind(), NodeKind::input);
  EXPECT_TRUE(g.node(y).is_op());
}

TEST(Graph, MakesTakenNamesFresh) {
  Graph g("g");
  g.add("a", "relu");
  NodeId second = g.add("a", "relu");
  EXPECT_EQ(g.node(second).name(), "a.1");
  EXPECT_EQ(g.fresh_name("a"), "a.2");
  EXPECT_EQ(g.fresh_name("a"), "a.3");  // a name once offered is not offered again
  EXPECT_EQ(g.fresh_name(""), "node");
  g.add("out", "output");
  EXPECT_EQ(g.fresh_name("out"), "out.1");
  EXPECT_EQ(g.node(g.add("", "relu")).name(), "node");
  EXPECT_FALSE(g.rename(second, "a"));
  EXPECT_FALSE(g.rename(second, ""));
  EXPECT_TRUE(g.rename(second, "b"));
  EXPECT_TRUE(g.rename(second, "b"));
  EXPECT_EQ(g.find("b"), second);
  EXPECT_FALSE(g.find("a.1").valid());
}

TEST(Graph, KnowsUsers) {
  Graph g("g");
  NodeId x = g.add("x", "input"), s = g.add("s", "split", {x}), a = g.add("a", "add", {Edge(ValueRef(s, 1)), Edge(s)}),
         b = g.add("b", "mul", {Edge(ValueRef(s, 1)), Edge(ValueRef(s, 1))});
  EXPECT_EQ(g.users(s), (std::vector<Use>{{a, 0}, {a, 1}, {b, 0}, {b, 1}}));
  EXPECT_EQ(g.users(ValueRef(s, 1)), (std::vector<Use>{{a, 0}, {b, 0}, {b, 1}}));
  g.replace_uses(ValueRef(s, 1), x);
  EXPECT_EQ(g.users(x), (std::vector<Use>{{s, 0}, {a, 0}, {b, 0}, {b, 1}}));
  EXPECT_EQ(g.users(s), (std::vector<Use>{{a, 1}}));
  g.set_input(b, 1, Edge(s, {Tm::transpose()}));
  EXPECT_EQ(g.users(s), (std::vector<Use>{{a, 1}, {b, 1}}));
  EXPECT_EQ(g.node(b).inputs()[1].tms.size(), 1u);
  g.set_input(b, 7, Edge(s));  // there is none: nothing happens
  EXPECT_EQ(g.use_count(s), 2u);
  g.erase(s);
  EXPECT_FALSE(g.contains(s));
  EXPECT_EQ(g.users(x), (std::vector<Use>{{a, 0}, {b, 0}}));
  EXPECT_FALSE(g.node(a).inputs()[1].source.valid());
  EXPECT_EQ(g.size(), 3u);
  EXPECT_EQ(g.node(g.add("s", "relu")).name(), "s");  // the name is free again
}

// Random edits, with the users of every node recomputed from scratch after each.
TEST(Graph, UsersStayRightUnderRandomEdits) {
  Graph g("g");
  Rng rng(7);
  for (int step = 0; step < 3000; ++step) {
    std::vector<NodeId> ids = g.ids();
    auto any = [&] { return ids[rng.below(ids.size())]; };
    std::uint64_t what = rng.below(10);
    if (ids.size() < 3 || what < 4) {
      std::vector<Edge> edges;
      for (std::uint64_t i = rng.below(4); i > 0 && !ids.empty(); --i)
        edges.emplace_back(ValueRef(any(), static_cast<std::uint32_t>(rng.below(2))));
      g.add("n", "op", edges);
    } else if (what < 6) {
      NodeId user = any();
      if (!g.node(user).inputs().empty())
        g.set_input(user, static_cast<std::uint32_t>(rng.below(g.node(user).inputs().size())), Edge(any()));
    } else if (what < 8) {
      g.replace_uses(ValueRef(any(), static_cast<std::uint32_t>(rng.below(2))), any());
    } else if (ids.size() > 20) {
      g.erase(any());
    } else {
      g.set_inputs(any(), {Edge(any()), Edge(any())});
    }
    if (step % 50 != 0) continue;
    std::map<NodeId, std::vector<Use>> expected;
    for (NodeId id : g.ids())
      for (std::uint32_t i = 0; i < g.node(id).inputs().size(); ++i)
        if (g.contains(g.node(id).inputs()[i].source.node)) expected[g.node(id).inputs()[i].source.node].push_back({id, i});
    for (NodeId id : g.ids()) ASSERT_EQ(g.users(id), expected[id]) << "step " << step;
    Graph copy = g;
    for (NodeId id : g.ids()) ASSERT_EQ(copy.users(id), g.users(id));
  }
}

TEST(Graph, TopologicalOrderKeepsTheOrderOfCreation) {
  Graph g("g");
  NodeId a = g.add("a", "input"), b = g.add("b", "parameter"), c = g.add("c", "add", {a, b});
  g.add("d", "input");
  // Made last, needed first: comes right before it is needed.
  NodeId e = g.add("e", "relu", {a});
  g.set_input(c, 0, Edge(e));
  EXPECT_EQ(graph_names(g, g.topological_order()), (Names{"a", "b", "d", "e", "c"}));
}

// The order that a graph has kept is the one that it would find: a copy keeps none.
TEST(Graph, KeptOrderIsTheOneFoundAnew) {
  Graph g("g");
  Rng rng(11);
  std::size_t edits_of_edges = 0;
  for (int step = 0; step < 4000; ++step) {
    std::vector<NodeId> ids = g.ids();
    auto any = [&] { return ids[rng.below(ids.size())]; };
    // Edges go from any node to one behind it in the order, now and then to any other (cycles) or from one that does not exist yet.
    auto source_for = [&](NodeId user) {
      if (rng.below(40) == 0) return rng.below(2) == 0 ? any() : NodeId(static_cast<NodeId::rep>(g.id_bound() + 1));
      std::vector<NodeId> order = g.topological_order();
      auto at = std::find(order.begin(), order.end(), user) - order.begin();
      return at == 0 ? order[0] : order[rng.below(static_cast<std::uint64_t>(at))];
    };
    std::uint64_t what = rng.below(10);
    if (ids.size() < 5 || what < 4) {
      std::vector<Edge> edges;
      for (std::uint64_t i = rng.below(3); i > 0 && !ids.empty(); --i)
        edges.emplace_back(rng.below(50) == 0 ? NodeId(g.id_bound()) : any());
      g.add("n", "op", edges);
    } else if (what < 5) {
      NodeId user = any();
      if (!g.node(user).inputs().empty()) g.set_input(user, 0, Edge(source_for(user)));
      ++edits_of_edges;
    } else if (what < 6) {
      NodeId from = any();
      g.replace_uses(from, source_for(from));
    } else if (what < 7) {
      NodeId user = any();
      g.set_inputs(user, {Edge(source_for(user))});
    } else {
      NodeId victim = any();
      if (ids.size() > 30 || g.use_count(victim) == 0) g.erase(victim);
    }
    std::vector<NodeId> kept = g.topological_order();
    ASSERT_EQ(kept, Graph(g).topological_order()) << "step " << step;
    ASSERT_EQ(kept, g.topological_order());
  }
  EXPECT_GT(edits_of_edges, 100u);
}

TEST(Graph, MovedFromGraphsCanBeFilledAgain) {
  Graph g("g");
  g.add("x", "input");
  ASSERT_EQ(g.topological_order().size(), 1u);
  Graph taken = std::move(g);
  g = Graph("again");
  EXPECT_TRUE(g.topological_order().empty());
  g.add("y", "input");
  EXPECT_EQ(graph_names(g, g.topological_order()), Names{"y"});
  EXPECT_EQ(graph_names(taken, taken.topological_order()), Names{"x"});
}

TEST(Graph, NamesLiveAsLongAsTheirNodes) {
  Graph g("g");
  for (int i = 0; i < 300; ++i) g.add("a name too long to stand in its string itself, number " + std::to_string(i), "relu");
  Graph copy = g;
  g.rename(g.find("a name too long to stand in its string itself, number 7"), "seven");
  g.erase(g.find("a name too long to stand in its string itself, number 8"));
  g.set_op(g.find("a name too long to stand in its string itself, number 9"), "output");
  EXPECT_FALSE(g.find("a name too long to stand in its string itself, number 7").valid());
  EXPECT_FALSE(g.find("a name too long to stand in its string itself, number 8").valid());
  EXPECT_FALSE(g.find("a name too long to stand in its string itself, number 9").valid());
  EXPECT_TRUE(g.find_output("a name too long to stand in its string itself, number 9").valid());
  EXPECT_EQ(g.node(g.find("seven")).id().index(), 7u);
  g = Graph();
  EXPECT_EQ(copy.find("a name too long to stand in its string itself, number 8").index(), 8u);
}

TEST(Graph, NodesOfACycleComeLast) {
  Graph g("g");
  NodeId a = g.add("a", "relu"), b = g.add("b", "relu", {a});
  g.add("c", "relu", {b});
  g.add("free", "input");
  g.set_inputs(a, {b});
  EXPECT_EQ(graph_names(g, g.topological_order()), (Names{"free", "a", "b", "c"}));
}

TEST(Graph, CopiesAreIndependent) {
  Graph g("g");
  NodeId x = g.add("x", "input");
  g.add("y", "relu", {x});
  Graph copy = g;
  copy.erase(copy.find("y"));
  copy.node(copy.find("x")).tags["t"] = "1";
  EXPECT_EQ(g.use_count(x), 1u);
  EXPECT_TRUE(g.node(x).tags.empty());
  EXPECT_EQ(copy.use_count(x), 0u);
  copy = g;
  EXPECT_EQ(copy.use_count(x), 1u);
}

TEST(Graph, OrdersInputsAndOutputs) {
  Graph g("g");
  NodeId a = g.add("a", "input"), b = g.add("b", "input");
  EXPECT_TRUE(g.order_inputs({b, a}));
  EXPECT_EQ(g.inputs(), (std::vector<NodeId>{b, a}));
  EXPECT_FALSE(g.order_inputs({b}));
  EXPECT_FALSE(g.order_inputs({b, b}));
  EXPECT_FALSE(g.order_outputs({b}));
  g.set_op(a, "constant");
  EXPECT_EQ(g.inputs(), std::vector<NodeId>{b});
  g.set_op(a, "output");
  EXPECT_EQ(g.find_output("a"), a);
  EXPECT_FALSE(g.find("a").valid());
  g.erase(b);
  EXPECT_TRUE(g.inputs().empty());
}

TEST(Graph, TypesOfEdges) {
  Graph g("g", Level::device);
  NodeId x = g.add("x", "input");
  g.node(x).outputs = {{DType::f32, {1, 1, 32, 64}, DataFormat::bfp8_b}};
  EXPECT_EQ(g.type(Edge(x, {Tm::transpose()}))->text(), "F32 [1, 1, 64, 32] Bfp8_b");
  EXPECT_FALSE(g.type(Edge(ValueRef(x, 1))));
  EXPECT_FALSE(g.type(Edge()));
  EXPECT_EQ(g.type(ValueRef()), nullptr);
}

TEST(Graph, ManyUsersAndNamesTakeLinearTime) {
  // 200,000 users of one node, disconnected in the worst order; quadratic code would take minutes.
  Graph g("g");
  NodeId x = g.add("x", "input"), y = g.add("y", "input");
  constexpr int kUsers = 200'000;
  for (int i = 0; i < kUsers; ++i) g.add(g.fresh_name("n"), "relu", {x});
  for (NodeId id : g.ids())
    if (!g.node(id).inputs().empty()) g.set_input(id, 0, Edge(y));
  EXPECT_EQ(g.use_count(x), 0u);
  g.replace_uses(y, x);
  EXPECT_EQ(g.use_count(x), static_cast<std::size_t>(kUsers));
  EXPECT_EQ(g.topological_order().size(), static_cast<std::size_t>(kUsers) + 2);
}

}  // namespace
}  // namespace buda::graph
