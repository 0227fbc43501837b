// SPDX-License-Identifier: Apache-2.0
// Normalisations by channel.
//
//   batchnorm   x scale + shift, scale = weights / sqrt(variance + epsilon), shift = bias - mean scale: two ops where the four are known
//   lrn         x (bias + alpha / size s)^-beta, s = x² summed over neighbouring channels: a product with a band of ones
#include <buda/graph/graph.hpp>

#include "rules.hpp"

#include <algorithm>

namespace buda::nn {
namespace {

using namespace plugin;

Term batchnorm(Rewrite& r) {
  const Shape& shape = r.type(0).shape;
  // A channel's number beside [n, c, …]: [c, 1, …].
  std::vector<std::int64_t> dims(shape.rank() - 1, 1);
  dims[0] = shape[1];
  auto channels = [&](std::size_t input) { return shape.rank() == 2 ? r.in(input) : r.reshape(r.in(input), Shape(dims)); };
  Term x = r.in(0);
  Term weights = channels(1);
  Term bias = channels(2);
  Term mean = channels(3);
  Term scale = weights * reciprocal(sqrt(channels(4) + r.real("epsilon")));
  Term shift = bias - mean * scale;
  return x * scale + shift;
}

Term lrn(Rewrite& r) {
  const Shape shape = r.type(0).shape;
  std::int64_t channels = shape[1], size = r.integer("size"), inner = 1;
  for (std::size_t i = 2; i < shape.rank(); ++i) inner *= shape[i];
  std::int64_t before = (size - 1) / 2, after = size - 1 - before;
  std::vector<float> band(static_cast<std::size_t>(channels * channels), 0);
  for (std::int64_t i = 0; i < channels; ++i)
    for (std::int64_t j = std::max<std::int64_t>(0, i - before); j <= std::min(channels - 1, i + after); ++j)
      band[static_cast<std::size_t>(i * channels + j)] = static_cast<float>(r.real("alpha") / static_cast<double>(size));
  Term x = r.in(0);
  bool flat = shape.rank() == 3;
  if (!flat) x = r.reshape(x, Shape{shape[0], channels, inner});
  Term squares = square(x);
  Term sums = r.op("matmul", {r.constant(Shape{channels, channels}, std::move(band)), squares}) + r.real("bias");
  Term y = x * exp(log(sums) * -r.real("beta"));
  return flat ? y : r.reshape(y, shape);
}

bool has_channels(const graph::Graph& graph, const graph::Node& n) { return graph.type(n.inputs()[0].source)->shape.rank() >= 2; }
bool has_positive_bias(const graph::Graph& graph, const graph::Node& n) {
  auto it = n.attrs.find("bias");
  const auto* bias = it == n.attrs.end() ? nullptr : std::get_if<double>(&it->second);
  return graph.type(n.inputs()[0].source)->shape.rank() >= 3 && (bias == nullptr || *bias > 0);
}

}  // namespace

std::vector<RuleSpec> normalization_rules() {
  return {
      {.name = "batchnorm",
       .summary = "a scale and a shift for each channel",
       .consumes = {"batchnorm"},
       .produces = {"reshape", "add", "sqrt", "reciprocal", "multiply", "subtract"},
       .build = batchnorm,
       .matches = has_channels},
      {.name = "lrn",
       .summary = "sums over neighbouring channels as a product with a band of ones",
       .consumes = {"lrn"},
       .produces = {"reshape", "square", "matmul", "add", "log", "exp", "multiply"},
       .build = lrn,
       .matches = has_positive_bias},
  };
}

}  // namespace buda::nn
