// SPDX-License-Identifier: Apache-2.0
// Prestriding: what a strided convolution of a model input leaves to the host.
//
// A window with stride s reads elements o * s + t - before. Let t - before = q * s + p with 0 <= p < s: it reads phase p of block o + q. So
// over blocks of s elements, of which each is s channels, the convolution has stride 1, and taps q from the first tap's block to the last
// one's. ResNet's first convolution, 7x7 with stride 2 over 3 channels, becomes 4x4 over 12 channels: 16 taps of one tile instead of 49.
// Blocks and phases are a reshape, a transpose and a reshape, which the host does while it pads and tiles the input anyway.
#include "rules.hpp"

#include <buda/graph/graph.hpp>
#include <buda/ops/table/rules.hpp>

#include <algorithm>

namespace buda::conv {
namespace {

// Tiles that a product with so many taps of so many channels runs through, for each row of tiles.
std::int64_t inner_tiles(std::int64_t taps, std::int64_t channels) { return taps * whole_tiles(channels) / graph::kTileSide; }

struct Blocks {
  Window window;
  std::vector<std::int64_t> strides, before, after;  // of the axes that there are; zeros added to the kernel to fill its blocks
  std::int64_t elements = 1;                         // of a block
};

std::optional<Blocks> blocks_of(const Window& window, std::size_t rank) {
  Blocks out;
  for (std::size_t i = ops::kMaxSpatialAxes - rank; i < ops::kMaxSpatialAxes; ++i) {
    const ops::WindowAxis& a = window.axes[i];
    if (a.dilation != 1 || a.in % a.stride != 0) return std::nullopt;
    std::int64_t blocks_before = (a.before + a.stride - 1) / a.stride, added = blocks_before * a.stride - a.before;
    std::int64_t kernel = (added + a.kernel + a.stride - 1) / a.stride;
    ops::WindowAxis& axis = out.window.axes[i];
    axis.in = a.in / a.stride;
    axis.out = a.out;
    axis.kernel = kernel;
    axis.before = blocks_before;
    axis.after = std::max<std::int64_t>(0, a.out - 1 + kernel - blocks_before - axis.in);
    out.strides.push_back(a.stride);
    out.before.push_back(added);
    out.after.push_back(kernel * a.stride - a.kernel - added);
    out.elements *= a.stride;
  }
  return out;
}

// [a, sizes…, b] as [a, size / stride, stride, …, b], and then all blocks before all phases.
Edge in_blocks(Builder& b, const Edge& x, const std::vector<std::int64_t>& strides) {
  Shape shape = b.graph().type(x.source)->shape;
  std::size_t rank = strides.size();
  std::vector<std::int64_t> split{shape[0], shape[1]}, order{0};
  for (std::size_t i = 0; i < rank; ++i) {
    split.push_back(shape[2 + i] / strides[i]);
    split.push_back(strides[i]);
    order.push_back(static_cast<std::int64_t>(2 + 2 * i));
  }
  for (std::size_t i = 0; i < rank; ++i) order.push_back(static_cast<std::int64_t>(3 + 2 * i));
  order.push_back(1);
  Edge in_parts = b.named("blocks.split").reshape(x, Shape(split));
  return b.named("blocks").transpose(in_parts, order);
}

}  // namespace

std::optional<Prestrided> prestrided(Builder& b, const Edge& x, const Edge& weights, const Window& window) {
  Shape in = b.graph().type(x.source)->shape, w = b.graph().type(weights.source)->shape;
  std::size_t rank = in.rank() - 2;
  bool strided = std::any_of(window.axes.begin(), window.axes.end(), [](const ops::WindowAxis& a) { return a.stride > 1; });
  auto blocks = blocks_of(window, rank);
  if (!strided || !blocks) return std::nullopt;
  std::int64_t channels = in[1] * blocks->elements, taps = blocks->window.taps();
  if (inner_tiles(taps, channels) >= inner_tiles(window.taps(), in[1])) return std::nullopt;

  Prestrided out{{}, {}, blocks->window};
  out.rows = b.named("rows").reshape(in_blocks(b, x, blocks->strides), {in[0], 1, blocks->window.in(), channels});
  // The same for the weights, whose kernel is filled up to whole blocks.
  std::vector<std::int64_t> before{0, 0}, after{0, 0};
  before.insert(before.end(), blocks->before.begin(), blocks->before.end());
  after.insert(after.end(), blocks->after.begin(), blocks->after.end());
  Edge filled = b.named("weights.filled").pad(weights, before, after);
  Edge kernel = b.named("weights.blocks").reshape(in_blocks(b, filled, blocks->strides), {w[0], taps, channels});
  out.weights = b.named("weights.taps").transpose(kernel, {1, 2, 0});
  return out;
}

}  // namespace buda::conv
