// SPDX-License-Identifier: Apache-2.0
// Drawings: whole ones, and overviews in which weights and repeated blocks are drawn with others.
#include <buda/base/rng.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/drawing/dot.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/parts/order_parts.hpp>
#include <buda/graph/parts/repeats.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::graph {
namespace {

using testing::HasSubstr;
using testing::Not;

const ValueType kRow = {DType::f32, {1, 1, 32, 64}, std::nullopt};

NodeId add_typed(Graph& g, const std::string& name, const std::string& op, std::vector<Edge> inputs = {}) {
  NodeId id = g.add(name, op, std::move(inputs));
  if (op != "output") g.node(id).outputs = {kRow};
  return id;
}

// An input, `layers` times relu(add(matmul(x, weight), mask)), and an output.
Graph layered(int layers) {
  Graph g("layers");
  NodeId x = add_typed(g, "x", "input"), mask = add_typed(g, "mask", "input");
  x = add_typed(g, "embedded", "tanh", {x});
  for (int i = 0; i < layers; ++i) {
    NodeId w = add_typed(g, cat("w", i), "parameter");
    x = add_typed(g, cat("matmul", i), "matmul", {x, w});
    x = add_typed(g, cat("add", i), "add", {x, mask});
    x = add_typed(g, cat("relu", i), "relu", {x});
  }
  add_typed(g, "y", "output", {x});
  return g;
}

std::vector<NodeId> without_weights(const Graph& g) {
  std::vector<NodeId> out;
  for (NodeId id : g.topological_order())
    if (!g.node(id).has_value()) out.push_back(id);
  return out;
}

TEST(Dot, DrawsNodesAndEdgesInFull) {
  Graph g("g \"quoted\"", Level::device);
  NodeId x = add_typed(g, "x\\y", "input");
  NodeId w = add_typed(g, "w", "parameter");
  NodeId m = g.add("m", "matmul", {Edge(x, {Tm::hslice(2)}), Edge(w)});
  g.node(m).attrs["bias"] = true;
  g.add("y", "output", {m});
  const std::string text = dot_text(g, Detail::full);
  EXPECT_THAT(text, HasSubstr("digraph \"g \\\"quoted\\\"\" {\n"));
  EXPECT_THAT(text, HasSubstr("n0 [label=\"x\\\\y\", shape=ellipse"));
  EXPECT_THAT(text, HasSubstr("n2 [label=\"m\\nmatmul\\nbias = true\""));
  EXPECT_THAT(text, HasSubstr("n0 -> n2 [label=\"F32 [1, 1, 32, 64]\\nhslice: 2\"];\n"));
  EXPECT_THAT(text, HasSubstr("n1 -> n2;\n"));
}

TEST(Dot, OverviewNamesWeightsInTheirUsers) {
  Graph g("g");
  NodeId x = add_typed(g, "x", "input"), w = add_typed(g, "w", "parameter");
  g.add("m", "matmul", {x, w});
  const std::string text = dot_text(g);
  EXPECT_THAT(text, HasSubstr("n2 [label=\"m\\nmatmul\\n1x1x32x64 w\""));
  EXPECT_THAT(text, HasSubstr("n0 -> n2 [label=\"1x1x32x64\"];\n"));
  EXPECT_THAT(text, Not(HasSubstr("n1 ")));
}

TEST(Dot, AFusedNodeIsCalledAfterAllOfItsNodes) {
  Graph g("g", Level::device);
  NodeId x = add_typed(g, "x", "input");
  NodeId relu = add_typed(g, "/1/Relu", "matmul", {x});
  g.node(relu).origins = {{"m.onnx", "/0/Gemm"}, {"m.onnx", "/1/Relu"}};
  EXPECT_THAT(dot_text(g), HasSubstr("[label=\"/0/Gemm +\\n/1/Relu\\nmatmul\""));
  EXPECT_THAT(dot_text(g, Detail::full), HasSubstr("[label=\"/0/Gemm +\\n/1/Relu\\nmatmul\""));
}

TEST(Dot, OverviewCutsLongTextsBetweenCharacters) {
  Graph g("g");
  g.add(std::string(44, 'a') + "\u00e4" + std::string(20, 'b'), "input");
  EXPECT_THAT(dot_text(g), HasSubstr(cat("\"", std::string(44, 'a'), "\u00e4...\"")));
}

TEST(Dot, OverviewDrawsLayersOnce) {
  const std::string text = dot_text(layered(12));
  EXPECT_THAT(text, HasSubstr("12 times; the last begins with matmul11"));
  EXPECT_THAT(text, HasSubstr("matmul0"));
  EXPECT_THAT(text, Not(HasSubstr("relu11")));
  // From each layer to the next, from the mask, and from the last one to the output.
  EXPECT_THAT(text, HasSubstr("n6 -> n4 [label=\"1x1x32x64\", style=dashed, constraint=false];\n"));
  EXPECT_THAT(text, HasSubstr("n1 -> n5 [label=\"1x1x32x64\"];\n"));
  EXPECT_THAT(text, HasSubstr("n6 -> n51 [label=\"1x1x32x64\"];\n"));
}

TEST(RepeatedBlocks, AreFoundWhereverTheyBegin) {
  const Graph g = layered(5);
  EXPECT_EQ(repeated_blocks(g, without_weights(g)), (std::vector<Repeat>{{3, 3, 5}}));
}

TEST(RepeatedBlocks, AskForEqualAttributesAndSources) {
  Graph g = layered(4);
  g.node(g.find("relu1")).attrs["max"] = 6.0;
  EXPECT_EQ(repeated_blocks(g, without_weights(g)), (std::vector<Repeat>{{9, 3, 2}})) << "from matmul2 on";
  Graph other = layered(2);
  other.set_input(other.find("add1"), 1, Edge(other.find("x")));
  EXPECT_TRUE(repeated_blocks(other, without_weights(other)).empty());
}

// No two nodes alike: each takes the one before it and a random one of the last `reach`.
Graph irregular(std::size_t nodes, std::size_t reach) {
  Graph g("irregular");
  Rng rng(5);
  std::vector<NodeId> all = {add_typed(g, "x", "input")};
  for (std::size_t i = 1; i < nodes; ++i) {
    const std::size_t back = 1 + static_cast<std::size_t>(rng.below(std::min(reach, all.size())));
    all.push_back(add_typed(g, cat("op", i), back % 2 == 0 ? "add" : "multiply", {all.back(), all[all.size() - back]}));
    g.node(all.back()).attrs["number"] = static_cast<std::int64_t>(i);
  }
  return g;
}

std::size_t count_of(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST(Dot, OverviewOfALargeGraphStaysSmall) {
  for (std::size_t reach : {2u, 50u, 10000u}) {
    const std::string text = dot_text(irregular(10000, reach));
    EXPECT_LE(count_of(text, " [label=") - count_of(text, " -> "), 150u) << reach;
    EXPECT_LE(count_of(text, " -> "), 300u) << reach;
    EXPECT_GE(count_of(text, "shape=box3d"), 5u) << reach;
    EXPECT_THAT(text, HasSubstr("to op9999"));
  }
}

TEST(Dot, ARepeatOfALargeGraphIsOnePart) {
  Graph g = irregular(500, 20);
  NodeId x = g.topological_order().back();
  for (int i = 0; i < 100; ++i)
    for (const char* op : {"tanh", "exp", "relu"}) x = add_typed(g, cat(op, i), op, {x});
  EXPECT_THAT(dot_text(g), HasSubstr("[label=\"100 times 3 nodes\\nexp 100, relu 100, tanh 100\\ntanh0\\nto relu99\""));
}

TEST(OrderParts, CutsWhereFewestValuesPass) {
  // Two blocks of ten nodes, all of which read the block's first; one value passes between them.
  Graph g;
  NodeId last = add_typed(g, "x", "input");
  for (int block = 0; block < 2; ++block) {
    NodeId first = add_typed(g, cat("first", block), "tanh", {last});
    last = first;
    for (int i = 0; i < 9; ++i) last = add_typed(g, cat("add", block, i), "add", {last, first});
  }
  const OrderParts parts = parts_of_order(g, g.topological_order(), {}, 2, 10);
  ASSERT_THAT(parts.begins, testing::ElementsAre(0, 11));
  ASSERT_EQ(parts.edges.size(), 1u);
  EXPECT_EQ(parts.edges[0].values, 1u);
  EXPECT_EQ(parts.edges[0].first_place, 10u);
}

}  // namespace
}  // namespace buda::graph
