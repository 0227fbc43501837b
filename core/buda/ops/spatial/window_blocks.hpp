// SPDX-License-Identifier: Apache-2.0
// Strided windows as windows over blocks of as many elements as a stride has, with stride 1.
//
// A window with stride s reads elements o * s + t - before. Let t - before = q * s + p with 0 <= p < s: it reads phase p of block o + q. So
// over blocks of s elements, of which each is s channels, the window has stride 1, and taps q from the first tap's block to the last
// one's. ResNet's first convolution, 7x7 with stride 2 over 3 channels, becomes 4x4 over 12 channels: 16 taps of one tile instead of 49.
// Blocks and phases are a reshape, a transpose and a reshape.
#pragma once

#include <buda/ops/spatial/window.hpp>
#include <buda/tensor/shape.hpp>

#include <cstdint>
#include <optional>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::ops {

struct WindowBlocks {
  Window window;                                     // over blocks
  std::vector<std::int64_t> strides, before, after;  // of the axes that there are; zeros added to the kernel to fill its blocks
  std::int64_t elements = 1;                         // of a block

  // [a, b, sizes…] in blocks: reshaped to `split`, transposed by `order`, it is [a, blocks…, elements of a block…, b].
  Shape split(const Shape& x) const;
  std::vector<std::int64_t> order() const;
};

// Of a window over so many channels, the last `rank` axes counting; nothing where it is not strided, the strides do not divide what it
// slides over, or a product with the taps of blocks runs through no fewer tiles than one with its own taps.
std::optional<WindowBlocks> window_blocks(const Window& window, std::size_t rank, std::int64_t channels);

}  // namespace buda::ops

#pragma GCC visibility pop
