// SPDX-License-Identifier: Apache-2.0
// The engine: several uses, frozen ends, names, what has no rule; values of PyTorch 1.13.
#include <buda/autograd/differentiate.hpp>
#include <buda/graph/editor.hpp>
#include <buda/graph/graph.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/tensor/tensor.hpp>

#include <gtest/gtest.h>

namespace buda::autograd {
namespace {

using graph::Graph;
using graph::ValueRef;

struct Differentiated {
  Graph graph;
  std::vector<ValueRef> gradients;
};

Result<Differentiated> differentiated(ops::Builder& b, ValueRef loss, std::vector<ValueRef> wanted) {
  b.output("loss", loss);
  const auto one = b.named("one").constant(1.0, DType::f32);
  BUDA_TRY(b.status());
  Differentiated out{b.graph(), {}};
  const Seed seed{loss, one};
  BUDA_ASSIGN(out.gradients, differentiate(out.graph, {&seed, 1}, wanted));
  return out;
}

std::vector<float> value_of(Differentiated& d, std::size_t i, const NamedTensors& inputs) {
  d.graph.add("wanted", std::string(graph::kOutputOp), {graph::Edge(d.gradients[i])});
  auto outputs = ops::evaluate_graph(d.graph, inputs);
  EXPECT_TRUE(outputs);
  return outputs ? outputs->at("wanted").to_f32() : std::vector<float>{};
}

TEST(Differentiate, GradientsOfSeveralUsesAreAdded) {
  ops::Builder b("net");
  auto x = b.input("x", {3});
  auto doubled = b.named("doubled").add(x, x);
  auto squares = b.named("squares").multiply(doubled, x);
  auto loss = b.named("total").reduce_sum(squares, {}, false);
  auto d = differentiated(b, loss, {x});
  ASSERT_TRUE(d);
  EXPECT_EQ(value_of(*d, 0, {{"x", Tensor(Shape{3}, std::vector<float>{1, -2, 0.5f})}}), (std::vector<float>{4, -8, 2}));
  EXPECT_TRUE(d->graph.find("grad.doubled").valid());
  EXPECT_TRUE(d->graph.find("grad.x").valid());
}

TEST(Differentiate, ValuesThatTheLossDoesNotReadHaveNone) {
  ops::Builder b("net");
  auto x = b.input("x", {3}), other = b.input("other", {3});
  auto y = b.relu(x);
  auto loss = b.named("total").reduce_sum(y, {}, false);
  auto d = differentiated(b, loss, {x, other});
  ASSERT_TRUE(d);
  EXPECT_TRUE(d->gradients[0].valid());
  EXPECT_FALSE(d->gradients[1].valid());
}

TEST(Differentiate, StepsEndTheWay) {
  ops::Builder b("net");
  auto x = b.input("x", {3});
  auto y = b.op("round", {x});
  auto loss = b.named("total").reduce_sum(y, {}, false);
  auto d = differentiated(b, loss, {x});
  ASSERT_TRUE(d);
  EXPECT_FALSE(d->gradients[0].valid());
}

TEST(Differentiate, NamesTheWayToOpsWithoutRule) {
  ops::Builder b("net");
  auto x = b.input("x", {2, 2});
  auto det = b.named("det").op("determinant", {x});
  auto factor = b.constant(0.5f);
  auto half = b.named("half").multiply(det, factor);
  auto loss = b.named("total").reduce_sum(half, {}, false);
  auto d = differentiated(b, loss, {x});
  ASSERT_FALSE(d);
  const Diagnostic& e = d.failure().diagnostics().front();
  EXPECT_EQ(e.code, "AG001");
  EXPECT_EQ(e.message, "op 'det' (determinant) has no gradient rule of its own, and none of the decompositions that are loaded serves it");
  ASSERT_EQ(e.notes.size(), 1U);
  EXPECT_EQ(e.notes[0].message, "the loss depends on it: total <- half <- det");
}

// What an integer hides is told as well: nothing before it would learn.
TEST(Differentiate, NamesOpsWithoutGradient) {
  ops::Builder b("net");
  auto x = b.input("x", {3});
  auto scale = b.constant(0.5f);
  auto zero = b.constant(Tensor::scalar(std::int8_t{0}));
  auto whole = b.named("whole").op("quantize", {x, scale, zero});
  auto back = b.named("back").op("dequantize", {whole, scale, zero});
  auto loss = b.named("total").reduce_sum(back, {}, false);
  auto d = differentiated(b, loss, {x});
  ASSERT_FALSE(d);
  const Diagnostic& e = d.failure().diagnostics().front();
  EXPECT_EQ(e.code, "AG002");
  EXPECT_EQ(e.message, "op 'whole' (quantize) has no gradient: its result changes in steps: nothing before it would learn");
  ASSERT_EQ(e.notes.size(), 1U);
  EXPECT_EQ(e.notes[0].message, "the loss depends on it: total <- back <- whole");
}

// A rule that cannot serve a node says why.
TEST(Differentiate, ARuleThatDoesNotServeANode) {
  const auto refusal = [](ops::Builder& b, ValueRef x, ValueRef y) {
    auto d = differentiated(b, b.named("total").reduce_sum(y, {}, false), {x});
    EXPECT_FALSE(d);
    return d ? "" : d.failure().diagnostics().front().code + ": " + d.failure().diagnostics().front().message;
  };
  ops::Builder sparse("net");
  auto matrix = sparse.input("matrix", {1, 2, 4}, DType::i32), rows = sparse.input("rows", {4, 3});
  EXPECT_EQ(refusal(sparse, rows, sparse.named("picked").op("sparse_matmul", {matrix, rows})),
            "AG003: the gradient of op 'picked' (sparse_matmul) cannot be computed: its selection matrix is not a constant");
}

// A rule from elsewhere takes the place of ours: here the gradient goes straight through a rounding.
TEST(Differentiate, RulesFromElsewhere) {
  ops::Builder b("net");
  auto x = b.input("x", {3});
  auto y = b.named("whole").op("round", {x});
  auto squares = b.named("squares").multiply(y, y);
  auto loss = b.named("total").reduce_sum(squares, {}, false);
  b.output("loss", loss);
  const auto one = b.named("one").constant(1.0, DType::f32);
  Differentiated d{b.graph(), {}};
  const Seed seed{loss, one};
  OutsideRules rules;
  rules["round"] = {"a test", [](graph::GraphEditor&, graph::NodeId, const std::vector<ValueRef>& incoming) {
                      return Result<std::vector<ValueRef>>(incoming);
                    }};
  const ValueRef wanted = x;
  auto gradients = differentiate(d.graph, {&seed, 1}, {&wanted, 1}, rules);
  ASSERT_TRUE(gradients);
  d.gradients = *gradients;
  EXPECT_EQ(value_of(d, 0, {{"x", Tensor(Shape{3}, std::vector<float>{1.2F, -2.4F, 0.3F})}}), (std::vector<float>{2, -4, 0}));
}

TEST(Differentiate, WrongRulesFromElsewhereAreNamed) {
  ops::Builder b("net");
  auto x = b.input("x", {3});
  auto y = b.named("bent").op("tanh", {x});
  auto loss = b.named("total").reduce_sum(y, {}, false);
  b.output("loss", loss);
  const auto one = b.named("one").constant(1.0, DType::f32);
  graph::Graph graph = b.graph();
  const Seed seed{loss, one};
  OutsideRules rules;
  rules["tanh"] = {"a test", [&](graph::GraphEditor&, graph::NodeId, const std::vector<ValueRef>&) {
                     return Result<std::vector<ValueRef>>(std::vector<ValueRef>{one});
                   }};
  const ValueRef wanted = x;
  auto gradients = differentiate(graph, {&seed, 1}, {&wanted, 1}, rules);
  ASSERT_FALSE(gradients);
  EXPECT_EQ(gradients.failure().diagnostics().front().code, "AG004");
  EXPECT_EQ(gradients.failure().diagnostics().front().message,
            "the gradient of op 'bent' (tanh) by a test is F32 [] for input 0, which is F32 [3]");
}

// Equal elements of a window: the first has the gradient.
TEST(Differentiate, FirstOfEqualMaxima) {
  ops::Builder b("net");
  auto x = b.input("x", {1, 1, 2, 4});
  auto y = b.max_pool2d(x, {2, 2}, {{"stride", std::vector<std::int64_t>{2, 2}}});
  auto loss = b.named("total").reduce_sum(y, {}, false);
  auto d = differentiated(b, loss, {x});
  ASSERT_TRUE(d);
  EXPECT_EQ(value_of(*d, 0, {{"x", Tensor(Shape{1, 1, 2, 4}, std::vector<float>{0, 0, 1, 3, 0, 0, 3, 2})}}),
            (std::vector<float>{1, 0, 0, 1, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace buda::autograd
