// SPDX-License-Identifier: Apache-2.0
// Gradients of pools by a loop over windows: of many and few taps, with ties, padding, windows that overlap and that leave gaps.
#include <buda/autograd/differentiate.hpp>
#include <buda/base/rng.hpp>
#include <buda/graph/graph.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/tensor/tensor.hpp>

#include <gtest/gtest.h>

namespace buda::autograd {
namespace {

struct Pool {
  std::int64_t n, c, height, width;
  std::int64_t kernel[2], stride[2], padding[2];
  std::int64_t out(int axis) const {
    const std::int64_t in = axis == 0 ? height : width;
    return (in + 2 * padding[axis] - kernel[axis]) / stride[axis] + 1;
  }
};

graph::Graph gradient_of(const Pool& p, const std::string& op) {
  ops::Builder b("net");
  auto x = b.input("x", {p.n, p.c, p.height, p.width}), weights = b.input("weights", {p.n, p.c, p.out(0), p.out(1)});
  graph::AttrMap attrs = {{"kernel", std::vector<std::int64_t>{p.kernel[0], p.kernel[1]}},
                          {"stride", std::vector<std::int64_t>{p.stride[0], p.stride[1]}},
                          {"padding", std::vector<std::int64_t>{p.padding[0], p.padding[1], p.padding[0], p.padding[1]}}};
  auto y = b.op(op, {x}, std::move(attrs));
  const graph::ValueRef loss = b.reduce_sum(b.multiply(y, weights), {}, false), one = b.constant(1.0, DType::f32);
  b.output("loss", loss);
  const auto built = b.status();
  EXPECT_TRUE(built) << (built ? "" : built.failure().diagnostics().front().message);
  if (!built) return graph::Graph();
  const Seed seed{loss, one};
  graph::Graph out = b.graph();
  const graph::ValueRef wanted = x;
  auto gradients = differentiate(out, {&seed, 1}, {&wanted, 1});
  EXPECT_TRUE(gradients.ok());
  if (gradients) out.add("gradient", std::string(graph::kOutputOp), {graph::Edge(gradients->front())});
  return out;
}

// Each window gives what comes to it to its first maximum, or a share to each of its taps.
std::vector<float> by_windows(const Pool& p, bool max, const std::vector<float>& x, const std::vector<float>& g) {
  std::vector<float> out(x.size(), 0);
  std::size_t at = 0;
  for (std::int64_t plane = 0; plane < p.n * p.c; ++plane)
    for (std::int64_t oy = 0; oy < p.out(0); ++oy)
      for (std::int64_t ox = 0; ox < p.out(1); ++ox, ++at) {
        std::vector<std::size_t> taps;
        for (std::int64_t ky = 0; ky < p.kernel[0]; ++ky)
          for (std::int64_t kx = 0; kx < p.kernel[1]; ++kx) {
            const std::int64_t row = oy * p.stride[0] + ky - p.padding[0], column = ox * p.stride[1] + kx - p.padding[1];
            if (row < 0 || row >= p.height || column < 0 || column >= p.width) continue;
            taps.push_back(static_cast<std::size_t>((plane * p.height + row) * p.width + column));
          }
        if (max) {
          std::size_t first = taps.front();
          for (const std::size_t tap : taps)
            if (x[tap] > x[first]) first = tap;
          out[first] += g[at];
        } else {
          for (const std::size_t tap : taps) out[tap] += g[at] / static_cast<float>(p.kernel[0] * p.kernel[1]);
        }
      }
  return out;
}

void expect_right(const Pool& p, Rng& rng) {
  std::vector<float> x(static_cast<std::size_t>(p.n * p.c * p.height * p.width));
  std::vector<float> g(static_cast<std::size_t>(p.n * p.c * p.out(0) * p.out(1)));
  for (float& v : x) v = static_cast<float>(rng.below(5)) - 1;  // many ties, and maxima that are 0 as the padding
  for (float& v : g) v = static_cast<float>(1 + rng.below(7));
  for (const bool max : {true, false}) {
    const graph::Graph graph = gradient_of(p, max ? "max_pool2d" : "avg_pool2d");
    auto outputs = ops::evaluate_graph(graph, {{"x", Tensor(Shape{p.n, p.c, p.height, p.width}, std::vector<float>(x))},
                                               {"weights", Tensor(Shape{p.n, p.c, p.out(0), p.out(1)}, std::vector<float>(g))}});
    ASSERT_TRUE(outputs.ok());
    const std::vector<float> got = outputs->at("gradient").to_f32(), want = by_windows(p, max, x, g);
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-4) << (max ? "max, element " : "avg, element ") << i;
  }
}

TEST(PoolGradients, AreThoseOfALoopOverWindows) {
  Rng rng(11);
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE(round);
    const auto drawn = [&](std::int64_t most) { return static_cast<std::int64_t>(1 + rng.below(static_cast<std::uint64_t>(most))); };
    Pool p{drawn(3), drawn(3), drawn(11), drawn(11), {1, 1}, {1, 1}, {0, 0}};
    for (int axis = 0; axis < 2; ++axis) {
      p.kernel[axis] = drawn(axis == 0 ? p.height : p.width);
      p.stride[axis] = drawn(4);
      p.padding[axis] = static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(p.kernel[axis] / 2 + 1)));
    }
    expect_right(p, rng);
  }
}

// More taps than one digit counts.
TEST(PoolGradients, OfLargeWindows) {
  Rng rng(12);
  expect_right({2, 2, 13, 17, {13, 17}, {1, 1}, {0, 0}}, rng);
  expect_right({1, 1, 20, 31, {11, 13}, {7, 5}, {5, 6}}, rng);
}

// Elements of all constants of the gradient of a global pool.
std::int64_t constants_of(std::int64_t side, const std::string& op) {
  std::int64_t out = 0;
  const graph::Graph graph = gradient_of({1, 1, side, side, {side, side}, {1, 1}, {0, 0}}, op);
  for (graph::NodeId id : graph.topological_order())
    if (const auto& value = graph.node(id).value) out += value->tensor.shape().volume().value_or(0);
  return out;
}

TEST(PoolGradients, CostNoMoreThanInProportionToTheTaps) {
  for (const std::string op : {"max_pool2d", "avg_pool2d"})
    for (const std::int64_t side : {5, 14, 56, 112}) EXPECT_LE(constants_of(side, op), 8 * side * side) << op << ' ' << side;
}

}  // namespace
}  // namespace buda::autograd
