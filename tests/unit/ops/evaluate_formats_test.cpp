// SPDX-License-Identifier: Apache-2.0
// Evaluation of device graphs in their data formats: by hand where numbers are few. (tests/unit/balance compares whole graphs with the
// golden target.)
#include <buda/graph/graph.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/ops/whole_graph/evaluate_formats.hpp>
#include <buda/tensor/formats/quantize.hpp>
#include <buda/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace buda::ops {
namespace {

using F = DataFormat;
using graph::Edge;
using graph::Graph;
using graph::MathFidelity;
using graph::ValueRef;

std::vector<float> ramp(std::size_t n, float first, float step) {
  std::vector<float> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = first + static_cast<float>(i) * step;
  return v;
}

struct Formatted {
  Builder b{"g", Level::device};
  NamedTensors inputs;

  ValueRef input(const char* name, std::vector<float> values, Shape shape, F format) {
    ValueRef v = b.input(name, shape);
    b.graph().node(v.node).outputs[0].format = format;
    inputs.emplace(name, Tensor(std::move(shape), std::move(values)));
    return v;
  }
  ValueRef in(ValueRef v, F format, F accumulate = F::float16_b, MathFidelity fidelity = MathFidelity::hifi4, F mid = F::invalid) {
    auto& n = b.graph().node(v.node);
    n.outputs[0].format = format;
    n.precision = {mid == F::invalid ? accumulate : mid, accumulate, fidelity};
    return v;
  }
  // The first `count` numbers of the first row; all of them where none is given.
  std::vector<float> run(ValueRef v, std::size_t count = 0) {
    b.output("y", v);
    auto graph = b.finish();
    EXPECT_TRUE(graph.ok());
    auto out = evaluate_graph_in_formats(*graph, inputs);
    EXPECT_TRUE(out.ok()) << (out ? "" : out.failure().diagnostics()[0].message);
    std::vector<float> y = out ? out->at("y").to_f32() : std::vector<float>{};
    if (count != 0) y.resize(count);
    return y;
  }
};

TEST(EvaluateInFormats, InputsAreStoredInTheirFormat) {
  // One exponent for 16 neighbours: next to 100 (64 * 1.56) a Bfp8 datum is a multiple of 1.
  Formatted f;
  std::vector<float> x(16, 0.4f);
  x[0] = 100;
  x[1] = 0.6f;
  auto y = f.run(f.in(f.b.op("nop", {f.input("x", x, {1, 16}, F::bfp8_b)}), F::float32, F::float32));
  EXPECT_EQ(y[0], 100);
  EXPECT_EQ(y[1], 1);
  EXPECT_EQ(y[2], 0);
}

TEST(EvaluateInFormats, TheRegisterRoundsHalfAwayFromZero) {
  Formatted f;
  // 8 significant bits: 1 + 2^-8 is halfway between 1 and 1 + 2^-7.
  ValueRef a = f.input("a", {1.0f, -1.0f, 1.0f}, {1, 3}, F::float16_b);
  ValueRef b = f.input("b", {0.00390625f, -0.00390625f, 0.0038f}, {1, 3}, F::float16_b);
  EXPECT_EQ(f.run(f.in(f.b.add(a, b), F::float16_b), 3), (std::vector<float>{1.0078125f, -1.0078125f, 1.0f}));
}

TEST(EvaluateInFormats, FidelityHidesLowBits) {
  // 1 + 2^-7 has its last bit in the eighth place; operand A of a multiplication shows 5 bits at a time, B 7.
  const float x = 1.0078125f;
  auto product = [&](MathFidelity fidelity) {
    Formatted f;
    ValueRef a = f.input("a", {x}, {1, 1}, F::float16_b), b = f.input("b", {x}, {1, 1}, F::float16_b);
    return f.run(f.in(f.b.multiply(a, b), F::float32, F::float32, fidelity))[0];
  };
  EXPECT_EQ(product(MathFidelity::lofi), 1);
  EXPECT_EQ(product(MathFidelity::hifi2), x);
  EXPECT_EQ(product(MathFidelity::hifi3), x + 0.0078125f) << "low bits of B meet the high ones of A";
  EXPECT_EQ(product(MathFidelity::hifi4), x * x);
}

TEST(EvaluateInFormats, MatmulSeesTheSameBitsTheOtherWayRound) {
  // Input 0 of a matmul is operand B.
  auto product = [&](float left, float right, MathFidelity fidelity) {
    Formatted f;
    ValueRef a = f.input("a", {left}, {1, 1}, F::float16_b), b = f.input("b", {right}, {1, 1}, F::float16_b);
    return f.run(f.in(f.b.matmul(a, b), F::float32, F::float32, fidelity))[0];
  };
  const float fine = 1.0078125f, middle = 1.015625f;  // 8 and 7 significant bits
  EXPECT_EQ(product(middle, 1, MathFidelity::lofi), middle);
  EXPECT_EQ(product(1, middle, MathFidelity::lofi), 1);
  EXPECT_EQ(product(1, fine, MathFidelity::hifi2), fine);
  EXPECT_EQ(product(fine, 1, MathFidelity::hifi2), 1);
  EXPECT_EQ(product(fine, 1, MathFidelity::hifi3), fine);
}

TEST(EvaluateInFormats, SumsAreRoundedOncePerTile) {
  // 256 ones in a row: 1 + 255 * 2^-8. In one tile of 32 the small numbers are added before the register rounds.
  Formatted f;
  std::vector<float> x(64, 0.00390625f);
  x[0] = 1;
  ValueRef a = f.input("a", x, {1, 64}, F::float16_b);
  ValueRef b = f.input("b", std::vector<float>(64, 1.0f), {64, 1}, F::float16_b);
  // The first tile: 1 + 31/256 = 1.12109375, halfway between 1.1171875 and 1.125; the second adds 32/256.
  EXPECT_EQ(f.run(f.in(f.b.matmul(a, b), F::float32, F::float16_b))[0], 1.25f);
}

TEST(EvaluateInFormats, PartialSumsAreStoredBeforeABias) {
  auto with_mid = [](F mid) {
    Formatted f;
    std::vector<float> x(32, 0.0f);
    x[0] = 100;
    x[1] = 1;
    ValueRef a = f.input("a", x, {1, 32}, F::float16_b);
    std::vector<float> w(32 * 32, 0.0f);
    w[0] = 1;          // column 0: 100
    w[32 + 1] = 0.5f;  // column 1: 0.5
    ValueRef b = f.input("b", w, {32, 32}, F::float16_b);
    ValueRef bias = f.input("bias", std::vector<float>(32, 0.25f), {1, 32}, F::float16_b);
    ValueRef mm = f.b.matmul(a, b, bias);
    return f.run(f.in(mm, F::float32, F::float16_b, MathFidelity::hifi4, mid));
  };
  EXPECT_EQ(with_mid(F::float16_b)[1], 0.75f);
  EXPECT_EQ(with_mid(F::bfp8_b)[1], 1.25f) << "0.5 becomes 1 beside 100";
}

TEST(EvaluateInFormats, AnInfinityIsANumberToTheMultiplier) {
  // 2^128 times a weight: zeros times it are zero, and what does not meet it is as ever.
  for (const MathFidelity fidelity : {MathFidelity::lofi, MathFidelity::hifi3, MathFidelity::hifi4}) {
    Formatted f;
    ValueRef x = f.input("x", {1, INFINITY, 2, 3}, {2, 2}, F::float16_b);
    ValueRef w = f.input("w", {1, 2, 0, 0.25f}, {2, 2}, F::float16_b);
    auto y = f.run(f.in(f.b.matmul(x, w), F::float16_b, F::float16_b, fidelity));
    ASSERT_EQ(y.size(), 1024u);
    EXPECT_EQ((std::vector<float>{y[0], y[1], y[32], y[33]}), (std::vector<float>{1, 0x1p126f, 2, 4.75f}));
  }
}

TEST(EvaluateInFormats, ReluComesAfterTheRegister) {
  Formatted f;
  ValueRef x = f.input("x", {-1.0f, 0.5f, 6.5f}, {1, 3}, F::float16_b);
  ValueRef r = f.b.op("nop", {x}, {{"relu_en", true}, {"relu_mode", std::string("max")}, {"relu_threshold", 6.0}});
  EXPECT_EQ(f.run(f.in(r, F::float16_b), 3), (std::vector<float>{0, 0.5f, 6}));
}

TEST(EvaluateInFormats, BlockFloatsAreFarButNotTooFar) {
  auto error = [](F format) {
    Formatted f;
    ValueRef a = f.input("a", ramp(64 * 64, -1, 0.0005f), {64, 64}, format), b = f.input("b", ramp(64 * 64, 1, -0.0004f), {64, 64}, format);
    auto y = f.run(f.in(f.b.matmul(a, b), F::float32, F::float32));
    Formatted g;
    ValueRef ga = g.input("a", ramp(64 * 64, -1, 0.0005f), {64, 64}, F::float32),
             gb = g.input("b", ramp(64 * 64, 1, -0.0004f), {64, 64}, F::float32);
    auto exact = g.run(g.in(g.b.matmul(ga, gb), F::float32, F::float32));
    double worst = 0;
    for (std::size_t i = 0; i < y.size(); ++i) worst = std::max(worst, std::abs(static_cast<double>(y[i]) - static_cast<double>(exact[i])));
    return worst;
  };
  double eight = error(F::bfp8_b), four = error(F::bfp4_b);
  EXPECT_GT(eight, 0);
  EXPECT_LT(eight, 0.2);
  EXPECT_GT(four, 4 * eight);
}

TEST(EvaluateInFormats, NeedsFormats) {
  Builder b("g", Level::device);
  b.output("y", b.exp(b.input("x", {32, 32})));
  auto graph = b.finish();
  ASSERT_TRUE(graph.ok());
  NamedTensors inputs = {{"x", Tensor(Shape{32, 32}, std::vector<float>(1024, 1.0f))}};
  auto out = evaluate_graph_in_formats(*graph, inputs);
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(out.failure().diagnostics()[0].code, "OP060");
  EXPECT_EQ(out.failure().diagnostics()[0].message, "node 'x' has no data format, so what a device makes of it is not known");
  Builder t("t");
  t.output("y", t.exp(t.input("x", {32, 32})));
  auto tensors = t.finish();
  ASSERT_TRUE(tensors.ok());
  EXPECT_EQ(evaluate_graph_in_formats(*tensors, inputs).failure().diagnostics()[0].code, "OP061");
}

}  // namespace
}  // namespace buda::ops
