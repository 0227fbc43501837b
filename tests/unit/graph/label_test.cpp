// SPDX-License-Identifier: Apache-2.0
// What nodes are called: after the model's nodes whose work they do.
#include <buda/base/text.hpp>
#include <buda/graph/drawing/label.hpp>
#include <buda/graph/graph.hpp>

#include <gtest/gtest.h>

namespace buda::graph {
namespace {

std::string label_of(const std::string& name, const std::string& op, const std::vector<std::string>& origins) {
  Graph g("g", Level::device);
  Node& n = g.node(g.add(name, op));
  for (const std::string& origin : origins) n.origins.push_back({"m.onnx", origin});
  return label(n);
}

TEST(Label, OfOneNodeIsItsName) {
  EXPECT_EQ(label_of("fc1", "matmul", {}), "fc1");
  EXPECT_EQ(label_of("fc1", "matmul", {"/0/Gemm"}), "fc1");
  EXPECT_EQ(label_of("/0/Gemm.mask", "multiply", {"/0/Gemm"}), "/0/Gemm.mask");
}

TEST(Label, OfAFusedOpNamesAllItsNodes) {
  EXPECT_EQ(label_of("/1/Relu", "matmul", {"/0/Gemm", "/1/Relu"}), "/0/Gemm + /1/Relu");
  EXPECT_EQ(label_of("x", "fused_op", {"a", "b", "c"}), "a + b + c");
}

TEST(Label, TellsTheStepsOfAFusedOpApart) {
  EXPECT_EQ(label_of("/1/Relu.mask", "multiply", {"/0/Gemm", "/1/Relu"}), "/0/Gemm + /1/Relu.mask");
  EXPECT_EQ(label_of("/0/Gemm.picked", "matmul", {"/0/Gemm", "/0/Gemm.x"}), "/0/Gemm + /0/Gemm.x.picked");
  EXPECT_EQ(label_of("ab", "matmul", {"a", "c"}), "a + c") << "a part of a name is no suffix";
}

TEST(Label, OfASharedOpStaysReadable) {
  std::vector<std::string> many;
  for (int i = 0; i < 8; ++i) many.push_back(cat('n', i));
  EXPECT_EQ(label_of("n0", "add", many), "n0 + n1 + n2 + n3 + n4 + n5 + n6 + n7");
  many.push_back("n8");
  EXPECT_EQ(label_of("n0", "add", many), "n0 + n1 + n2 + n3 + n4 + n5 + n6 + 2 more");
}

TEST(Label, OfAConstantIsItsName) { EXPECT_EQ(label_of("ones", "constant", {"a", "b"}), "ones"); }

}  // namespace
}  // namespace buda::graph
