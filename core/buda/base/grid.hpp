// SPDX-License-Identifier: Apache-2.0
// Coordinates and shapes on a grid of cores or buffers: always row first, as netlists write them.
#pragma once

#include <compare>
#include <cstdint>

#pragma GCC visibility push(default)

namespace buda {

// A place on a grid. Device descriptors write "x-y" (column first); they are converted when they are read.
struct GridCoord {
  std::int32_t row = 0;
  std::int32_t col = 0;
  friend constexpr auto operator<=>(const GridCoord&, const GridCoord&) = default;
};

// The size of a grid; both sides are positive in a valid grid.
struct GridShape {
  std::int32_t rows = 0;
  std::int32_t cols = 0;
  constexpr std::int64_t volume() const { return std::int64_t{rows} * cols; }
  constexpr bool contains(GridCoord c) const { return c.row >= 0 && c.col >= 0 && c.row < rows && c.col < cols; }
  friend constexpr auto operator<=>(const GridShape&, const GridShape&) = default;
};

// A rectangle of cores: its top-left corner and its size.
struct GridRect {
  GridCoord origin;
  GridShape shape;
  constexpr bool overlaps(const GridRect& o) const {
    return origin.row < o.origin.row + o.shape.rows && o.origin.row < origin.row + shape.rows && origin.col < o.origin.col + o.shape.cols &&
           o.origin.col < origin.col + shape.cols;
  }
  friend constexpr auto operator<=>(const GridRect&, const GridRect&) = default;
};

}  // namespace buda

#pragma GCC visibility pop
