// SPDX-License-Identifier: Apache-2.0
// Graphs in which the elements of a batch meet: they are lowered with the batch joined to the slices.
#include "values.hpp"

#include <algorithm>
#include <functional>

namespace buda::passes {
namespace {

using Dims = std::vector<std::int64_t>;

struct Joined : Bench {
  Joined() { context.decompositions = &plugin_decompositions(); }

  // What is built stands between ops, so that the host has no part in it.
  Graph lowered(const Shape& in, const std::function<ValueRef(Builder&, Edge)>& build) {
    Builder b("g");
    auto x = called(b, "e", b.exp(b.input("x", in)));  // ones in the padding
    b.output("y", b.exp(b.clip(build(b, x), -3, 3)));
    Graph graph = finished(b);
    expect_equivalence(graph, *this, {&kDecompose, &kLowerToDevice});
    return graph;
  }
};

TEST(JoinedBatch, TransposesOfAllAxes) {
  Dims order{0, 1, 2, 3};
  while (std::next_permutation(order.begin(), order.end())) {
    if (order[0] == 0) continue;
    Joined j;
    j.lowered({2, 3, 4, 5}, [&](Builder& b, Edge x) { return b.transpose(x, order); });
  }
  Joined j;
  j.lowered({2, 3, 2, 5, 6}, [](Builder& b, Edge x) { return b.transpose(x, {1, 0, 4, 2, 3}); });
  j.lowered({3, 2, 4, 5}, [](Builder& b, Edge x) { return b.reshape(x, {4, 30}); });
}

TEST(JoinedBatch, BroadcastsAlongSomeLeadingAxes) {
  Joined j;
  j.lowered({2, 3, 1, 4, 4}, [](Builder& b, Edge x) { return b.add(x, b.input("z", {3, 1, 4, 4})); });
  j.lowered({2, 3, 1, 4, 4}, [](Builder& b, Edge x) { return b.multiply(b.input("z", {2, 1, 5, 1, 4}), x); });
  j.lowered({3, 1, 6, 6, 5}, [](Builder& b, Edge x) { return b.subtract(x, b.constant(varied({1, 5, 1, 1, 1}))); });
  j.lowered({3, 1, 6, 6, 5}, [](Builder& b, Edge x) { return b.subtract(x, b.constant(varied({3, 1, 6, 1, 1}))); });
  j.lowered({1, 3, 1}, [](Builder& b, Edge x) { return b.broadcast(x, {3, 2, 3, 3}); });
  j.lowered({2, 1, 3, 1}, [](Builder& b, Edge x) { return b.broadcast(x, {2, 4, 3, 3}); });
}

TEST(JoinedBatch, ReductionsOfEverySetOfAxes) {
  for (unsigned set = 1; set < 16; ++set) {
    Dims dims;
    for (std::int64_t axis = 0; axis < 4; ++axis)
      if ((set >> axis & 1) != 0) dims.push_back(axis);
    if (dims[0] != 0) continue;
    for (const char* op : {"reduce_sum", "reduce_avg", "reduce_max"})
      for (bool keep : {true, false}) {
        Joined j;
        Builder b("g");
        auto x = b.exp(b.input("x", {3, 2, 5, 7}));
        b.output("y", b.tanh(b.op(op, {x}, {{"dims", dims}, {"keep_dims", keep}})));
        Graph graph = finished(b);
        expect_equivalence(graph, j, {&kDecompose, &kLowerToDevice});
      }
  }
  Joined j;
  j.lowered({2, 3, 2, 4, 5}, [](Builder& b, Edge x) { return b.reduce_sum(x, {1, 3}); });
  j.lowered({2, 3, 2, 4, 5}, [](Builder& b, Edge x) { return b.reduce_max(x, {0, 2}); });
}

TEST(JoinedBatch, SelectionsAlongLeadingAxes) {
  Joined j;
  j.lowered({4, 2, 4, 5}, [](Builder& b, Edge x) { return b.slice(x, 0, 1, 3); });
  j.lowered({4, 3, 4, 5}, [](Builder& b, Edge x) { return b.slice(b.slice(x, 0, 3, -5, -2), 1, 0, 2); });
  j.lowered({2, 2, 4, 5}, [](Builder& b, Edge x) { return b.concatenate({x, b.negative(x), x}, 0); });
  j.lowered({2, 2, 4, 5}, [](Builder& b, Edge x) { return b.pad(x, {1, 0, 1, 0}, {0, 1, 0, 2}, 0.5); });
  j.lowered({2, 3, 2, 4, 5}, [](Builder& b, Edge x) { return b.slice(x, 1, 1, 3); });
  j.lowered({3, 2, 4, 5}, [](Builder& b, Edge x) {
    return b.op("gather", {x, b.constant(Tensor(Shape{2, 2}, std::vector<std::int64_t>{2, 0, -1, 1}))}, {{"dim", std::int64_t{0}}});
  });
}

TEST(JoinedBatch, Products) {
  Joined j;
  j.lowered({2, 3, 4, 5}, [](Builder& b, Edge x) { return b.reduce_sum(b.matmul(x, b.input("w", {3, 5, 6})), {0}); });
  j.lowered({2, 3, 4, 5}, [](Builder& b, Edge x) { return b.matmul(x, b.input("w", {2, 1, 5, 6})); });
  j.lowered({2, 3, 4, 5}, [](Builder& b, Edge x) { return b.reduce_sum(b.matmul(x, b.constant(varied({5, 6}))), {0}); });
  j.lowered({2, 1, 3, 4, 5}, [](Builder& b, Edge x) { return b.matmul(x, b.constant(varied({3, 1, 5, 6}))); });
}

TEST(JoinedBatch, ConvolutionsAndPoolsInside) {
  Joined j;
  auto mean = [](Builder& b, Edge x) { return b.reduce_avg(x, {0}); };
  j.lowered({3, 4, 6, 6}, [&](Builder& b, Edge x) {
    return mean(b, b.conv2d(x, b.parameter("w", varied({5, 4, 3, 3})), {{"padding", Dims{1, 1, 1, 1}}}));
  });
  j.lowered({3, 32, 6, 6}, [&](Builder& b, Edge x) {
    return mean(b, b.conv2d(x, b.parameter("w", varied({32, 1, 3, 3})), {{"groups", std::int64_t{32}}}));
  });
  j.lowered({3, 4, 6, 6}, [&](Builder& b, Edge x) { return mean(b, b.max_pool2d(x, {2, 2}, {{"stride", Dims{2, 2}}})); });
  j.lowered({3, 4, 6, 6}, [&](Builder& b, Edge x) { return mean(b, b.avg_pool2d(x, {3, 3})); });
  j.lowered({2, 4, 5, 6}, [&](Builder& b, Edge x) { return b.softmax(x, 0); });
}

// The host reshapes inputs and outputs; parameters are joined by us.
TEST(JoinedBatch, Borders) {
  Joined j;
  Builder b("g");
  auto x = b.input("x", {3, 2, 4, 5});
  auto y = b.add(x, b.parameter("p", varied({3, 2, 4, 5})));
  b.output("mean", b.reduce_avg(y, {0}));
  b.output("all", y);
  Graph graph = finished(b);
  expect_equivalence(graph, j, {&kLowerToDevice});
  const Node& in = graph.node(graph.find("x"));
  EXPECT_EQ(in.attrs.at("model_shape"), graph::Attr(Dims{3, 2, 4, 5}));
  EXPECT_EQ(in.attrs.at("view_shape"), graph::Attr(Dims{6, 4, 5}));
  EXPECT_EQ(in.outputs[0].shape, (Shape{1, 6, 32, 32}));
  EXPECT_EQ(graph.node(graph.find_output("all")).attrs.at("view_shape"), graph::Attr(Dims{6, 4, 5}));
}

// Each step takes an entry of every input, and known values are the same in all steps.
TEST(JoinedBatch, InputsOfSeveralBatches) {
  Bench bench;
  Builder b("g");
  auto x = b.input("x", {2, 3, 4, 5});
  b.output("y", b.add(b.multiply(x, b.input("scale", {4, 5})), b.constant(varied({2, 3, 1, 5}))));
  Graph graph = finished(b);
  expect_equivalence(graph, bench, {&kLowerToDevice});
  for (NodeId id : graph.ids())
    for (const auto& type : graph.node(id).outputs) EXPECT_EQ(type.shape[0], 1) << graph.node(id).name();
}

TEST(JoinedBatch, OnlyWhereItMustBe) {
  Bench bench;
  Builder b("g");
  b.output("y", b.reduce_sum(b.exp(b.input("x", {3, 2, 4, 5})), {1}));
  Graph graph = finished(b);
  expect_equivalence(graph, bench, {&kLowerToDevice});
  EXPECT_EQ(graph.node(graph.find("x")).outputs[0].shape[0], 3);
}

}  // namespace
}  // namespace buda::passes
