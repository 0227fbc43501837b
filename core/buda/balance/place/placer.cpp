// First fit on the grid of workers.
#include <buda/balance/place/placer.hpp>

#include <algorithm>

namespace buda::balance {

bool Placer::is_free(const GridRect& rect) const {
  if (rect.origin.row < 0 || rect.origin.col < 0 || rect.origin.row + rect.shape.rows > chip_.rows ||
      rect.origin.col + rect.shape.cols > chip_.cols)
    return false;
  for (std::int32_t r = 0; r < rect.shape.rows; ++r)
    for (std::int32_t c = 0; c < rect.shape.cols; ++c)
      if (taken_[index(rect.origin.row + r, rect.origin.col + c)]) return false;
  return true;
}

std::optional<GridCoord> Placer::first_fit(GridShape grid) const {
  for (std::int32_t r = 0; r + grid.rows <= chip_.rows; ++r)
    for (std::int32_t c = 0; c + grid.cols <= chip_.cols; ++c)
      if (is_free({{r, c}, grid})) return GridCoord{r, c};
  return std::nullopt;
}

std::optional<Place> Placer::find(GridShape grid, bool allow_transpose) const {
  if (auto at = first_fit(grid)) return Place{*at, false};
  if (!allow_transpose || grid.rows == grid.cols) return std::nullopt;
  if (auto at = first_fit({grid.cols, grid.rows})) return Place{*at, true};
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
