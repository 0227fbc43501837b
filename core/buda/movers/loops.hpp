// SPDX-License-Identifier: Apache-2.0
// Lists of tuples of words, with loops: what an epoch moves repeats within a block, a matrix and an input. Internal to the module.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace buda::movers {

using WordTuple = std::array<std::uint32_t, 5>;  // of which a list uses the first ones

struct WordRun {
  std::uint32_t count = 1;
  WordTuple first{}, step{};
};

// As the firmware goes through it (share/movers/tables.h).
struct Listing {
  std::uint32_t entries = 0;  // outside of loops
  std::size_t depth = 0;      // of loops
  std::vector<std::uint32_t> words;
};

// What repeats three times and more, or is long, in loops. Numbers are those of words: sums wrap.
Listing listing_of(const std::vector<WordRun>& runs, std::size_t width);

}  // namespace buda::movers
