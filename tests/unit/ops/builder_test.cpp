// Building graphs in C++.
#include "running.hpp"

#include <buda/ops/builder.hpp>
#include <buda/ops/evaluate.hpp>
#include <buda/ops/infer.hpp>

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

}  // namespace
}  // namespace buda::ops
