// SPDX-License-Identifier: Apache-2.0
// lower-to-device: products, and values that must fill a tile or a shape.
#include <buda/graph/values/value.hpp>

#include "lowering_harness.hpp"

namespace buda::passes {
namespace {

TEST(LowerBroadcast, KnownValuesAreCopiedThroughTilesByTheHost) {
  Lowerer l;
  Graph graph = l.lowered([](Builder& b) {
    auto x = b.input("x", {2, 70, 40});
    auto rows = b.add(x, b.parameter("row", varied({40})));
    auto cols = b.multiply(rows, b.parameter("col", varied({70, 1})));
    b.output("y", called(b, "y", b.subtract(cols, b.constant(0.25f))));
  });
  EXPECT_EQ(ops_of(graph), "add multiply subtract");
  const Node& y = graph.node(graph.find("y"));
  EXPECT_EQ(y.outputs[0].shape, (Shape{1, 2, 96, 64}));
  EXPECT_EQ(y.inputs()[1].tms, (std::vector<Tm>{Tm::broadcast(TmDim::z, 2), Tm::broadcast(TmDim::r, 3), Tm::broadcast(TmDim::c, 2)}));
  EXPECT_EQ(graph.node(graph.find("row.rows")).value->tensor.shape(), (Shape{1, 1, 32, 40}));
  EXPECT_EQ(graph.node(graph.find("col.columns")).value->tensor.shape(), (Shape{1, 1, 70, 32}));
  EXPECT_EQ(graph.node(graph.find("constant.tile")).value->tensor.shape(), (Shape{1, 1, 32, 32}));
  EXPECT_EQ(graph.node(graph.find("row.rows")).op(), "parameter");
}

TEST(LowerBroadcast, ComputedValuesAreCopiedThroughTilesByProducts) {
  for (Shape small : {Shape{1, 40}, Shape{70, 1}, Shape{1, 1}, Shape{40}, Shape{}}) {
    Lowerer l;
    Graph graph = l.lowered([&](Builder& b) { b.output("y", b.add(b.input("x", {2, 70, 40}), b.exp(b.input("v", small)))); });
    Shape four = *ops::four_axes(small);
    std::size_t products = (four[2] == 1 ? 1u : 0u) + (four[3] == 1 ? 1u : 0u);
    std::string ops = ops_of(graph);
    EXPECT_EQ(std::count(ops.begin(), ops.end(), 'm') / 2, static_cast<std::ptrdiff_t>(products)) << ops;  // "matmul" has two
  }
}

TEST(LowerBroadcast, BothSidesMayStretch) {
  Lowerer l;
  l.lowered([](Builder& b) { b.output("y", b.multiply(b.input("row", {1, 3, 1, 33}), b.input("column", {40, 1}))); });
}

TEST(LowerBroadcast, TheOpItself) {
  Lowerer l;
  Graph graph = l.lowered([](Builder& b) { b.output("y", b.exp(b.broadcast(b.input("x", {5, 1}), {3, 5, 7}))); });
  EXPECT_EQ(ops_of(graph), "matmul exp");
}

TEST(LowerBroadcast, BatchesServeThemselves) {
  Lowerer l;
  Graph graph = l.lowered([](Builder& b) { b.output("y", b.add(b.input("x", {4, 2, 5, 6}), b.parameter("w", varied({2, 5, 6})))); });
  EXPECT_EQ(graph.node(graph.find("add")).outputs[0].shape, (Shape{4, 2, 32, 32}));
  EXPECT_TRUE(graph.node(graph.find("add")).inputs()[1].tms.empty());
}

TEST(LowerMatmul, PaddingAlongKIsHarmless) {
  // e^0 is 1: both operands have ones in their padding.
  Lowerer l;
  Graph graph = l.lowered([](Builder& b) { b.output("y", b.matmul(b.exp(b.input("a", {3, 10})), b.exp(b.input("c", {10, 4})))); });
  EXPECT_EQ(ops_of(graph), "exp exp multiply matmul");
  // Parameters are padded with zeros: no mask.
  graph = l.lowered([](Builder& b) { b.output("y", b.matmul(b.exp(b.input("a", {3, 10})), b.parameter("w", varied({10, 4})))); });
  EXPECT_EQ(ops_of(graph), "exp matmul");
  // Whole tiles have no padding.
  graph = l.lowered([](Builder& b) { b.output("y", b.matmul(b.exp(b.input("a", {3, 64})), b.exp(b.input("c", {64, 4})))); });
  EXPECT_EQ(ops_of(graph), "exp exp matmul");
}

TEST(LowerMatmul, InfinitePaddingIsPrevented) {
  // 1/0 in the padding of the rows of the second operand would reach the product.
  Lowerer l;
  NamedTensors inputs = {{"a", varied({3, 10})}, {"c", f32({10, 4}, std::vector<float>(40, 2.0f))}};
  Graph graph = l.lowered([](Builder& b) { b.output("y", b.matmul(b.input("a", {3, 10}), b.reciprocal(b.input("c", {10, 4})))); }, inputs);
  EXPECT_EQ(ops_of(graph), "add add reciprocal matmul");
  // Along the columns of the first one as well.
  inputs = {{"a", f32({3, 10}, std::vector<float>(30, 0.5f))}, {"w", varied({10, 4})}};
  graph = l.lowered([](Builder& b) { b.output("y", b.matmul(b.log(b.input("a", {3, 10})), b.input("w", {10, 4}))); }, inputs);
  EXPECT_EQ(ops_of(graph), "add log matmul") << "log 1 is 0, so that no mask is needed after it";
}

TEST(LowerMatmul, Batches) {
  Lowerer l;
  Graph graph = l.lowered([](Builder& b) {
    b.output("both", called(b, "both", b.matmul(b.input("a", {3, 5, 6}), b.input("c", {3, 6, 7}))));
    b.output("one", called(b, "one", b.matmul(b.input("d", {3, 5, 6}), b.parameter("w", varied({6, 7})))));
  });
  EXPECT_EQ(graph.node(graph.find("one")).inputs()[1].tms, std::vector<Tm>{Tm::broadcast(TmDim::z, 3)});
  graph = l.lowered([](Builder& b) {
    b.output("left", called(b, "left", b.matmul(b.parameter("e", varied({5, 6})), b.input("f", {2, 3, 6, 7}))));
  });
  EXPECT_EQ(graph.node(graph.find("left")).inputs()[0].tms, std::vector<Tm>{Tm::broadcast(TmDim::z, 3)});
  EXPECT_EQ(graph.node(graph.find("left")).outputs[0].shape, (Shape{2, 3, 32, 32}));
}

TEST(LowerMatmul, Vectors) {
  Lowerer l;
  l.lowered([](Builder& b) {
    auto v = b.input("v", {40}), u = b.input("u", {7});
    auto m = b.input("m", {7, 40});
    b.output("column", b.matmul(m, v));
    b.output("row", b.matmul(u, m));
    b.output("dot", b.matmul(v, b.exp(v)));
    b.output("further", b.matmul(b.matmul(m, v), b.parameter("w", varied({7, 3}))));
  });
}

TEST(LowerMatmul, ANodeDoesNotFeedBothOperands) {
  Lowerer l;
  Graph graph = l.lowered([](Builder& b) {
    auto x = b.exp(b.input("x", {40, 40}));
    b.output("y", called(b, "y", b.matmul(x, x)));
    b.output("z", called(b, "z", b.matmul(x, b.transpose(x, {1, 0}))));
  });
  for (const char* name : {"y", "z"}) {
    const auto& in = graph.node(graph.find(name)).inputs();
    EXPECT_NE(in[0].source, in[1].source) << name;
  }
}

TEST(LowerMatmul, BiasOfEveryForm) {
  Lowerer l;
  for (Shape shape : {Shape{5}, Shape{1, 5}, Shape{1, 1, 5}})
    l.lowered([&](Builder& b) {
      b.output("y", b.matmul(b.input("x", {2, 70, 6}), b.parameter("w", varied({6, 5})), b.input("b", shape)));
    });
  auto [message, hint] = l.refused([](Builder& b) {
    b.output("y", called(b, "y", b.matmul(b.input("x", {4, 6}), b.parameter("w", varied({6, 5})), b.parameter("b", varied({4, 5})))));
  });
  EXPECT_EQ(message,
            "PA020: node 'y' (matmul, F32 [4, 6], F32 [6, 5], F32 [4, 5] -> F32 [4, 5]) cannot be lowered to the device: its bias of shape "
            "[4, 5] is not one row of 5 values");
  EXPECT_FALSE(hint.empty());
}

}  // namespace
}  // namespace buda::passes
