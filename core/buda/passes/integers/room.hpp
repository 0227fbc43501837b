// SPDX-License-Identifier: Apache-2.0
// How many small matrices the cores of a chip have room for.
#pragma once

#include <cstdint>

namespace buda::passes {

inline constexpr std::int64_t kRowsOfCores = 8;

// Matrices of a core, where rows of cores share them evenly.
inline std::int64_t lines_of_a_core(std::int64_t lines) {
  std::int64_t rows = kRowsOfCores;
  while (lines % rows != 0) --rows;
  return lines / rows;
}

// Where each line of elements becomes a matrix of its own, in a Float32: a core reads so many and holds so many.
inline bool have_room(std::int64_t lines) {
  constexpr std::int64_t kMaxReads = 2000, kMaxHeld = 280;
  return lines <= kMaxReads && lines_of_a_core(lines) <= kMaxHeld;
}

// Tiles of a core, where cores of a row of the chip share those of a row of elements evenly. A prime number of tiles is one core's.
inline std::int64_t row_tiles_of_a_core(std::int64_t elements) {
  constexpr std::int64_t kColumnsOfCores = 8, kTile = 32;
  const std::int64_t tiles = (elements + kTile - 1) / kTile;
  std::int64_t columns = kColumnsOfCores;
  while (tiles > 0 && tiles % columns != 0) --columns;
  return tiles / columns;
}

// Where rows of that many elements come out of a product: a core holds its tiles in Float32 three to six times.
inline bool has_room_for_row(std::int64_t elements) { return row_tiles_of_a_core(elements) <= 96; }

// Where they are only read or written, element by element: once.
inline bool can_hold_row(std::int64_t elements) { return row_tiles_of_a_core(elements) <= 280; }

// What the note says of the others.
inline constexpr const char* kNoRoomForRow = "since cores cannot share its rows evenly, and one has no room for a whole row";

}  // namespace buda::passes
