// SPDX-License-Identifier: Apache-2.0
// Periods of long lists of inputs.
#include <buda/pipes/build/period.hpp>

#include <gtest/gtest.h>

namespace buda::pipes {
namespace {

std::vector<Id> repeated(std::size_t period, std::size_t times) {
  std::vector<Id> out;
  for (std::size_t i = 0; i < period * times; ++i) out.push_back(i % period);
  return out;
}

TEST(Period, ShortListsAreLeftAlone) { EXPECT_EQ(list_period(repeated(8, 8), 1, 1), std::nullopt); }
TEST(Period, TheSmallestFrom32OnIsChosen) { EXPECT_EQ(list_period(repeated(8, 32), 1, 1), 32u); }
TEST(Period, ASmallerOneServesWhereTheNextIsTooLong) { EXPECT_EQ(list_period(repeated(5, 26), 1, 1), 10u); }
TEST(Period, LongPeriodsCountWhereThereIsNoOther) { EXPECT_EQ(list_period(repeated(100, 2), 1, 1), 100u); }
TEST(Period, KernelStepsMustNotStraddleIt) {
  EXPECT_EQ(list_period(repeated(33, 4), 1, 1), 33u);
  EXPECT_EQ(list_period(repeated(33, 4), 1, 2), 66u);
  EXPECT_EQ(list_period(repeated(33, 4), 1, 5), std::nullopt);
}
TEST(Period, ListsWithoutOneHaveNone) {
  std::vector<Id> list = repeated(66, 2);
  list.back() = 1;
  EXPECT_EQ(list_period(list, 1, 1), std::nullopt);
}

}  // namespace
}  // namespace buda::pipes
