// SPDX-License-Identifier: Apache-2.0
// Weights as matrices. They are known as a rule, and then all of this is done once, on the host.
#include "rules.hpp"

#include <buda/graph/graph.hpp>
#include <buda/passes/decompose/channels_last.hpp>

#include <functional>

namespace buda::conv {
namespace {

const Shape& shape_of(Builder& b, const Edge& x) { return b.graph().type(x.source)->shape; }

std::int64_t taps_of(const Shape& weights) {
  std::int64_t n = 1;
  for (std::size_t i = 2; i < weights.rank(); ++i) n *= weights[i];
  return n;
}

// A matrix of ones and zeros, where `is_one` says.
Edge mask(Builder& b, DType dtype, std::int64_t rows, std::int64_t columns, const std::function<bool(std::int64_t, std::int64_t)>& is_one) {
  std::vector<float> elements;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) elements.push_back(is_one(i, j) ? 1.0f : 0.0f);
  return b.named("groups").constant(Shape{rows, columns}, std::move(elements), dtype);
}

// An axis repeated until it has `size` elements.
Edge repeated(Builder& b, const Edge& x, std::int64_t axis, std::int64_t size) {
  std::int64_t period = shape_of(b, x)[static_cast<std::size_t>(axis)];
  if (period == size) return x;
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < size; ++i) places.push_back(i % period);
  Edge indices = b.named("repeats").constant(Shape{size}, std::move(places));
  return b.named("repeated").op("gather", {x, indices}, {{"dim", axis}});
}

}  // namespace

Edge dense_weights(Builder& b, const Edge& weights, std::int64_t groups) {
  Shape shape = shape_of(b, weights);
  DType dtype = b.graph().type(weights.source)->dtype;
  std::int64_t outputs = shape[0], inputs = shape[1], taps = taps_of(shape);
  Edge w = b.named("weights.flat").reshape(weights, {outputs, inputs, taps});
  w = b.named("weights.taps").transpose(w, {2, 1, 0});
  if (groups == 1) return w;
  Edge own = mask(b, dtype, groups * inputs, outputs, [&](auto i, auto o) { return o / (outputs / groups) == i / inputs; });
  w = repeated(b, w, 1, groups * inputs);
  return b.named("weights.groups").multiply(w, own);
}

Edge dense_transposed_weights(Builder& b, const Edge& weights, std::int64_t groups) {
  Shape shape = shape_of(b, weights);
  std::int64_t inputs = shape[0], outputs = shape[1];
  Edge w = dense_weights(b, weights, 1);
  if (groups == 1) return w;
  Edge own = mask(b, b.graph().type(weights.source)->dtype, groups * outputs, inputs,
                  [&](auto o, auto i) { return i / (inputs / groups) == o / outputs; });
  return b.named("weights.groups").multiply(repeated(b, w, 1, groups * outputs), own);
}

Edge depthwise_transposed_weights(Builder& b, const Edge& weights, std::int64_t groups) {
  Shape shape = shape_of(b, weights);
  std::int64_t group = shape[1];
  if (group == 1) return depthwise_weights(b, weights);
  Edge w = b.named("weights.grouped").reshape(weights, {groups, group, group, taps_of(shape)});
  w = b.named("weights.turned").transpose(w, {0, 2, 1, 3});
  return depthwise_weights(b, b.named("weights.as_conv").reshape(w, {shape[0], group, taps_of(shape)}));
}

Edge depthwise_weights(Builder& b, const Edge& weights) {
  Shape shape = shape_of(b, weights);
  DType dtype = b.graph().type(weights.source)->dtype;
  std::int64_t group = shape[1], taps = taps_of(shape), channels = whole_tiles(shape[0]);
  Edge w = b.named("weights.flat").reshape(weights, {shape[0], group, taps});
  w = b.named("weights.taps").transpose(w, {2, 1, 0});
  w = passes::padded_to(b, w, 2, channels);
  // Row j of a tile belongs to the group of j; so does column c.
  Edge own = mask(b, dtype, graph::kTileSide, channels, [&](auto j, auto c) { return c % graph::kTileSide / group == j / group; });
  w = repeated(b, w, 1, graph::kTileSide);
  w = b.named("weights.tiles").multiply(w, own);
  return b.named("weights.all").reshape(w, {taps * graph::kTileSide, channels});
}

}  // namespace buda::conv
