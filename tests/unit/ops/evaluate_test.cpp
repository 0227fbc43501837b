// SPDX-License-Identifier: Apache-2.0
// What graphs compute, at both levels.
#include "running.hpp"

#include <buda/base/rng.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>

#include <map>

namespace buda::ops {
namespace {

using graph::Edge;
using graph::Graph;
using graph::Tm;
using graph::TmDim;

Tensor random(const Shape& shape, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> v(static_cast<std::size_t>(*shape.volume()));
  for (float& x : v) x = static_cast<float>(rng.uniform(-1, 1));
  return Tensor(shape, std::move(v));
}

const Tensor kW1 = random({20, 40}, 1), kB1 = random({40}, 2), kW2 = random({40, 10}, 3), kB2 = random({10}, 4),
             kEvaluateX = random({4, 20}, 5);

Graph model() {
  Builder b("mlp");
  auto x = b.input("x", {4, 20});
  auto w1 = b.parameter("w1", kW1), b1 = b.parameter("b1", kB1);
  auto h = b.relu(b.gemm(x, w1, b1));
  auto w2 = b.parameter("w2", kW2), b2 = b.parameter("b2", kB2);
  b.output("p", b.softmax(b.gemm(h, w2, b2), 1));
  auto graph = b.finish();
  EXPECT_TRUE(graph);
  return graph ? std::move(*graph) : Graph();
}

// The same by hand for a device: biases in row 0 of their tile, ReLU in the packer, softmax with its padding masked.
Graph lowered() {
  Builder b("mlp", Level::device);
  auto tile = [](const std::function<float(int, int)>& f) {
    std::vector<float> v;
    for (int r = 0; r < 32; ++r)
      for (int c = 0; c < 32; ++c) v.push_back(f(r, c));
    return Tensor(Shape{32, 32}, std::move(v));
  };
  auto x = b.input("x", {4, 20});
  auto h = b.op("matmul", {x, b.parameter("w1", kW1), b.parameter("b1", kB1)}, {{"bias", true}, {"relu_en", true}});
  auto logits = b.matmul(h, b.parameter("w2", kW2), b.parameter("b2", kB2));
  auto mask = b.constant(tile([](int, int c) { return c < 10 ? 0.0f : -1e6f; }));
  auto first_column_to_all = b.constant(tile([](int r, int) { return r == 0 ? 1.0f : 0.0f; }));
  auto ones = b.constant(tile([](int, int) { return 1.0f; }));
  auto masked = b.add(logits, mask);
  auto most = b.matmul(b.op("reduce", {masked}, {{"dim", std::string("c")}}), first_column_to_all);
  auto e = b.exp(b.subtract(masked, most));
  b.output("p", b.multiply(e, b.reciprocal(b.matmul(e, ones))), {4, 10});
  auto graph = b.finish();
  EXPECT_TRUE(graph) << graph.failure().diagnostics()[0].message;
  return graph ? std::move(*graph) : Graph();
}

TEST(Evaluate, TensorLevelAgainstTheDefinition) {
  auto out = evaluate_graph(model(), {{"x", kEvaluateX}});
  ASSERT_TRUE(out);
  ASSERT_EQ(out->size(), 1u);
  auto x = kEvaluateX.as<float>(), w1 = kW1.as<float>(), b1 = kB1.as<float>(), w2 = kW2.as<float>(), b2 = kB2.as<float>();
  std::vector<double> expected;
  for (std::size_t i = 0; i < 4; ++i) {
    std::vector<double> h(40), l(10);
    for (std::size_t j = 0; j < 40; ++j) {
      h[j] = b1[j];
      for (std::size_t k = 0; k < 20; ++k) h[j] += double{x[i * 20 + k]} * w1[k * 40 + j];
      h[j] = std::max(h[j], 0.0);
    }
    double sum = 0;
    for (std::size_t j = 0; j < 10; ++j) {
      l[j] = b2[j];
      for (std::size_t k = 0; k < 40; ++k) l[j] += h[k] * w2[k * 10 + j];
      sum += std::exp(l[j]);
    }
    for (double v : l) expected.push_back(std::exp(v) / sum);
  }
  expect_near(out->at("p"), {4, 10}, expected, 1e-6);
}

TEST(Evaluate, DeviceLevelMeansTheSame) {
  auto at_tensor_level = evaluate_graph(model(), {{"x", kEvaluateX}}), at_device_level = evaluate_graph(lowered(), {{"x", kEvaluateX}});
  ASSERT_TRUE(at_tensor_level);
  ASSERT_TRUE(at_device_level) << at_device_level.failure().diagnostics()[0].message;
  EXPECT_EQ(at_device_level->at("p").shape(), (Shape{4, 10}));
  auto a = at_tensor_level->at("p").to_f32(), b = at_device_level->at("p").to_f32();
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-6);
}

TEST(Evaluate, ForgottenMaskShows) {
  // Padding is computed on like anything else: without a mask the padded columns take part in a sum of exponentials.
  Builder b("sum", Level::device);
  auto x = b.input("x", {1, 10});
  auto ones = b.constant(Tensor(Shape{32, 32}, std::vector<float>(1024, 1.0f)));
  b.output("s", b.matmul(b.exp(x), ones), {1, 1});
  auto graph = b.finish();
  ASSERT_TRUE(graph);
  auto out = evaluate_graph(*graph, {{"x", f32({1, 10}, std::vector<float>(10, 0.0f))}});
  ASSERT_TRUE(out);
  EXPECT_EQ(out->at("s").as<float>()[0], 32);
}

TEST(Evaluate, ManipulationsOnEdges) {
  // Two heads: x [32, 64] sliced into heads, times its transpose, stacked back.
  Builder b("heads", Level::device);
  auto x = b.input("x", {32, 64});
  Edge heads(x, {Tm::hslice(2)}), turned(x, {Tm::hslice(2), Tm::transpose()});
  auto scores = b.matmul(heads, turned);
  b.output("s", Edge(scores, {Tm::hstack(2)}), {32, 64});
  auto graph = b.finish();
  ASSERT_TRUE(graph) << graph.failure().diagnostics()[0].message;
  Tensor in = random({32, 64}, 9);
  auto out = evaluate_graph(*graph, {{"x", in}});
  ASSERT_TRUE(out);
  auto v = in.as<float>(), s = out->at("s").as<float>();
  for (std::size_t i = 0; i < 32; i += 5)
    for (std::size_t j = 0; j < 64; j += 3) {
      std::size_t head = j / 32;
      double sum = 0;
      for (std::size_t k = 0; k < 32; ++k) sum += double{v[i * 64 + head * 32 + k]} * v[j % 32 * 64 + head * 32 + k];
      ASSERT_NEAR(s[i * 64 + j], sum, 1e-5);
    }
}

TEST(Evaluate, ObservesEveryLiveNodeInOrder) {
  Graph g = model();
  // A node that no output needs, and that could not be computed.
  auto dead = g.add("dead", "log", {g.find("x")});
  g.node(dead).outputs = g.node(g.find("x")).outputs;
  std::vector<std::string> seen;
  EvaluateOptions options;
  options.observe = [&](const graph::Node& n, std::span<const Tensor> results) {
    seen.push_back(n.name());
    EXPECT_EQ(results.size(), 1u);
  };
  ASSERT_TRUE(evaluate_graph(g, {{"x", kEvaluateX}}, options));
  EXPECT_EQ(seen, (std::vector<std::string>{"x", "w1", "b1", "gemm", "relu", "w2", "b2", "gemm.1", "softmax", "p"}));
}

TEST(Evaluate, OneValueTwiceAndStraightThrough) {
  Builder b("two");
  auto x = b.input("x", {2});
  b.output("twice", b.add(x, x));
  b.output("same", x);
  auto graph = b.finish();
  ASSERT_TRUE(graph);
  auto out = evaluate_graph(*graph, {{"x", f32({2}, {1, 2})}});
  ASSERT_TRUE(out);
  EXPECT_EQ(out->at("twice").to_f32(), (std::vector<float>{2, 4}));
  EXPECT_EQ(out->at("same").to_f32(), (std::vector<float>{1, 2}));
}

TEST(Evaluate, WrongInputsAreAllNamed) {
  Builder b("in");
  auto x = b.input("x", {2}), y = b.input("y", {2}), z = b.input("z", {2});
  b.output("o", b.add(b.add(x, y), z));
  auto graph = b.finish();
  ASSERT_TRUE(graph);
  auto out = evaluate_graph(*graph, {{"x", f32({2}, {1, 2})}, {"y", f32({1, 2}, {1, 2})}, {"zz", f32({2}, {1, 2})}});
  ASSERT_FALSE(out);
  std::vector<std::string> messages;
  for (const auto& d : out.failure().diagnostics()) messages.push_back(cat(d.code, ": ", d.message));
  EXPECT_EQ(messages, (std::vector<std::string>{"OP007: the input 'y' is F32 [2]; given is F32 [1, 2]",
                                                "OP007: the input 'z' (F32 [2]) is missing", "OP007: the graph has no input 'zz'"}));
  EXPECT_EQ(out.failure().diagnostics()[2].hint, "its inputs: x, y, z");
}

TEST(Evaluate, DoesNotTouchAnUnsoundGraph) {
  Graph g("loop");
  auto a = g.add("a", "relu"), c = g.add("c", "relu", {a});
  g.set_inputs(a, {c});
  g.node(a).outputs = g.node(c).outputs = {{DType::f32, {1}, {}}};
  g.add("y", "output", {c});
  auto out = evaluate_graph(g, {});
  ASSERT_FALSE(out);
  EXPECT_EQ(out.failure().diagnostics()[0].message, "node 'a': it depends on itself, through 'c'");
}

TEST(EvaluateNode, ForFoldingConstants) {
  Graph g("fold");
  auto c = g.add("c", "constant");
  g.node(c).value = graph::Value(f32({2}, {1, 4}));
  g.node(c).outputs = {{DType::f32, {2}, {}}};
  auto s = g.add("s", "sqrt", {c});
  auto value = evaluate_node(g.node(c), Level::tensor, {});
  ASSERT_TRUE(value);
  auto root = evaluate_node(g.node(s), Level::tensor, *value);
  ASSERT_TRUE(root);
  EXPECT_EQ(root->at(0).to_f32(), (std::vector<float>{1, 2}));
  auto wrong = evaluate_node(g.node(s), Level::tensor, {});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.failure().diagnostics()[0].message, "node 's' (sqrt): 'sqrt' takes 1 input, not 0");
}

}  // namespace
}  // namespace buda::ops
