// SPDX-License-Identifier: Apache-2.0
// Lists of numbers as runs, which is how lists of blocks are made: a few numbers, then the same ones again, each a step further, and so on
// with such runs in place of numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

namespace buda::pipes {

class NumberRuns {
 public:
  // A number, or a run that begins with it.
  struct Item {
    std::uint64_t first = 0;
    std::size_t shape = kNumber;
    friend auto operator<=>(const Item&, const Item&) = default;
  };
  static constexpr std::size_t kNumber = 0;

  // What runs have in common that differ by a constant: `count` times the parts, which begin at `first` of each part beyond that of the
  // run, with `step` added each time. The first part begins at 0. Numbers wrap around.
  struct Shape {
    std::vector<Item> parts;
    std::size_t count = 1;
    std::int64_t step = 0;
    friend auto operator<=>(const Shape&, const Shape&) = default;
  };

  // Greedy: from left to right, the run of at most 16 parts that covers most; then again with what came out. O(16 n) for each level of
  // runs.
  explicit NumberRuns(std::span<const std::uint64_t> numbers);

  // One after the other they are the list.
  const std::vector<Item>& items() const { return items_; }
  // Of a run; not of a number.
  const Shape& shape(std::size_t number) const { return *shapes_[number]; }

 private:
  bool find_runs();

  std::vector<Item> items_;
  std::map<Shape, std::size_t> numbers_;
  std::vector<const Shape*> shapes_;
};

}  // namespace buda::pipes
