// SPDX-License-Identifier: Apache-2.0
// First fit on the grid of workers.
#include <buda/balance/place/placer.hpp>

#include <algorithm>

namespace buda::balance {

bool PlaceRule::fits(GridShape grid, GridShape chip) const {
  const GridCoord origin = at.value_or(GridCoord{});
  const auto inside = [&](std::int32_t rows, std::int32_t cols) {
    return origin.row + rows <= chip.rows && origin.col + cols <= chip.cols;
  };
  return (upright && inside(grid.rows, grid.cols)) || (transposed && inside(grid.cols, grid.rows));
}

bool Placer::is_free(const GridRect& rect) const {
  if (rect.origin.row < 0 || rect.origin.col < 0 || rect.origin.row + rect.shape.rows > chip_.rows ||
      rect.origin.col + rect.shape.cols > chip_.cols)
    return false;
  for (std::int32_t r = 0; r < rect.shape.rows; ++r)
    for (std::int32_t c = 0; c < rect.shape.cols; ++c)
      if (taken_[index(rect.origin.row + r, rect.origin.col + c)]) return false;
  return true;
}

std::optional<GridCoord> Placer::first_fit(GridShape grid, const std::optional<GridCoord>& at) const {
  if (at) return is_free({*at, grid}) ? at : std::nullopt;
  for (std::int32_t r = 0; r + grid.rows <= chip_.rows; ++r)
    for (std::int32_t c = 0; c + grid.cols <= chip_.cols; ++c)
      if (is_free({{r, c}, grid})) return GridCoord{r, c};
  return std::nullopt;
}

std::optional<Place> Placer::find(GridShape grid, const PlaceRule& rule) const {
  if (rule.upright)
    if (auto at = first_fit(grid, rule.at)) return Place{*at, false};
  if (!rule.transposed || (rule.upright && grid.rows == grid.cols)) return std::nullopt;
  if (auto at = first_fit({grid.cols, grid.rows}, rule.at)) return Place{*at, true};
  return std::nullopt;
}

void Placer::set(const GridRect& rect, bool value) {
  for (std::int32_t r = 0; r < rect.shape.rows; ++r)
    for (std::int32_t c = 0; c < rect.shape.cols; ++c) taken_[index(rect.origin.row + r, rect.origin.col + c)] = value;
  free_ += value ? -rect.shape.volume() : rect.shape.volume();
}

void Placer::clear() {
  std::fill(taken_.begin(), taken_.end(), false);
  free_ = chip_.volume();
}

}  // namespace buda::balance
