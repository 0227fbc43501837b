// SPDX-License-Identifier: Apache-2.0
// Sample models.
#include "apps/plugin-check/models.hpp"

#include <buda/base/rng.hpp>
#include <buda/base/text.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/tensor/tensor.hpp>

namespace buda::plugin_check {
namespace {

using ops::Builder;

Tensor weights(std::int64_t rows, std::int64_t columns) {
  Rng rng(static_cast<std::uint64_t>(rows * 31 + columns));
  std::vector<float> values(static_cast<std::size_t>(rows * columns));
  for (float& v : values) v = static_cast<float>(rng.uniform(-1, 1) / 8);
  return Tensor(Shape{rows, columns}, std::move(values));
}

Result<graph::Graph> layers(const std::string& name, const std::vector<std::int64_t>& sizes) {
  Builder b(name);
  auto x = b.input("x", Shape{32, sizes.front()});
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    auto w = b.parameter(cat("w", i), weights(sizes[i - 1], sizes[i]));
    x = b.named(cat("fc", i)).matmul(x, w);
    x = b.named(cat("act", i)).relu(x);
  }
  b.output("y", x);
  return b.finish();
}

Result<graph::Graph> branches() {
  Builder b("branches");
  auto x = b.input("x", Shape{64, 96});
  auto t = b.named("t").op("tanh", {x});
  auto s = b.named("s").sigmoid(x);
  auto p = b.named("p").multiply(t, s);
  auto q = b.named("q").add(p, t);
  b.output("y", q);
  b.output("z", b.named("r").reduce_sum(s, {1}));
  return b.finish();
}

Result<graph::Graph> chain(std::int64_t ops) {
  Builder b("chain");
  auto x = b.input("x", Shape{32, 32});
  auto y = x;
  // The input is added now and then, so that the output still depends on it.
  for (std::int64_t i = 0; i < ops; ++i) {
    b.named(cat("t", i));
    y = i % 10 == 9 ? b.add(y, x) : i % 2 == 0 ? b.op("tanh", {y}) : b.sigmoid(y);
  }
  b.output("y", y);
  return b.finish();
}

}  // namespace

Result<std::vector<graph::Graph>> sample_models() {
  // More ops than any chip has workers.
  constexpr std::int64_t kManyOps = 300;
  std::vector<graph::Graph> out;
  auto add = [&](Result<graph::Graph> graph) -> Result<void> {
    if (!graph) return std::move(graph).failure();
    out.push_back(std::move(*graph));
    return success();
  };
  BUDA_TRY(add(layers("product", {64, 32})));
  BUDA_TRY(add(layers("perceptron", {64, 128, 96, 32})));
  BUDA_TRY(add(branches()));
  BUDA_TRY(add(layers("wide", {1024, 2048})));
  BUDA_TRY(add(chain(kManyOps)));
  return out;
}

}  // namespace buda::plugin_check
