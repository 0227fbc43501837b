// SPDX-License-Identifier: Apache-2.0
// Differences between graphs.
#include <buda/graph/check/diff.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/values/value.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace buda::graph {
namespace {

Graph diff_sample() {
  Graph g("g");
  NodeId x = g.add("x", "input");
  g.node(x).outputs = {{DType::f32, {2}, std::nullopt}};
  NodeId w = g.add("w", "parameter");
  g.node(w).outputs = {{DType::f32, {2}, std::nullopt}};
  g.node(w).value = Value(Tensor(Shape{2}, std::vector<float>{1, NAN}));
  NodeId a = g.add("a", "add", {x, w});
  g.node(a).outputs = {{DType::f32, {2}, std::nullopt}};
  g.node(a).attrs["k"] = std::nan("");
  g.add("y", "output", {a});
  return g;
}

TEST(Diff, NothingBetweenCopies) {
  Graph a = diff_sample(), b = diff_sample();
  b.node(b.find("a")).loc = {"other.json", 3, 1};
  EXPECT_TRUE(diff(a, b).empty());
}

TEST(Diff, SaysWhatIsNew) {
  Graph a = diff_sample(), b = diff_sample();
  NodeId r = b.add("r", "relu", {b.find("a")});
  b.set_input(b.find_output("y"), 0, Edge(r, {Tm::transpose()}));
  b.node(b.find("a")).attrs["k"] = 0.5;
  b.node(b.find("a")).attrs["l"] = std::string("new");
  b.node(b.find("a")).precision.fidelity = MathFidelity::hifi2;
  b.node(b.find("w")).value = Value(Tensor(Shape{2}, std::vector<float>{1, 2}));
  b.node(b.find("x")).outputs[0].shape = {1, 2};
  b.rename(b.find("w"), "v");
  a.node(a.find("a")).origins = {{"m.onnx", "Add_1"}};
  EXPECT_EQ(
      diff(a, b),
      (std::vector<std::string>{
          "~ node 'x' type: F32 [2] -> F32 [1, 2]",
          "- node 'w' (parameter)",
          "~ node 'a' input 1: 'w' -> 'v'",
          "~ node 'a' k: nan -> 0.5",
          "~ node 'a' l: none -> \"new\"",
          "~ node 'a' precision: intermediate open, accumulate open, fidelity open -> intermediate open, accumulate open, fidelity HiFi2",
          "~ node 'a' origins: [m.onnx:Add_1] -> []",
          "~ output 'y' input 0: 'a' -> 'r' | transpose",
          "+ node 'v' (parameter)",
          "+ node 'r' (relu)",
      }));
  b.rename(b.find("v"), "w");
  EXPECT_EQ(diff(a, b)[1], "~ node 'w' value: other elements");
}

}  // namespace
}  // namespace buda::graph
