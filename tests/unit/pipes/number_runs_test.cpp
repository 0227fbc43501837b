// Runs of numbers: which is found first, and that nothing is lost.
#include <buda/pipes/number_runs.hpp>

#include <buda/base/rng.hpp>

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace buda::pipes {
namespace {

using Numbers = std::vector<std::uint64_t>;

// The list again, and how many runs it took.
std::pair<Numbers, int> there_and_back(const Numbers& list) {
  Numbers out;
  int runs = 0;
  for (std::span<const std::uint64_t> rest(list); !rest.empty(); ++runs) {
    NumberRun run = first_run(rest);
    EXPECT_LE(run.length(), rest.size());
    for (std::size_t i = 0; i < run.length(); ++i)
      out.push_back(rest[i % run.period] + (i / run.period) * static_cast<std::uint64_t>(run.step));
    rest = rest.subspan(run.length());
  }
  return {out, runs};
}

TEST(NumberRuns, FindsWhatRepeats) {
  Numbers list(100);
  std::iota(list.begin(), list.end(), 7);
  EXPECT_EQ(there_and_back(list), std::pair(list, 1));
  // Two producers in turns, then back.
  EXPECT_EQ(there_and_back({10, 50, 11, 51, 12, 52}).second, 1);
  EXPECT_EQ(there_and_back({9, 6, 3, 0}).second, 1);
  EXPECT_EQ(there_and_back({5, 5, 5, 5}).second, 1);
  EXPECT_EQ(there_and_back({1, 2}).second, 2);
  EXPECT_EQ(there_and_back({1, 2, 4}).second, 3);
}

TEST(NumberRuns, TheLongestOfSeveralIsTaken) {
  NumberRun run = first_run(Numbers{0, 1, 2, 10, 11, 12, 20, 21, 22});
  EXPECT_EQ(run.period, 3u);
  EXPECT_EQ(run.count, 3u);
  EXPECT_EQ(run.step, 10);
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
    ASSERT_EQ(there_and_back(list).first, list);
  }
}

}  // namespace
}  // namespace buda::pipes
