// SPDX-License-Identifier: Apache-2.0
// Runs of numbers: that they are found, and that nothing is lost.
#include <buda/pipes/format/number_runs.hpp>

#include <buda/base/rng.hpp>

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace buda::pipes {
namespace {

using Numbers = std::vector<std::uint64_t>;

void spell_out(const NumberRuns& runs, std::span<const NumberRuns::Item> items, std::uint64_t offset, Numbers& out) {
  for (const auto& item : items) {
    const std::uint64_t first = item.first + offset;
    if (item.shape == NumberRuns::kNumber) {
      out.push_back(first);
      continue;
    }
    const auto& shape = runs.shape(item.shape);
    EXPECT_EQ(shape.parts.front().first, 0u);
    for (std::size_t i = 0; i < shape.count; ++i) spell_out(runs, shape.parts, first + i * static_cast<std::uint64_t>(shape.step), out);
  }
}

// How many items the list is; it has to come back.
std::size_t items_of(const Numbers& list) {
  NumberRuns runs(list);
  Numbers back;
  spell_out(runs, runs.items(), 0, back);
  EXPECT_EQ(back, list);
  return runs.items().size();
}

TEST(NumberRuns, FindsWhatRepeats) {
  Numbers list(100);
  std::iota(list.begin(), list.end(), 7);
  EXPECT_EQ(items_of(list), 1u);
  // Two producers in turns, then back.
  EXPECT_EQ(items_of({10, 50, 11, 51, 12, 52}), 1u);
  EXPECT_EQ(items_of({9, 6, 3, 0}), 1u);
  EXPECT_EQ(items_of({5, 5, 5, 5}), 1u);
  EXPECT_EQ(items_of({1, 2}), 2u);
  EXPECT_EQ(items_of({1, 2, 4}), 3u);
  EXPECT_EQ(items_of({}), 0u);
}

// A transposed matrix is read by columns, t after t: three runs in each other.
TEST(NumberRuns, RunsOfRunsAreRuns) {
  Numbers list;
  for (std::uint64_t t = 0; t < 5; ++t)
    for (std::uint64_t c = 0; c < 30; ++c)
      for (std::uint64_t r = 0; r < 20; ++r) list.push_back(1000 + 600 * t + 30 * r + c);
  EXPECT_EQ(items_of(list), 1u);
}

TEST(NumberRuns, TheOneThatCoversMostIsTaken) {
  NumberRuns runs(Numbers{0, 1, 3, 10, 11, 13, 20, 21, 23});
  ASSERT_EQ(runs.items().size(), 1u);
  const auto& shape = runs.shape(runs.items()[0].shape);
  EXPECT_EQ(shape.parts.size(), 3u);
  EXPECT_EQ(shape.count, 3u);
  EXPECT_EQ(shape.step, 10);
}

TEST(NumberRuns, NothingIsLost) {
  Rng rng(3);
  for (int round = 0; round < 2000; ++round) {
    Numbers list;
    while (list.size() < 40) {
      std::size_t begin = list.size(), period = 1 + rng.below(5);
      for (std::size_t i = 0; i < period; ++i) list.push_back(rng.below(6));
      for (std::size_t i = 0, n = period * rng.below(4), step = rng.below(3); i < n; ++i) list.push_back(list[begin + i] + step);
    }
    items_of(list);
  }
}

}  // namespace
}  // namespace buda::pipes
