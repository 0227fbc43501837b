// SPDX-License-Identifier: Apache-2.0
// Parts of graphs.
#include <buda/graph/check/diff.hpp>
#include <buda/graph/check/verify.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/parts/cut.hpp>
#include <buda/graph/values/value.hpp>

#include <gtest/gtest.h>

namespace buda::graph {
namespace {

ValueType f32(Shape shape) { return {DType::f32, std::move(shape), std::nullopt}; }

// x, w -> a -> s (two results) -> b(s:0), c(s:1, a) -> y = b, z = c
Graph sample() {
  Graph g("g");
  NodeId x = g.add("x", "input");
  g.node(x).outputs = {f32({4})};
  NodeId u = g.add("u", "input");
  g.node(u).outputs = {f32({4})};
  NodeId w = g.add("w", "parameter");
  g.node(w).outputs = {f32({4})};
  g.node(w).value = Value(Tensor(Shape{4}, std::vector<float>{1, 2, 3, 4}), {"w.safetensors", "w"});
  NodeId a = g.add("a", "add", {x, w});
  NodeId s = g.add("s", "split", {a});
  g.node(a).outputs = {f32({4})};
  g.node(a).origins = {{"m.onnx", "Add_0"}};
  g.node(s).outputs = {f32({2}), f32({2})};
  NodeId b = g.add("b", "multiply", {ValueRef(s, 0), ValueRef(s, 0)});
  g.node(b).outputs = {f32({2})};
  NodeId c = g.add("c", "add", {ValueRef(s, 1), u});
  g.node(c).outputs = {f32({2})};
  g.add("y", "output", {b});
  g.add("z", "output", {c});
  return g;
}

std::vector<std::string> names(const Graph& g, const std::vector<NodeId>& ids) {
  std::vector<std::string> out;
  for (NodeId id : ids) out.push_back(g.node(id).name());
  return out;
}
using Names = std::vector<std::string>;

std::string code(const Graph& g, const Names& from, const Names& to) {
  auto r = cut(g, from, to);
  return r ? "none" : r.failure().diagnostics().front().code + " " + r.failure().diagnostics().front().hint;
}

TEST(Cut, EverythingIsACopy) {
  Graph g = sample();
  auto all = cut(g, {}, {});
  ASSERT_TRUE(all);
  EXPECT_TRUE(diff(g, *all).empty());
}

TEST(Cut, WhatAnOutputNeedsAndNothingElse) {
  auto part = cut(sample(), {}, {"y"});
  ASSERT_TRUE(part);
  EXPECT_EQ(names(*part, part->inputs()), Names{"x"});
  EXPECT_EQ(names(*part, part->outputs()), Names{"y"});
  EXPECT_FALSE(part->find("c").valid());
  EXPECT_TRUE(verify(*part).empty());
  const Node& w = part->node(part->find("w"));
  EXPECT_EQ(w.value->source->path, "w.safetensors") << "a tensor that did not change is referred to where it is";
  EXPECT_EQ(part->node(part->find("a")).origins.size(), 1u);
}

TEST(Cut, BetweenValues) {
  auto part = cut(sample(), {"s:1", "a"}, {"c", "s"});
  ASSERT_TRUE(part);
  // s is computed, for its first result; its second is given.
  EXPECT_EQ(names(*part, part->inputs()), (Names{"u", "s.1.given", "a"}));
  EXPECT_EQ(names(*part, part->outputs()), (Names{"c", "s"}));
  EXPECT_TRUE(verify(*part).empty());
  EXPECT_EQ(part->type(ValueRef(part->find("s.1.given")))->shape, (Shape{2}));
  EXPECT_FALSE(part->find("w").valid());
  auto second = cut(sample(), {"s:1"}, {"c"});
  ASSERT_TRUE(second);
  EXPECT_EQ(names(*second, second->inputs()), (Names{"u", "s.1"}));
}

TEST(Cut, InputsThatAreNamedStay) {
  auto part = cut(sample(), {"x"}, {"y"});
  ASSERT_TRUE(part);
  EXPECT_EQ(names(*part, part->inputs()), Names{"x"});
}

TEST(Cut, DeviceGraphsSayTheShapeThatTheHostSees) {
  Graph g = sample();
  g.level = Level::device;
  auto part = cut(g, {"a"}, {"b"});
  ASSERT_TRUE(part);
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(part->node(part->find("a")).attrs.at("model_shape")), std::vector<std::int64_t>{4});
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(part->node(part->find_output("b")).attrs.at("model_shape")), std::vector<std::int64_t>{2});
}

TEST(Cut, RefusesWithReasons) {
  Graph g = sample();
  EXPECT_EQ(code(g, {}, {"elsewhere"}), "GC001 ");
  g.rename(g.find("b"), "hidden");
  EXPECT_EQ(code(g, {}, {"hiden"}), "GC001 did you mean 'hidden'?");
  EXPECT_EQ(code(g, {"s:2"}, {}).substr(0, 5), "GC001");
  EXPECT_EQ(code(g, {"y"}, {}).substr(0, 5), "GC001") << "an output is no value";
  EXPECT_EQ(code(g, {"c"}, {"y"}), "GC003 ");
  EXPECT_EQ(code(g, {"a", "a"}, {"y"}), "GC004 ");
  EXPECT_EQ(code(g, {}, {"y", "y"}), "GC004 ");
  g.node(g.find("a")).outputs.clear();
  EXPECT_EQ(code(g, {"a"}, {"y"}), "GC002 ");
}

}  // namespace
}  // namespace buda::graph
