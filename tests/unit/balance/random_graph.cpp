// SPDX-License-Identifier: Apache-2.0
#include "unit/balance/random_graph.hpp"

#include "unit/balance/fixture.hpp"

#include <buda/base/rng.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace buda::balance {
namespace {

class RandomGraph {
 public:
  explicit RandomGraph(std::uint64_t seed, RandomValues values)
      : rng_(seed), values_(values), small_(values != RandomValues::none), g_(cat("random_", seed)) {
    g_.with_values = false;  // fill() gives them
  }

  graph::Graph run() {
    Value x;
    x.rows = 32 * size(8);
    x.cols = 32 * size(24);
    x.id = g_.input("input one", {1, 1, x.rows, x.cols}, {x.rows, x.cols}, format());
    // A layer makes numbers eight times as large at most: a product of two, twice (with weighted windows), and an earlier value added.
    std::uint64_t layers = 1 + rng_.below(integers() ? 2 : 6);
    for (std::uint64_t i = 0; i < layers; ++i) {
      seen_.push_back(x);
      x = layer(x, i);
      if (rng_.below(2) == 0) x = with_skip(x, i);
      if (!integers() && rng_.below(4) == 0) x.id = softmax(x.id, i, x.rows, x.cols);
      if (!integers() && rng_.below(4) == 0) x.id = heads(x.id, i, x.rows, x.cols);
      if (rng_.below(5) == 0) g_.output(cat("tap", i), x.id);
    }
    g_.output("result", x.id, {x.rows, x.cols});
    if (small_) fill();
    return std::move(g_.graph);
  }

 private:
  struct Value {
    graph::NodeId id;
    std::int64_t rows = 0, cols = 0;
    Shape shape() const { return {1, 1, rows, cols}; }
  };

  bool integers() const { return values_ == RandomValues::integers; }

  Value layer(const Value& x, std::uint64_t i) {
    // Larger selections take long to write down.
    const bool few_rows = x.rows <= 32 * 64;
    switch (few_rows ? rng_.below(6) : 0) {
      case 3:
        return convolved(x, i);
      case 4:
        return pooled(x, i);
      case 5:
        return depthwise(x, i);
      default:
        break;
    }
    const std::int64_t next = rng_.below(3) == 0 ? x.cols : 32 * size(32);
    return {g_.linear(cat("layer/", i), x.id, x.rows, x.cols, next, activation()), x.rows, next};
  }

  // Plus an earlier value of its shape: the one right before, or any other.
  Value with_skip(const Value& x, std::uint64_t i) {
    std::vector<Value> alike;
    for (const Value& v : seen_)
      if (v.rows == x.rows && v.cols == x.cols) alike.push_back(v);
    if (alike.empty()) return x;
    return {g_.op(cat("residual:", i), "add", {x.id, alike[rng_.below(alike.size())].id}, x.shape(), {}, format()), x.rows, x.cols};
  }

  // ---- windows of rows

  struct Windows {
    graph::NodeId id;  // (slices, rows, columns of x): in slice t the t-th row of every window
    std::int64_t slices = 1, rows = 0;
    graph::Edge side_by_side() const { return slices == 1 ? graph::Edge(id) : graph::Edge(id, {graph::Tm::hstack(slices)}); }
  };

  // Of 1 to 9 rows around every (or every second) row, or anywhere; sometimes each the sum of two weighted rows.
  Windows windows(const Value& x, std::uint64_t i) {
    constexpr std::int64_t kSlices[] = {1, 2, 3, 4, 9};
    Windows w;
    w.slices = kSlices[rng_.below(5)];
    const std::int64_t stride = x.rows % 64 == 0 ? static_cast<std::int64_t>(1 + rng_.below(2)) : 1;
    w.rows = x.rows / stride;
    const bool anywhere = rng_.below(4) == 0, weighted = rng_.below(4) == 0;
    const std::int64_t terms = weighted ? 2 : 1;
    std::vector<std::int32_t> picks;
    for (std::int64_t term = 0; term < terms; ++term)
      for (std::int64_t t = 0; t < w.slices; ++t)
        for (std::int64_t r = 0; r < w.rows; ++r) {
          const std::int64_t near = r * stride + t - w.slices / 2 + term;
          const std::int64_t row = anywhere ? static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(x.rows))) : near;
          picks.push_back(row < 0 || row >= x.rows ? 0 : static_cast<std::int32_t>(row + 1));
        }
    const Shape shape{1, 1, terms * w.slices, w.rows};
    std::vector<graph::Edge> inputs{g_.constant(cat("picks", i), Tensor(shape, std::move(picks))), x.id};
    if (weighted) {
      std::vector<float> weights(static_cast<std::size_t>(*shape.volume()), integers() ? 1.0F : 0.5F);
      inputs.push_back(g_.constant(cat("factors", i), Tensor(shape, std::move(weights))));
    }
    w.id = g_.op(cat("windows", i), "matmul", std::move(inputs), {1, w.slices, w.rows, x.cols}, {{"identity", true}, {"slices", w.slices}},
                 format());
    return w;
  }
  Value convolved(const Value& x, std::uint64_t i) {
    const Windows w = windows(x, i);
    const std::int64_t next = 32 * size(16);
    return {g_.linear(cat("conv", i), w.side_by_side(), w.rows, w.slices * x.cols, next, activation()), w.rows, next};
  }
  Value pooled(const Value& x, std::uint64_t i) {
    const Windows w = windows(x, i);
    const graph::AttrMap largest{{"dim", std::string("z")}, {"type", std::string("max")}, {"z", w.slices}};
    // A maximum along z keeps its format.
    const DataFormat same = *g_.graph.node(w.id).outputs[0].format;
    return {g_.op(cat("pool", i), "reduce", {w.id}, {1, 1, w.rows, x.cols}, largest, same), w.rows, x.cols};
  }
  Value depthwise(const Value& x, std::uint64_t i) {
    const Windows w = windows(x, i);
    auto weights = g_.parameter(cat("diagonals", i), {1, 1, 32 * w.slices, x.cols});
    return {g_.op(cat("depthwise", i), "depthwise", {w.side_by_side(), weights}, {1, 1, w.rows, x.cols}, activation()), w.rows, x.cols};
  }

  std::int64_t size(std::int64_t most) {
    if (small_ && rng_.below(10) == 0) return rng_.below(2) == 0 ? 7 : 11;
    if (small_) return static_cast<std::int64_t>(1 + rng_.below(static_cast<std::uint64_t>(std::min<std::int64_t>(most, 6))));
    auto n = static_cast<std::int64_t>(1 + rng_.below(static_cast<std::uint64_t>(most)));
    if (rng_.below(12) == 0) n *= 16;
    if (rng_.below(60) == 0) n *= 211;  // a prime: no grid divides it
    return n;
  }
  DataFormat format() {
    if (integers()) return DataFormat::float16_b;
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
      if (!node.has_value() || node.value) continue;
      const Shape& shape = node.outputs[0].shape;
      double scale = node.kind() == graph::NodeKind::constant ? 0 : 1.5 / std::sqrt(static_cast<double>(shape[2]));
      std::vector<float> values(static_cast<std::size_t>(*shape.volume()), 1.0f);
      for (float& v : values)
        if (scale > 0) v = static_cast<float>(rng_.uniform(-scale, scale));
      if (integers()) values = few_ones(shape);
      node.value = graph::Value(Tensor(shape, std::move(values)));
    }
  }

  // Two ones in each column, of either sign.
  std::vector<float> few_ones(const Shape& shape) {
    std::vector<float> out(static_cast<std::size_t>(*shape.volume()), 0.0f);
    for (std::int64_t column = 0; column < shape[3]; ++column)
      for (int n = 0; n < 2; ++n) {
        const auto row = static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(shape[2])));
        out[static_cast<std::size_t>(row * shape[3] + column)] = rng_.below(2) == 0 ? 1.0f : -1.0f;
      }
    return out;
  }

  Rng rng_;
  RandomValues values_;
  bool small_;
  DeviceGraph g_;
  std::vector<Value> seen_;
};

}  // namespace

SeedRange seeds_wanted(std::uint64_t usual) {
  const char* asked = std::getenv("BUDA_RANDOM_GRAPHS");
  if (asked == nullptr) return {1, usual, true};
  auto parts = split(asked, ':');
  return {parse_uint(parts.front()).value_or(1), parse_uint(parts.back()).value_or(usual), false};
}

graph::Graph random_graph(std::uint64_t seed, RandomValues values) { return RandomGraph(seed, values).run(); }

}  // namespace buda::balance
