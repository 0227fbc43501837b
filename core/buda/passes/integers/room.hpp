// How many small matrices the cores of a chip have room for.
#pragma once

#include <cstdint>

namespace buda::passes {

// Where each line of elements becomes a matrix of its own, in a Float32. Rows of cores share them evenly, and a core reads so many and
// holds so many.
inline bool have_room(std::int64_t lines) {
  constexpr std::int64_t kRowsOfCores = 8, kMaxReads = 2000, kMaxHeld = 280;
  std::int64_t rows = kRowsOfCores;
  while (lines % rows != 0) --rows;
  return lines <= kMaxReads && lines / rows <= kMaxHeld;
}

}  // namespace buda::passes
