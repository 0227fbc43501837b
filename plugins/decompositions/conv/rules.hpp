// SPDX-License-Identifier: Apache-2.0
// The rules of this plugin, and the steps that they share.
#pragma once

#include <buda/ops/spatial/window.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/passes/decompose/decomposition.hpp>

#include <memory>

namespace buda::conv {

using graph::Edge;
using ops::Builder;
using ops::Window;

inline ops::Attrs attrs_of(const graph::Node& n) { return {*ops::standard_ops().find(graph::Level::tensor, n.op()), n.attrs}; }

inline std::int64_t whole_tiles(std::int64_t n) { return (n + graph::kTileSide - 1) / graph::kTileSide * graph::kTileSide; }

// ---- weights.cpp

// Weights [outputs, inputs per group, sizes…] as [taps, inputs, outputs]; zeros between groups.
Edge dense_weights(Builder& b, const Edge& weights, std::int64_t groups);
// Weights of a transposed convolution [inputs, outputs per group, sizes…] as [taps, outputs, inputs]; zeros between groups.
Edge dense_transposed_weights(Builder& b, const Edge& weights, std::int64_t groups);
// Weights of a convolution with as many inputs as outputs in each of its groups, integers of which make a tile: [taps * 32, channels]
// as the op `depthwise` takes them, channels in whole tiles.
Edge depthwise_weights(Builder& b, const Edge& weights);
// The same of a transposed convolution with so many groups.
Edge depthwise_transposed_weights(Builder& b, const Edge& weights, std::int64_t groups);

// ---- depthwise.cpp

// Are weights [channels, channels per group, sizes…] those of groups that `depthwise` takes? Of a convolution and of a transposed one.
bool is_depthwise(const Shape& weights, std::int64_t groups);
// x [n, taps, windows, channels] by weights as depthwise_weights makes them: [n, 1, windows, channels].
Edge depthwise(Builder& b, Edge x, const Edge& weights);

// ---- prestride.cpp

// A strided convolution of a model input as one with stride 1: the host puts the elements of each block of strides side by side, as
// channels, before it pushes the input.
struct Prestrided {
  Edge rows;     // [samples, 1, blocks, channels of a block]
  Edge weights;  // [taps, channels of a block, outputs]
  Window window;
};
// Nothing where it is not possible or saves no work.
std::optional<Prestrided> prestrided(Builder& b, const Edge& x, const Edge& weights, const Window& window);

// ---- rules

std::unique_ptr<passes::Decomposition> make_convolution(bool prestride);
std::unique_ptr<passes::Decomposition> make_transposed_convolution();

}  // namespace buda::conv
