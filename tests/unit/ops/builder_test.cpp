// SPDX-License-Identifier: Apache-2.0
// Building graphs in C++.
#include "running.hpp"

#include <buda/graph/editor.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/ops/whole_graph/infer.hpp>

namespace buda::ops {
namespace {

using graph::Graph;
using graph::GraphEditor;
using graph::NodeId;

TEST(Builder, ReadsLikeTheModel) {
  Builder b("mlp");
  auto x = b.input("x", {1, 3});
  auto w = b.parameter("w", f32({3, 2}, {1, 2, 3, 4, 5, 6}));
  auto product = b.matmul(x, w);
  b.output("y", b.named("hidden").relu(product));
  auto graph = b.finish();
  ASSERT_TRUE(graph);
  EXPECT_EQ(graph->size(), 5u);
  EXPECT_EQ(graph->node(graph->find("hidden")).outputs[0].text(), "F32 [1, 2]");
  EXPECT_EQ(graph->node(graph->find("hidden")).inputs()[0].source.node, graph->find("matmul"));
  auto y = evaluate_graph(*graph, {{"x", f32({1, 3}, {1, -1, 0})}});
  ASSERT_TRUE(y);
  EXPECT_EQ(y->at("y").to_f32(), (std::vector<float>{0, 0}));
}

TEST(Builder, EveryCallGivesTheTypeThatItSays) {
  Builder b("all");
  auto x = b.input("x", {2, 3, 4});
  auto y = b.input("y", {4});
  auto shape = [&](graph::ValueRef v) { return v.valid() ? b.graph().type(v)->shape.text() : "invalid"; };
  for (auto v : {b.add(x, y),
                 b.subtract(x, y),
                 b.multiply(x, y),
                 b.divide(x, y),
                 b.maximum(x, y),
                 b.minimum(x, y),
                 b.power(x, y),
                 b.identity(x),
                 b.relu(x),
                 b.leaky_relu(x, 0.1),
                 b.gelu(x),
                 b.gelu(x, "tanh"),
                 b.sigmoid(x),
                 b.tanh(x),
                 b.exp(x),
                 b.log(x),
                 b.sqrt(x),
                 b.reciprocal(x),
                 b.abs(x),
                 b.negative(x),
                 b.square(x),
                 b.clip(x, 0, 6),
                 b.softmax(x, -1),
                 b.log_softmax(x, 0),
                 b.layernorm(x, y, y),
                 b.add(x, b.constant(2))})
    EXPECT_EQ(shape(v), "[2, 3, 4]");
  EXPECT_EQ(shape(b.reduce_sum(x, {1})), "[2, 1, 4]");
  EXPECT_EQ(shape(b.reduce_avg(x, {0, -1}, false)), "[3]");
  EXPECT_EQ(shape(b.reduce_max(x, {})), "[1, 1, 1]");
  EXPECT_EQ(shape(b.reshape(x, {6, -1})), "[6, 4]");
  EXPECT_EQ(shape(b.transpose(x, {2, 0, 1})), "[4, 2, 3]");
  EXPECT_EQ(shape(b.squeeze(b.unsqueeze(x, {0}), {0})), "[2, 3, 4]");
  EXPECT_EQ(shape(b.broadcast(y, {5, 4})), "[5, 4]");
  EXPECT_EQ(shape(b.slice(x, 1, 0, 2)), "[2, 2, 4]");
  EXPECT_EQ(shape(b.concatenate({x, x, x}, 2)), "[2, 3, 12]");
  EXPECT_EQ(shape(b.pad(y, {1}, {2})), "[7]");
  EXPECT_EQ(shape(b.matmul(x, y)), "[2, 3]");
  EXPECT_EQ(shape(b.gemm(b.reshape(x, {6, 4}), b.reshape(x, {4, 6}), b.constant(1), {{"beta", 0.5}})), "[6, 6]");
  EXPECT_TRUE(b.status());
}

TEST(Builder, KeepsTheFirstErrorAndGoesOn) {
  Builder b("bad");
  auto x = b.input("x", {2, 3});
  auto wrong = b.named("fc").matmul(x, x);
  EXPECT_FALSE(wrong.valid());
  EXPECT_FALSE(b.relu(b.add(wrong, x)).valid());
  b.output("y", wrong);
  b.op("reluu", {x});
  b.input("x", {1});
  auto graph = b.finish();
  ASSERT_FALSE(graph);
  std::vector<std::string> messages;
  for (const auto& d : graph.failure().diagnostics()) messages.push_back(d.message);
  EXPECT_EQ(messages,
            (std::vector<std::string>{"node 'fc': the inner sizes of [2, 3] and [2, 3] differ: 3 and 2",
                                      "node 'reluu': there is no operation 'reluu' at tensor level", "node 'x': the name is given twice"}));
}

TEST(Builder, RewritesWithNamesAndProvenance) {
  Builder b("m");
  auto x = b.input("x", {2, 2});
  auto soft = b.named("soft").softmax(x, 1);
  b.node(soft).origins = {{"m.onnx", "Softmax_7"}};
  b.output("y", soft);
  auto graph = b.finish();
  ASSERT_TRUE(graph);
  NodeId node = graph->find("soft");
  graph::ValueRef in = graph->node(node).inputs()[0].source;
  auto before = evaluate_graph(*graph, {{"x", f32({2, 2}, {1, 2, 3, 5})}});

  GraphEditor editor(*graph, node);
  Builder r(editor);
  auto e = r.exp(in);
  auto sum = r.named("sum").reduce_sum(e, {1});
  auto result = r.named("scale").divide(e, sum);
  ASSERT_TRUE(r.status());
  editor.replace(node, result);

  EXPECT_TRUE(check(*graph)) << check(*graph).failure().diagnostics()[0].message;
  EXPECT_FALSE(graph->contains(node));
  EXPECT_EQ(graph->find("soft"), result.node);
  EXPECT_EQ(graph->node(graph->find("soft.sum")).origins, (std::vector<graph::Origin>{{"m.onnx", "Softmax_7"}}));
  EXPECT_TRUE(graph->find("soft.exp").valid());
  auto after = evaluate_graph(*graph, {{"x", f32({2, 2}, {1, 2, 3, 5})}});
  ASSERT_TRUE(before && after);
  auto p = before->at("y").to_f32(), q = after->at("y").to_f32();
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(p[i], q[i], 1e-6);
}

TEST(Builder, DeviceGraphsGetPaddedTypes) {
  Builder b("d", Level::device);
  auto x = b.input("x", {3, 40});
  auto w = b.parameter("w", counting({40, 10}));
  b.output("y", b.matmul(x, w), {3, 10});
  auto graph = b.finish();
  ASSERT_TRUE(graph) << graph.failure().diagnostics()[0].message;
  EXPECT_EQ(graph->type(x)->shape, (Shape{1, 1, 32, 64}));
  EXPECT_EQ(graph->type(w)->shape, (Shape{1, 1, 64, 32}));
  EXPECT_EQ(graph->node(graph->find("w")).value->tensor.shape(), (Shape{40, 10}));
}

// The operations of the API reference that are several of ours, by their numbers.
class Composed : public testing::Test {
 protected:
  using Dims = Builder::Dims;

  // What `make` builds of x, whose elements are 0, 1, 2, … under `shape`.
  template <class F>
  Tensor result(Shape shape, F make) {
    std::vector<float> numbers(static_cast<std::size_t>(*shape.volume()));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
    return result(f32(shape, numbers), make);
  }
  template <class F>
  Tensor result(const Tensor& x, F make) {
    Builder b("g");
    b.output("y", make(b, b.input("x", x.shape())));
    auto graph = b.finish();
    if (!graph) {
      ADD_FAILURE() << graph.failure().diagnostics().front().message;
      return {};
    }
    return evaluate_graph(*graph, {{"x", x}}).value().at("y");
  }
};

TEST_F(Composed, SlicesAndStacks) {
  // One matrix of two rows and four columns: [[0 1 2 3], [4 5 6 7]].
  auto hslice = [](Builder& b, auto x) { return b.hslice(x, 2); };
  auto there_and_back = [](Builder& b, auto x) { return b.hstack(b.hslice(x, 2)); };
  EXPECT_EQ(result({1, 2, 4}, hslice), f32({2, 2, 2}, {0, 1, 4, 5, 2, 3, 6, 7}));
  EXPECT_EQ(result({1, 2, 4}, there_and_back), f32({1, 2, 4}, {0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(result({1, 4, 2}, [](Builder& b, auto x) { return b.vslice(x, 2); }), f32({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(result({4, 1, 2}, [](Builder& b, auto x) { return b.vstack(x); }), f32({1, 4, 2}, {0, 1, 2, 3, 4, 5, 6, 7}));
  // Of four matrices two and two are stacked: 0 beside 1, 2 beside 3; batches stay apart.
  EXPECT_EQ(result({2, 4, 1, 1}, [](Builder& b, auto x) { return b.hstack(x, 2); }), f32({2, 2, 1, 2}, {0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(result({4, 2, 1}, [](Builder& b, auto x) { return b.hstack(x, 2); }), f32({2, 2, 2}, {0, 2, 1, 3, 4, 6, 5, 7}));
}

TEST_F(Composed, IndexSelectAndInterleave) {
  EXPECT_EQ(result({2, 3}, [](Builder& b, auto x) { return b.index(x, -1, 1); }), f32({2, 2}, {1, 2, 4, 5}));
  EXPECT_EQ(result({6}, [](Builder& b, auto x) { return b.index(x, 0, 1, 6, 2); }), f32({3}, {1, 3, 5}));
  EXPECT_EQ(result({6}, [](Builder& b, auto x) { return b.select(x, 0, 2); }), f32({1}, {2}));
  EXPECT_EQ(result({7}, [](Builder& b, auto x) { return b.select(x, 0, 1, 2, 3); }), f32({4}, {1, 2, 4, 5}));
  EXPECT_EQ(result({2, 2}, [](Builder& b, auto x) { return b.binary_stack(x, b.negative(x), 1); }),
            f32({2, 4}, {0, -0.0f, 1, -1, 2, -2, 3, -3}));
}

TEST_F(Composed, ReluHeavisideArgmaxAndBuffer) {
  Tensor x = f32({5}, {-2, 0, 0.5f, 1, 3});
  EXPECT_EQ(result(x, [](Builder& b, auto v) { return b.relu(v, 0.75); }), f32({5}, {0, 0, 0, 1, 3}));
  EXPECT_EQ(result(x, [](Builder& b, auto v) { return b.relu(v, 0.0); }), f32({5}, {0, 0, 0.5f, 1, 3}));
  EXPECT_EQ(result(x, [](Builder& b, auto v) { return b.relu(v, 0.75, "max"); }), f32({5}, {0, 0, 0.5f, 0.75f, 0.75f}));
  EXPECT_EQ(result(x, [](Builder& b, auto v) { return b.heaviside(v, b.constant(0.25f)); }), f32({5}, {0, 0.25f, 1, 1, 1}));
  EXPECT_EQ(result(x, [](Builder& b, auto v) { return b.buffer(v); }), x);
  EXPECT_EQ(result({2, 3}, [](Builder& b, auto v) { return b.argmax(v); }), Tensor({}, std::vector<std::int64_t>{5}));
  EXPECT_EQ(result({2, 3}, [](Builder& b, auto v) { return b.argmax(v, 1); }), Tensor({2, 1}, std::vector<std::int64_t>{2, 2}));
}

TEST_F(Composed, Windows) {
  // A kernel of ones sums a window; a transposed one spreads each element over one.
  auto ones = [](Builder& b) { return b.parameter("w", f32({1, 1, 2, 2}, {1, 1, 1, 1})); };
  AttrMap by_two = {{"stride", Dims{2, 2}}};
  EXPECT_EQ(result({1, 1, 2, 4}, [&](Builder& b, auto x) { return b.conv2d(x, ones(b), by_two); }), f32({1, 1, 1, 2}, {10, 18}));
  auto with_bias = [&](Builder& b, auto x) {
    auto w = ones(b);
    return b.conv2d(x, w, b.parameter("bias", f32({1}, {0.5f})), by_two);
  };
  EXPECT_EQ(result({1, 1, 2, 4}, with_bias), f32({1, 1, 1, 2}, {10.5f, 18.5f}));
  EXPECT_EQ(result({1, 1, 1, 2}, [&](Builder& b, auto x) { return b.conv2d_transpose(x, ones(b), by_two); }),
            f32({1, 1, 2, 4}, {0, 0, 1, 1, 0, 0, 1, 1}));
  EXPECT_EQ(result({1, 1, 2, 4}, [&](Builder& b, auto x) { return b.max_pool2d(x, {2, 2}, by_two); }), f32({1, 1, 1, 2}, {5, 7}));
  EXPECT_EQ(result({1, 1, 2, 4}, [&](Builder& b, auto x) { return b.avg_pool2d(x, {2, 2}, by_two); }), f32({1, 1, 1, 2}, {2.5f, 4.5f}));
}

TEST_F(Composed, WhatCannotBe) {
  auto message = [](auto make) {
    Builder b("g");
    auto v = make(b, b.input("x", {2, 4, 6}));
    EXPECT_FALSE(v.valid());
    return b.status() ? "" : b.status().failure().diagnostics().front().message;
  };
  EXPECT_EQ(message([](Builder& b, auto x) { return b.hslice(x, 4); }), "node 'hslice': cannot cut 6 columns in 4 slices");
  EXPECT_EQ(message([](Builder& b, auto x) { return b.vslice(x, 0); }), "node 'vslice': cannot cut 4 rows in 0 slices");
  EXPECT_EQ(message([](Builder& b, auto x) { return b.hstack(x, 3); }), "node 'hstack': cannot stack 2 matrices in 3");
  EXPECT_EQ(message([](Builder& b, auto x) { return b.vstack(b.index(x, 3, 0)); }),
            "node 'index': a value of shape [2, 4, 6] has no axis 3");
  EXPECT_EQ(message([](Builder& b, auto x) { return b.relu(x, 1, "mean"); }), "node 'relu': the mode is min or max, not 'mean'");
  EXPECT_EQ(message([](Builder& b, auto x) { return b.select(x, 1, 3, 2); }),
            "node 'select': elements 3 to 5 of 4, every 0, cannot be selected: they must exist, and a stride must not be below the length");
}

}  // namespace
}  // namespace buda::ops
