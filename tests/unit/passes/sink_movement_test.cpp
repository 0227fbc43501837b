// SPDX-License-Identifier: Apache-2.0
// sink-movement: inverse movements meet and cancel, and what does not gain by it stays.
#include "values.hpp"

#include <buda/passes/pipeline/standard_passes.hpp>

#include <algorithm>
#include <functional>

namespace buda::passes {
namespace {

struct Sinks : Bench {
  Graph sunk(const std::function<void(Builder&)>& build) {
    Builder b("g");
    build(b);
    Graph graph = finished(b);
    std::vector<const Pass*> passes;
    for (int i = 0; i < 6; ++i)
      passes.insert(passes.end(), {&kSinkMovement, &kConstantFolding, &kAlgebraicSimplification, &kDeadCodeElimination});
    expect_equivalence(graph, *this, passes);
    return graph;
  }
};

std::string ops_of(const Graph& graph) {
  std::vector<std::string> ops;
  for (NodeId id : graph.topological_order())
    if (graph.node(id).is_op()) ops.push_back(graph.node(id).op());
  return join(ops, " ");
}

// A product, above which nothing is raised.
ValueRef product(Builder& b, const std::string& name, Shape shape) {
  std::int64_t columns = shape[shape.rank() - 1];
  return b.matmul(b.input(name, std::move(shape)), b.parameter(name + ".w", varied({columns, columns})));
}

// As a convolution gives its result, and takes its input.
ValueRef from_rows(Builder& b, Edge y, Shape shape) { return b.reshape(b.transpose(y, {0, 1, 3, 2}), std::move(shape)); }
ValueRef to_rows(Builder& b, Edge x, Shape flat) { return b.transpose(b.reshape(x, std::move(flat)), {0, 1, 3, 2}); }

TEST(SinkMovement, ConvolutionsHandRowsToEachOther) {
  Sinks s;
  Graph graph = s.sunk([](Builder& b) {
    auto x = b.input("x", {2, 1, 12, 8});
    auto conv1 = from_rows(b, b.matmul(x, b.parameter("w1", varied({8, 5}))), {2, 5, 3, 4});
    auto active = b.relu(b.multiply(conv1, b.parameter("scale", varied({5, 1, 1}))));
    auto conv2 = from_rows(b, b.matmul(to_rows(b, active, {2, 1, 5, 12}), b.parameter("w2", varied({5, 5}))), {2, 5, 3, 4});
    auto sum = b.relu(b.add(conv2, active));
    b.output("y",
             b.matmul(b.reshape(b.reduce_avg(sum, {2, 3}), {2, 5}), b.parameter("fc", varied({5, 10})), b.parameter("b", varied({10}))));
  });
  EXPECT_EQ(ops_of(graph), "matmul multiply relu matmul add relu reduce_avg matmul reshape");
}

// Of one row and one column either could be turned. The pass must choose, and end.
TEST(SinkMovement, ARowIsNotTurnedToAndFro) {
  Sinks s;
  Graph graph = s.sunk([](Builder& b) {
    auto row = b.transpose(product(b, "x", {1, 6}), {1, 0});
    auto column = product(b, "z", {6, 1});
    b.output("y", b.tanh(b.add(row, column)));
  });
  EXPECT_EQ(ops_of(graph), "matmul matmul reshape add tanh");
}

TEST(SinkMovement, GatesBroadcastInRowsToo) {
  Sinks s;
  Graph graph = s.sunk([](Builder& b) {
    auto rows = product(b, "x", {1, 1, 12, 8});
    auto image = from_rows(b, rows, {1, 8, 3, 4});
    auto gate = b.sigmoid(b.reduce_avg(image, {2, 3}));
    b.output("y", b.exp(to_rows(b, b.multiply(image, gate), {1, 1, 8, 12})));
  });
  EXPECT_EQ(ops_of(graph), "matmul reduce_avg sigmoid multiply exp");
}

TEST(SinkMovement, ConcatenatesChannelsAsColumns) {
  Sinks s;
  Graph graph = s.sunk([](Builder& b) {
    auto image = [&](const char* name, std::int64_t channels) {
      return from_rows(b, product(b, name, {1, 1, 12, channels}), {1, channels, 3, 4});
    };
    b.output("y", b.exp(to_rows(b, b.concatenate({image("a", 5), image("b", 3)}, 1), {1, 1, 8, 12})));
  });
  EXPECT_EQ(ops_of(graph), "matmul matmul concatenate exp");
}

TEST(SinkMovement, RowsOfMatmulsMayBeReshaped) {
  Sinks s;
  Graph graph = s.sunk([](Builder& b) {
    auto x = product(b, "x", {2, 6, 8});
    b.output("y", b.reshape(b.matmul(b.reshape(x, {12, 8}), b.parameter("w", varied({8, 5}))), {2, 6, 5}));
  });
  EXPECT_EQ(ops_of(graph), "matmul matmul");
}

TEST(SinkMovement, StaysAtModelInputs) {
  Sinks s;
  Graph graph = s.sunk([](Builder& b) { b.output("y", b.relu(b.transpose(b.input("x", {4, 6}), {1, 0}))); });
  EXPECT_EQ(ops_of(graph), "transpose relu");
}

TEST(SinkMovement, IsRaisedToTheHostAboveElementwiseOps) {
  Sinks s;
  Graph graph = s.sunk([](Builder& b) {
    auto x = b.multiply(b.subtract(b.input("x", {1, 3, 4, 4}), b.parameter("mean", varied({3, 1, 1}))), b.parameter("scale", varied({1})));
    b.output("y", b.matmul(to_rows(b, x, {1, 1, 3, 16}), b.parameter("w", varied({3, 5}))));
  });
  EXPECT_EQ(ops_of(graph), "reshape transpose subtract multiply matmul");
}

TEST(SinkMovement, StaysWhereAnAxisIsOnlyPartlyUsed) {
  Sinks s;
  Graph graph = s.sunk([](Builder& b) {
    auto x = b.reshape(product(b, "x", {1, 12}), {3, 4});
    b.output("y", b.multiply(x, b.parameter("by column", varied({4}))));
    b.output("z", b.reduce_sum(x, {1}));
  });
  EXPECT_EQ(ops_of(graph), "matmul reshape multiply reduce_sum");
}

TEST(SinkMovement, LeavesOutWhatTheLimitForbids) {
  Sinks s;
  s.context.rewrites = RewriteCounter(0);
  Builder b("g");
  b.output("y", b.relu(b.transpose(product(b, "x", {4, 6}), {1, 0})));
  Graph graph = finished(b);
  EXPECT_FALSE(s.run(kSinkMovement, graph).changed());
}

TEST(SinkMovement, SlicesOfPiecesAreSlicesOfTheWhole) {
  Sinks s;
  Graph graph = s.sunk([](Builder& b) {
    // As PyTorch computes queries, keys and values at once.
    auto all = b.reshape(product(b, "x", {6, 1, 12}), {6, 1, 3, 4});
    for (std::int64_t i = 0; i < 3; ++i) b.output(cat("y", i), b.squeeze(b.slice(b.transpose(all, {2, 0, 1, 3}), 0, i, i + 1), {0}));
  });
  EXPECT_EQ(ops_of(graph), "matmul slice slice slice");
}

TEST(NarrowMatmul, ColumnsComeOutOfWeights) {
  Sinks s;
  Builder b("g");
  auto p = b.matmul(b.input("x", {6, 8}), b.parameter("w", varied({8, 12})), b.parameter("b", varied({12})));
  for (std::int64_t i = 0; i < 3; ++i) b.output(cat("y", i), b.slice(p, 1, 4 * i, 4 * i + 4));
  Graph graph = finished(b);
  expect_equivalence(graph, s, {&kNarrowMatmul, &kConstantFolding, &kDeadCodeElimination});
  EXPECT_EQ(ops_of(graph), "matmul matmul matmul");
}

TEST(NarrowMatmul, StaysWhereAllColumnsAreUsedToo) {
  Sinks s;
  Builder b("g");
  auto p = b.matmul(b.input("x", {6, 8}), b.parameter("w", varied({8, 12})));
  b.output("y", b.slice(p, 1, 0, 4));
  b.output("z", b.relu(p));
  Graph graph = finished(b);
  EXPECT_FALSE(s.run(kNarrowMatmul, graph).changed());
}

TEST(FoldBatchnorm, IntoConvolutionsOfEveryKind) {
  for (bool bias : {false, true})
    for (bool transposed : {false, true}) {
      Sinks s;
      Builder b("g");
      std::vector<Edge> in{b.input("x", {1, 4, 5, 5}), b.parameter("w", varied({4, 4, 3, 3}))};
      if (bias) in.push_back(b.parameter("b", varied({4})));
      auto c = b.op(transposed ? "conv2d_transpose" : "conv2d", in);
      std::vector<Edge> norm{c};
      for (std::uint64_t i = 0; i < 3; ++i) norm.push_back(b.parameter(cat("p", i), varied({4}, i + 3)));
      norm.push_back(b.parameter("variance", f32({4}, {0.5f, 1, 2, 3})));
      b.output("y", called(b, "y", b.op("batchnorm", norm)));
      Graph graph = finished(b);
      expect_equivalence(graph, s, {&kFoldBatchnorm, &kConstantFolding, &kDeadCodeElimination});
      EXPECT_EQ(ops_of(graph), transposed ? "conv2d_transpose" : "conv2d");
    }
}

TEST(FusePad, BordersOfZerosOnly) {
  for (double value : {0.0, 1.0}) {
    Sinks s;
    Builder b("g");
    auto x = b.pad(b.input("x", {1, 2, 5, 5}), {0, 0, 1, 0}, {0, 0, 2, 1}, value);
    b.output("y", b.op("conv2d", {x, b.parameter("w", varied({3, 2, 3, 3}))}, {{"padding", std::vector<std::int64_t>{0, 1, 0, 1}}}));
    Graph graph = finished(b);
    expect_equivalence(graph, s, {&kFusePad, &kDeadCodeElimination});
    EXPECT_EQ(ops_of(graph), value == 0 ? "conv2d" : "pad conv2d");
  }
}

}  // namespace
}  // namespace buda::passes
