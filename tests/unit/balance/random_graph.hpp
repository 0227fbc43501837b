// Random device graphs.
#pragma once

#include "unit/balance/fixture.hpp"

#include <buda/base/rng.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace buda::balance {

// Perceptrons with residual adds, softmax-like tails, heads along z, several inputs and outputs. Sizes are skewed: mostly small, sometimes
// such that epochs, streaming from DRAM, or nothing at all helps.
class RandomGraph {
 public:
  // `small`: of a few tiles each, with values everywhere, so that they can be computed.
  explicit RandomGraph(std::uint64_t seed, bool small = false) : rng_(seed), small_(small), g_(cat("random_", seed)) {
    g_.with_values = small;
  }

  graph::Graph run() {
    std::int64_t rows = 32 * size(8);
    std::int64_t cols = 32 * size(24);
    graph::NodeId x = g_.input("input one", {1, 1, rows, cols}, {rows, cols}, format());
    std::uint64_t layers = 1 + rng_.below(6);
    for (std::uint64_t i = 0; i < layers; ++i) {
      graph::NodeId before = x;
      std::int64_t next = rng_.below(3) == 0 ? cols : 32 * size(32);
      x = g_.linear(cat("layer/", i), x, rows, cols, next, activation());
      if (next == cols && rng_.below(2) == 0) x = g_.op(cat("residual:", i), "add", {x, before}, {1, 1, rows, cols}, {}, format());
      cols = next;
      if (rng_.below(4) == 0) x = softmax(x, i, rows, cols);
      if (rng_.below(4) == 0) x = heads(x, i, rows, cols);
      if (rng_.below(5) == 0) g_.output(cat("tap", i), x);
    }
    g_.output("result", x, {rows, cols});
    if (small_) fill();
    return std::move(g_.graph);
  }

 private:
  std::int64_t size(std::int64_t most) {
    if (small_) return static_cast<std::int64_t>(1 + rng_.below(static_cast<std::uint64_t>(std::min<std::int64_t>(most, 6))));
    auto n = static_cast<std::int64_t>(1 + rng_.below(static_cast<std::uint64_t>(most)));
    if (rng_.below(12) == 0) n *= 16;
    if (rng_.below(60) == 0) n *= 211;  // a prime: no grid divides it
    return n;
  }
  DataFormat format() {
    constexpr DataFormat kFormats[] = {DataFormat::float16_b, DataFormat::bfp8_b, DataFormat::float16_b, DataFormat::bfp4_b};
    return kFormats[rng_.below(4)];
  }
  graph::AttrMap activation() {
    if (rng_.below(2) == 0) return {};
    return {{"relu_en", true}, {"relu_mode", std::string("min")}, {"relu_threshold", 0.0}};
  }
  graph::NodeId softmax(graph::NodeId x, std::uint64_t i, std::int64_t rows, std::int64_t cols) {
    Shape shape{1, 1, rows, cols}, column{1, 1, rows, 32};
    auto most = g_.op(cat("max", i), "reduce", {x}, column, {{"dim", std::string("c")}, {"type", std::string("max")}});
    auto low = g_.op(cat("low", i), "subtract", {x, graph::Edge(most, {graph::Tm::broadcast(graph::TmDim::c, cols / 32)})}, shape);
    auto e = g_.op(cat("exp", i), "exp", {low}, shape);
    auto ones = g_.parameter(cat("ones", i), {1, 1, cols, 32}, DataFormat::float16_b, "constant");
    auto sum = g_.op(cat("sum", i), "matmul", {e, ones}, column);
    auto inverse = g_.op(cat("inverse", i), "reciprocal", {sum}, column);
    return g_.op(cat("softmax", i), "multiply", {e, graph::Edge(inverse, {graph::Tm::broadcast(graph::TmDim::c, cols / 32)})}, shape);
  }
  // Cut along the columns into slices of z, multiplied with their transposes, and put together again.
  graph::NodeId heads(graph::NodeId x, std::uint64_t i, std::int64_t rows, std::int64_t cols) {
    auto all = divisors(cols / 32);
    std::int64_t n = all[rng_.below(all.size())];
    graph::Tm cut = graph::Tm::hslice(n), join = graph::Tm::hstack(n);
    auto scores =
        g_.op(cat("scores", i), "matmul", {graph::Edge(x, {cut}), graph::Edge(x, {cut, graph::Tm::transpose()})}, {1, n, rows, rows});
    auto mixed = g_.op(cat("mixed", i), "matmul", {scores, graph::Edge(x, {cut})}, {1, n, rows, cols / n});
    return g_.op(cat("joined", i), "nop", {graph::Edge(mixed, {join})}, {1, 1, rows, cols});
  }

  // Weights such that values keep their size from layer to layer; ones stay ones.
  void fill() {
    for (auto id : g_.graph.ids()) {
      auto& node = g_.graph.node(id);
      if (!node.has_value()) continue;
      const Shape& shape = node.outputs[0].shape;
      double scale = node.kind() == graph::NodeKind::constant ? 0 : 1.5 / std::sqrt(static_cast<double>(shape[2]));
      std::vector<float> values(static_cast<std::size_t>(*shape.volume()), 1.0f);
      for (float& v : values)
        if (scale > 0) v = static_cast<float>(rng_.uniform(-scale, scale));
      node.value = graph::Value(Tensor(shape, std::move(values)));
    }
  }

  Rng rng_;
  bool small_ = false;
  DeviceGraph g_;
};

}  // namespace buda::balance
