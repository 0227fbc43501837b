// SPDX-License-Identifier: Apache-2.0
// Lists of tuples as linear runs.
#include <buda/base/rng.hpp>
#include <buda/overlay/blob/runs.hpp>

#include <gtest/gtest.h>

namespace buda::overlay {
namespace {

using Tuples = std::vector<std::array<std::int64_t, 2>>;
using Pairs = Run<2>;  // testing::Test has a Run of its own

std::vector<Run<2>> runs_of(const Tuples& tuples) {
  std::vector<Run<2>> runs;
  for (const auto& t : tuples) append<2>(runs, t);
  return runs;
}

Tuples tuples_of(const std::vector<Run<2>>& runs) {
  Tuples out;
  for_each(runs, [&](const auto& t) { out.push_back(t); });
  return out;
}

TEST(Runs, WhatIsRegularIsOneRun) {
  Tuples t;
  for (std::int64_t i = 0; i < 1000; ++i) t.push_back({5 + 3 * i, 100 - i});
  auto runs = runs_of(t);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0], (Pairs{{5, 100}, {3, -1}, 1000}));
}

TEST(Runs, ARunOfTwoGivesItsSecondAway) {
  // 0, then 10 11 12 …: the leap to 10 is not kept as a step.
  auto runs = runs_of({{0, 0}, {10, 0}, {11, 0}, {12, 0}, {13, 0}});
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0], (Pairs{{0, 0}, {}, 1}));
  EXPECT_EQ(runs[1], (Pairs{{10, 0}, {1, 0}, 4}));
}

TEST(Runs, NothingIsLost) {
  Rng rng(5);
  for (int round = 0; round < 200; ++round) {
    Tuples t;
    std::int64_t a = 0, step = 1;
    for (int i = 0; i < 60; ++i) {
      if (rng.below(4) == 0) step = static_cast<std::int64_t>(rng.below(5));
      t.push_back({a += step, static_cast<std::int64_t>(rng.below(6) == 0)});
    }
    auto runs = runs_of(t);
    ASSERT_EQ(tuples_of(runs), t);
    ASSERT_EQ(count_of(runs), 60);
  }
}

}  // namespace
}  // namespace buda::overlay
