// SPDX-License-Identifier: Apache-2.0
// Blocks of strides.
#include <buda/ops/spatial/window_blocks.hpp>

#include <buda/graph/tm.hpp>

#include <algorithm>

namespace buda::ops {
namespace {

// Tiles that a product with so many taps of so many channels runs through, for each row of tiles.
std::int64_t inner_tiles(std::int64_t taps, std::int64_t channels) { return taps * ((channels + graph::kTileSide - 1) / graph::kTileSide); }

}  // namespace

Shape WindowBlocks::split(const Shape& x) const {
  std::vector<std::int64_t> out{x[0], x[1]};
  for (std::size_t i = 0; i < strides.size(); ++i) {
    out.push_back(x[2 + i] / strides[i]);
    out.push_back(strides[i]);
  }
  return Shape(std::move(out));
}

std::vector<std::int64_t> WindowBlocks::order() const {
  std::vector<std::int64_t> out{0};
  const auto rank = static_cast<std::int64_t>(strides.size());
  for (std::int64_t i = 0; i < rank; ++i) out.push_back(2 + 2 * i);
  for (std::int64_t i = 0; i < rank; ++i) out.push_back(3 + 2 * i);
  out.push_back(1);
  return out;
}

std::optional<WindowBlocks> window_blocks(const Window& window, std::size_t rank, std::int64_t channels) {
  WindowBlocks out;
  bool strided = false;
  for (std::size_t i = kMaxSpatialAxes - rank; i < kMaxSpatialAxes; ++i) {
    const WindowAxis& a = window.axes[i];
    if (a.dilation != 1 || a.in % a.stride != 0) return std::nullopt;
    strided = strided || a.stride > 1;
    const std::int64_t blocks_before = (a.before + a.stride - 1) / a.stride, added = blocks_before * a.stride - a.before;
    const std::int64_t kernel = (added + a.kernel + a.stride - 1) / a.stride;
    WindowAxis& axis = out.window.axes[i];
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
  if (!strided || inner_tiles(out.window.taps(), channels * out.elements) >= inner_tiles(window.taps(), channels)) return std::nullopt;
  return out;
}

}  // namespace buda::ops
