// SPDX-License-Identifier: Apache-2.0
// The workers of a chip and who stands on them during one epoch.
#pragma once

#include <buda/base/grid.hpp>

#include <cstdint>
#include <optional>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::balance {

// Where an op stands. A transposed op has its logical core (r, c) at worker (at.row + c, at.col + r).
struct Place {
  GridCoord at;
  bool transposed = false;
  friend bool operator==(const Place&, const Place&) = default;
};

// Where a grid may stand: which way round, and at which place if it is fixed.
struct PlaceRule {
  std::optional<GridCoord> at;
  bool upright = true;
  bool transposed = false;
  bool allows(const Place& place) const {
    return (place.transposed ? transposed : upright) && (!at || (at->row == place.at.row && at->col == place.at.col));
  }
  // Whether the grid fits such a chip if nothing else stands on it.
  bool fits(GridShape grid, GridShape chip) const;
};

class Placer {
 public:
  explicit Placer(GridShape chip) : chip_(chip), taken_(static_cast<std::size_t>(chip.volume()), false) {}

  GridShape chip() const { return chip_; }
  std::int64_t free_cores() const { return free_; }
  bool is_free(const GridRect& rect) const;

  // The first free place for a grid that the rule allows, row by row from the top left; turned by 90 degrees where it only fits so.
  // O(cores of the chip * cores of the grid).
  std::optional<Place> find(GridShape grid, const PlaceRule& rule) const;
  // Takes or gives back workers. What is taken must be free, and inside the chip.
  void take(const GridRect& rect) { set(rect, true); }
  void release(const GridRect& rect) { set(rect, false); }
  void clear();

  static GridRect rect_of(GridShape grid, const Place& place) {
    return {place.at, place.transposed ? GridShape{grid.cols, grid.rows} : grid};
  }

 private:
  void set(const GridRect& rect, bool value);
  std::optional<GridCoord> first_fit(GridShape grid, const std::optional<GridCoord>& at) const;
  std::size_t index(std::int32_t row, std::int32_t col) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(chip_.cols) + static_cast<std::size_t>(col);
  }

  GridShape chip_;
  std::vector<bool> taken_;
  std::int64_t free_ = chip_.volume();
};

}  // namespace buda::balance

#pragma GCC visibility pop
