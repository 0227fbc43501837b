// SPDX-License-Identifier: Apache-2.0
// Types of whole graphs.
#include "running.hpp"

#include <buda/graph/graph.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/ops/whole_graph/infer.hpp>

namespace buda::ops {
namespace {

using graph::Graph;
using graph::NodeId;

std::vector<std::string> messages(const std::vector<Diagnostic>& found) {
  std::vector<std::string> out;
  for (const auto& d : found) out.push_back(d.code + ": " + d.message);
  return out;
}

// x [2, 3] -> transpose -> t; matmul(x, t) -> p; output
Graph untyped() {
  Graph g("g");
  NodeId x = g.add("x", "input");
  g.node(x).outputs = {{DType::f32, {2, 3}, {}}};
  NodeId t = g.add("t", "transpose", {x});
  g.node(t).attrs["perm"] = Ints{1, 0};
  NodeId p = g.add("p", "matmul", {x, t});
  g.add("y", "output", {p});
  return g;
}

TEST(InferTypes, FillsInWhatIsMissing) {
  Graph g = untyped();
  EXPECT_FALSE(check(g));
  ASSERT_TRUE(infer_types(g));
  EXPECT_EQ(g.node(g.find("p")).outputs[0].text(), "F32 [2, 2]");
  EXPECT_TRUE(check(g));
  EXPECT_EQ(flops(g), 2 * 2 * 2 * 3);
}

TEST(InferTypes, NamesTheFirstCulpritOnly) {
  Graph g = untyped();
  g.node(g.find("t")).attrs["perm"] = Ints{0, 1};
  g.node(g.find("p")).loc = {"g.json", 7, 3};
  NodeId after = g.add("after", "relu", {g.find("p")});
  auto result = infer_types(g);
  ASSERT_FALSE(result);
  ASSERT_EQ(result.failure().diagnostics().size(), 1u);
  const Diagnostic& d = result.failure().diagnostics()[0];
  EXPECT_EQ(d.message, "node 'p' (matmul): the inner sizes of [2, 3] and [2, 3] differ: 3 and 2");
  EXPECT_EQ(d.node, "p");
  EXPECT_EQ(d.loc, (SourceLoc{"g.json", 7, 3}));
  EXPECT_TRUE(g.node(after).outputs.empty());
}

TEST(Verify, ComparesTypesWithRules) {
  Graph g = untyped();
  ASSERT_TRUE(infer_types(g));
  g.node(g.find("p")).outputs[0].shape = {2, 3};
  g.node(g.find("t")).attrs["prem"] = Ints{1, 0};
  g.set_op(g.add("q", "rellu", {g.find("x")}), "rellu");
  g.node(g.find("q")).outputs = {{DType::f32, {2, 3}, {}}};
  EXPECT_EQ(messages(verify(g)), (std::vector<std::string>{
                                     "OP002: node 't' (transpose): 'transpose' has no attribute 'prem'",
                                     "OP003: node 'p' (matmul): its type is declared as F32 [2, 3], but its inputs make it F32 [2, 2]",
                                     "OP005: node 'q' (rellu): there is no operation 'rellu' at tensor level",
                                 }));
}

TEST(Verify, ViewsOfTheModelsShapes) {
  Graph g("d", Level::device);
  NodeId x = g.add("x", "input");
  g.node(x).outputs = {{DType::f32, {1, 1, 32, 64}, {}}};
  g.node(x).attrs["model_shape"] = Ints{1, 1, 8, 8};
  NodeId e = g.add("e", "exp", {x});
  g.node(e).outputs = g.node(x).outputs;
  NodeId y = g.add("y", "output", {e});
  g.node(y).attrs["model_shape"] = Ints{4, 16};
  g.node(y).attrs["view_shape"] = Ints{1, 64};
  EXPECT_TRUE(verify(g).empty());
  g.node(x).attrs["view_shape"] = Ints{65};
  EXPECT_EQ(messages(verify(g)), (std::vector<std::string>{"OP003: node 'x' (input): the model's shape [1, 1, 8, 8] and its view [65] have "
                                                           "different numbers of elements"}));
  g.node(x).attrs["view_shape"] = std::string("wide");
  EXPECT_EQ(messages(verify(g)), (std::vector<std::string>{"OP003: node 'x' (input): 'view_shape' must be a list of integers"}));
}

TEST(Verify, DeviceShapesAgainstTheModels) {
  Graph g("d", Level::device);
  NodeId x = g.add("x", "input");
  g.node(x).outputs = {{DType::f32, {1, 1, 32, 32}, {}}};
  g.node(x).attrs["model_shape"] = Ints{40, 4};
  NodeId w = g.add("w", "parameter");
  g.node(w).outputs = {{DType::f32, {1, 1, 32, 32}, {}}};
  g.node(w).value = graph::Value(counting({2, 5, 5}));
  NodeId s = g.add("s", "add", {x, w});
  g.node(s).outputs = {{DType::f32, {1, 1, 32, 32}, DataFormat::bfp8_b}};
  NodeId y = g.add("y", "output", {s});
  g.node(y).attrs["model_shape"] = Ints{4, 4};
  EXPECT_EQ(messages(verify(g)), (std::vector<std::string>{
                                     "OP003: node 'x' (input): the model's shape [40, 4] does not fit in the device's [1, 1, 32, 32]",
                                     "OP003: node 'w' (parameter): the model's shape [2, 5, 5] does not fit in the device's [1, 1, 32, 32]",
                                 }));
}

}  // namespace
}  // namespace buda::ops
