// SPDX-License-Identifier: Apache-2.0
// Prestriding: what a strided convolution of a model input leaves to the host.
//
// Over blocks of as many elements as a stride has (window_blocks.hpp) the convolution has stride 1 and fewer taps of more channels. The
// host puts the elements of a block side by side while it pads and tiles the input anyway.
#include "rules.hpp"

#include <buda/graph/graph.hpp>
#include <buda/ops/spatial/window_blocks.hpp>

#include <algorithm>

namespace buda::conv {
namespace {

Edge in_blocks(Builder& b, const Edge& x, const ops::WindowBlocks& blocks) {
  Edge in_parts = b.named("blocks.split").reshape(x, blocks.split(b.graph().type(x.source)->shape));
  return b.named("blocks").transpose(in_parts, blocks.order());
}

}  // namespace

std::optional<Prestrided> prestrided(Builder& b, const Edge& x, const Edge& weights, const Window& window) {
  Shape in = b.graph().type(x.source)->shape, w = b.graph().type(weights.source)->shape;
  auto blocks = ops::window_blocks(window, in.rank() - 2, in[1]);
  if (!blocks) return std::nullopt;
  std::int64_t channels = in[1] * blocks->elements, taps = blocks->window.taps();

  Prestrided out{{}, {}, blocks->window};
  out.rows = b.named("rows").reshape(in_blocks(b, x, *blocks), {in[0], 1, blocks->window.in(), channels});
  // The same for the weights, whose kernel is filled up to whole blocks. One that is whole is only moved, so that a state can be kept so.
  std::vector<std::int64_t> before{0, 0}, after{0, 0};
  before.insert(before.end(), blocks->before.begin(), blocks->before.end());
  after.insert(after.end(), blocks->after.begin(), blocks->after.end());
  const auto adds = [](const std::vector<std::int64_t>& sizes) {
    return std::any_of(sizes.begin(), sizes.end(), [](auto n) { return n != 0; });
  };
  Edge filled = adds(before) || adds(after) ? Edge(b.named("weights.filled").pad(weights, before, after)) : weights;
  Edge kernel = b.named("weights.blocks").reshape(in_blocks(b, filled, *blocks), {w[0], taps, channels});
  out.weights = b.named("weights.taps").transpose(kernel, {1, 2, 0});
  return out;
}

}  // namespace buda::conv
