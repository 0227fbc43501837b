// SPDX-License-Identifier: Apache-2.0
// The verifier finds everything, and names the node.
#include <buda/graph/check/verify.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/values/value.hpp>

#include <gtest/gtest.h>

namespace buda::graph {
namespace {

const ValueType kVerifyType{DType::f32, {2}, std::nullopt};

std::vector<std::string> findings(const Graph& g, OpTypes types = OpTypes::required) {
  std::vector<std::string> out;
  for (const auto& d : verify(g, types)) {
    out.push_back(d.code + " " + d.message);
    EXPECT_EQ(d.fault, Fault::input);
  }
  return out;
}

using Found = std::vector<std::string>;

Graph sound() {
  Graph g("g");
  NodeId x = g.add("x", "input"), r = g.add("r", "relu", {x});
  g.node(x).outputs = g.node(r).outputs = {kVerifyType};
  g.add("y", "output", {r});
  return g;
}

TEST(GraphVerify, ASoundGraph) { EXPECT_EQ(findings(sound()), Found{}); }

TEST(GraphVerify, NamesPortsAndDanglingEdges) {
  Graph g = sound();
  g.node(g.find("r")).loc = {"g.json", 4, 5};
  NodeId bad = g.add("bad\xff", "add", {Edge(), Edge(ValueRef(g.find("r"), 2)), Edge(g.find_output("y"))});
  g.node(bad).outputs = {kVerifyType};
  g.set_op(g.find("r"), "");
  EXPECT_EQ(findings(g), (Found{
                             "GR001 node 'r': it has no op",
                             "GR001 node 'bad\xff': a name must be UTF-8 text that is not empty",
                             "GR002 node 'bad\xff': input 0 comes from a node that does not exist",
                             "GR003 node 'bad\xff': input 1 is result 2 of 'r', which has 1 result",
                             "GR002 node 'bad\xff': input 2 comes from the model's output 'y', which has no result",
                         }));
  EXPECT_EQ(verify(g)[0].loc, (SourceLoc{"g.json", 4, 5}));
  EXPECT_EQ(verify(g)[0].node, "r");
}

TEST(GraphVerify, Cycles) {
  Graph g = sound();
  NodeId a = g.add("a", "relu"), b = g.add("b", "relu", {a}), c = g.add("c", "add", {b, g.find("r")}), self = g.add("self", "relu"),
         behind = g.add("behind", "add", {c, self});
  g.set_inputs(a, {c});
  g.set_inputs(self, {self});
  for (NodeId id : {a, b, c, self, behind}) g.node(id).outputs = {kVerifyType};
  EXPECT_EQ(findings(g), (Found{"GR004 node 'a': it depends on itself, through 'c', 'b'", "GR004 node 'self': it is its own input"}));
}

TEST(GraphVerify, ALongCycleIsShortened) {
  Graph g = sound();
  NodeId first = g.add("n0", "relu"), last = first;
  for (int i = 1; i < 100; ++i) last = g.add("n" + std::to_string(i), "relu", {last});
  g.set_inputs(first, {last});
  for (NodeId id : g.ids())
    if (g.node(id).op() == "relu") g.node(id).outputs = {kVerifyType};
  EXPECT_EQ(findings(g), (Found{"GR004 node 'n0': it depends on itself, through 'n99', 'n98', 'n97', 'n96', 'n95', 'n94', 'n93', ..."}));
}

TEST(GraphVerify, SourcesAndOutputs) {
  Graph g("g");
  NodeId x = g.add("x", "input"), p = g.add("p", "parameter", {x}), r = g.add("r", "relu", {x});
  g.node(r).value = Value(Tensor::scalar(1.0f));
  g.node(x).outputs = {kVerifyType, kVerifyType};
  g.node(p).outputs = {{DType::f32, {3}, std::nullopt}};
  g.node(p).value = Value(Tensor(Shape{2}, std::vector<float>{1, 2}));
  NodeId c = g.add("c", "constant");
  g.node(c).outputs = {kVerifyType};
  EXPECT_EQ(findings(g), (Found{
                             "GR008 node 'x': 'input' nodes have one type, and this has 2",
                             "GR005 node 'p': 'parameter' nodes have no inputs, and this has 1",
                             "GR007 node 'p': its value is F32 [2], but its type says F32 [3]",
                             "GR008 node 'r': the types of its results are not known",
                             "GR006 node 'r': only parameters, constants and inputs (their first value) have a value, not 'relu'",
                             "GR006 node 'c': the constant has no value",
                             "GR009 the graph 'g' has no output",
                         }));
  NodeId y = g.add("y", "output");
  g.node(y).outputs = {kVerifyType};
  auto found = findings(g, OpTypes::optional);
  EXPECT_EQ(found.size(), 7u);
  EXPECT_EQ(found[5], "GR005 output 'y': an output has one input, not 0");
  EXPECT_EQ(found[6], "GR005 output 'y': an output has no types of its own; its input's type is what counts");
}

TEST(GraphVerify, ShapesAtBothLevels) {
  Graph g = sound();
  ValueType& type = g.node(g.find("r")).outputs[0];
  type.shape = Shape(std::vector<std::int64_t>(33, 1));
  EXPECT_EQ(findings(g), Found{"GR012 node 'r': its type has 33 axes; at most 32 are allowed"});
  type.shape = {2, -1};
  EXPECT_EQ(findings(g),
            Found{"GR012 node 'r': its type F32 [2, -1] is impossible: sizes must not be negative, and all bytes must fit in 63 bits"});
  type.shape = {1LL << 61};
  EXPECT_EQ(findings(g).size(), 1u);
  type.shape = {2};
  type.format = DataFormat::bfp8_b;
  EXPECT_EQ(findings(g), Found{"GR012 node 'r': its type F32 [2] Bfp8_b has a data format, which is legal at device level only"});
  type.format.reset();
  g.set_input(g.find("r"), 0, Edge(g.find("x"), {Tm::transpose()}));
  EXPECT_EQ(findings(g),
            Found{"GR011 node 'r': input 0 has the manipulation 'transpose' on its edge, which is legal at device level only"});

  g.level = Level::device;
  type.shape = {1, 1, 32, 33};
  g.node(g.find("x")).outputs[0].shape = {1, 1, 32, 32};
  EXPECT_EQ(findings(g),
            Found{"GR012 node 'r': its type F32 [1, 1, 32, 33] must consist of whole tiles at device level: r and c are multiples of 32"});
  type.shape = {32, 32};
  EXPECT_EQ(findings(g), Found{"GR012 node 'r': its type F32 [32, 32] must have the four axes (w, z, r, c) at device level"});
  type.shape = {1, 1, 32, 32};
  g.set_input(g.find("r"), 0, Edge(g.find("x"), {Tm::hslice(2)}));
  EXPECT_EQ(findings(g), Found{"GR010 node 'r': input 0 from 'x': 'hslice: 2' cannot be applied to a value of shape [1, 1, 32, 32]: its 32 "
                               "columns do not divide into 2 parts of whole tiles"});
}

}  // namespace
}  // namespace buda::graph
