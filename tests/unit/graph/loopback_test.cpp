// SPDX-License-Identifier: Apache-2.0
// Inputs with the tag of a loopback.
#include <buda/graph/graph.hpp>
#include <buda/graph/tags/loopback.hpp>

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace buda::graph {
namespace {

NodeId add_typed(Graph& g, const char* name, const char* op, std::vector<Edge> inputs, Shape shape) {
  NodeId id = g.add(name, op, std::move(inputs));
  g.node(id).outputs = {{DType::f32, std::move(shape), std::nullopt}};
  return id;
}

Graph cell() {
  Graph g("cell");
  NodeId x = add_typed(g, "x", "input", {}, {1, 4});
  NodeId s = add_typed(g, "s", "input", {}, {1, 4});
  NodeId w = add_typed(g, "w", "input", {}, {1, 8});
  g.add("t", "output", {add_typed(g, "sum", "add", {x, s}, {1, 4})});
  g.add("u", "output", {add_typed(g, "tanh", "tanh", {w}, {1, 8})});
  return g;
}

TEST(Loopback, PairsComeInTheOrderOfInputs) {
  Graph g = cell();
  EXPECT_TRUE(loopbacks(g)->empty());
  g.node(g.find("w")).tags[kLoopback] = "u";
  g.node(g.find("x")).tags[kLoopback] = "t";
  g.node(g.find("s")).tags[kLoopback] = "t";  // an output may be several inputs
  auto pairs = loopbacks(g);
  ASSERT_TRUE(pairs);
  ASSERT_EQ(pairs->size(), 3u);
  EXPECT_EQ((*pairs)[0].input, g.find("x"));
  EXPECT_EQ((*pairs)[1].input, g.find("s"));
  EXPECT_EQ((*pairs)[2].output, g.find_output("u"));
}

TEST(Loopback, AllThatIsWrongIsTold) {
  Graph g = cell();
  g.node(g.find("w")).tags[kLoopback] = "t";
  g.node(g.find("x")).tags[kLoopback] = "v";
  auto pairs = loopbacks(g);
  ASSERT_FALSE(pairs);
  const auto& found = pairs.failure().diagnostics();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].code, "GR028");
  EXPECT_EQ(found[0].message, "input 'x' cannot be output 'v' of the previous step: there is no such output");
  EXPECT_EQ(found[1].message, "input 'w' cannot be output 't' of the previous step: the input is F32 [1, 8] and the output F32 [1, 4]");
}

}  // namespace
}  // namespace buda::graph
