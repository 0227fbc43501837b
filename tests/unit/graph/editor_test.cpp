// SPDX-License-Identifier: Apache-2.0
// Rewrites keep names, provenance and tags.
#include <buda/graph/editor.hpp>
#include <buda/tensor/tensor.hpp>

#include <gtest/gtest.h>

namespace buda::graph {
namespace {

const ValueType kType{DType::f32, {2}, std::nullopt};

struct Chain {
  Graph g{"g"};
  NodeId x, a, b, out;
  Chain() {
    x = g.add("x", "input");
    a = g.add("a", "gelu", {x});
    b = g.add("b", "relu", {a});
    out = g.add("y", "output", {b});
    for (NodeId id : {x, a, b}) g.node(id).outputs = {kType};
    g.node(a).origins = {{"m.onnx", "Gelu_1"}};
    g.node(a).tags = {{"keep", "1"}};
    g.node(a).loc = {"g.json", 9, 5};
    g.node(b).origins = {{"m.onnx", "Relu_2"}};
  }
};

TEST(Editor, ReplacesANodeByASmallGraph) {
  Chain c;
  GraphEditor e(c.g, c.a);
  NodeId half = e.add_constant("half", Tensor::scalar(0.5f));
  NodeId scaled = e.add("scale", "multiply", {c.x, half}, {kType});
  EXPECT_EQ(c.g.node(scaled).name(), "a.scale");
  EXPECT_EQ(c.g.node(half).name(), "a.half");
  e.replace(c.a, scaled);
  EXPECT_FALSE(c.g.contains(c.a));
  EXPECT_EQ(c.g.node(scaled).name(), "a");
  EXPECT_EQ(c.g.node(c.b).inputs()[0].source, ValueRef(scaled));
  for (NodeId id : {half, scaled}) {
    EXPECT_EQ(c.g.node(id).origins, (std::vector<Origin>{{"m.onnx", "Gelu_1"}}));
    EXPECT_EQ(c.g.node(id).tags, (std::map<std::string, std::string>{{"keep", "1"}}));
    EXPECT_EQ(c.g.node(id).loc.line, 9u);
  }
}

TEST(Editor, WrapsANode) {
  // b becomes neg(b): the new node uses the old one, whose other uses move.
  Chain c;
  GraphEditor e(c.g, c.b);
  NodeId n = e.add("negative", "negative", {c.b}, {kType});
  e.replace(c.b, n);
  EXPECT_TRUE(c.g.contains(c.b));
  EXPECT_EQ(c.g.node(n).name(), "b.negative");
  EXPECT_EQ(c.g.node(c.out).inputs()[0].source.node, n);
  EXPECT_EQ(c.g.node(n).inputs()[0].source.node, c.b);
}

TEST(Editor, ReplacesByAnExistingValueWithoutRenamingIt) {
  Chain c;
  GraphEditor e(c.g, c.b);
  e.replace(c.b, c.a);
  EXPECT_EQ(c.g.node(c.a).name(), "a");
  EXPECT_EQ(c.g.node(c.a).origins, (std::vector<Origin>{{"m.onnx", "Gelu_1"}, {"m.onnx", "Relu_2"}}));
  EXPECT_EQ(c.g.node(c.out).inputs()[0].source.node, c.a);
  e.replace(c.a, c.x);
  EXPECT_EQ(c.g.size(), 2u);
  EXPECT_EQ(c.g.node(c.x).name(), "x");
}

TEST(Editor, ReplacesSeveralResultsByPort) {
  Graph g("g");
  NodeId x = g.add("x", "input"), s = g.add("s", "split", {x}), a = g.add("a", "relu", {Edge(ValueRef(s, 1))}),
         b = g.add("b", "relu", {Edge(s)});
  g.node(s).outputs = {kType, kType};
  GraphEditor e(g, s);
  NodeId t = e.add("other", "split2", {x}, {kType, kType});
  e.replace(s, t);
  EXPECT_EQ(g.node(a).inputs()[0].source, ValueRef(t, 1));
  EXPECT_EQ(g.node(b).inputs()[0].source, ValueRef(t, 0));
}

TEST(Editor, InsertsOnOneEdge) {
  Graph g("g", Level::device);
  NodeId x = g.add("x", "input"), a = g.add("a", "add", {Edge(x, {Tm::transpose()}), Edge(x)});
  GraphEditor e(g, a);
  NodeId n = e.insert_on_edge({a, 0}, "nop", "nop", kType);
  EXPECT_EQ(g.node(n).inputs()[0], Edge(x, {Tm::transpose()}));
  EXPECT_EQ(g.node(a).inputs()[0], Edge(n));
  EXPECT_EQ(g.node(a).inputs()[1], Edge(x));
  EXPECT_EQ(g.node(n).name(), "a.nop");
}

TEST(Editor, ErasesWhatNobodyNeeds) {
  Chain c;
  NodeId d1 = c.g.add("d1", "relu", {c.x}), d2 = c.g.add("d2", "add", {d1, c.a});
  GraphEditor e(c.g, c.a);
  e.erase_unused(d2);
  EXPECT_FALSE(c.g.contains(d1));
  EXPECT_FALSE(c.g.contains(d2));
  EXPECT_TRUE(c.g.contains(c.a));
  e.erase_unused(c.a);
  EXPECT_TRUE(c.g.contains(c.a));
}

TEST(EraseDeadNodes, KeepsInputsAndWhatOutputsNeed) {
  Chain c;
  c.g.add("unused", "input");
  NodeId d = c.g.add("d", "relu", {c.a});
  c.g.add("d2", "relu", {d});
  c.g.add("p", "parameter");
  EXPECT_EQ(erase_dead_nodes(c.g), 3u);
  EXPECT_EQ(c.g.size(), 5u);
  EXPECT_TRUE(c.g.find("unused").valid());
}

}  // namespace
}  // namespace buda::graph
