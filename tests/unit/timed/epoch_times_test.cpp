// SPDX-License-Identifier: Apache-2.0
// Times of epochs that were executed before.
#include <buda/timed/epoch_times.hpp>

#include <gtest/gtest.h>

namespace buda::timed {
namespace {

perf::EpochSummary summary_of(const std::string& graph, sim::Ticks time) {
  perf::EpochSummary s;
  s.graph = graph;
  s.inputs = 2;
  s.time = {time};
  return s;
}

TEST(EpochTimes, EqualBeginningsTakeEqualTimes) {
  EpochTimes times;
  const sim::EntriesByQueue full{{3, {2, 0, 0}}}, empty{{3, {0, 0, 0}}};
  EXPECT_EQ(times.known({0, full, {}}), nullptr);
  times.learn({0, full, {}}, true, {100, {}, {}}, summary_of("a", 100));
  times.add(0, 100, 5);
  ASSERT_NE(times.known({0, full, {}}), nullptr);
  EXPECT_EQ(times.known({0, full, {}})->time, 100u);
  EXPECT_EQ(times.known({0, empty, {}}), nullptr);
  EXPECT_EQ(times.known({1, full, {}}), nullptr);
  EXPECT_EQ(times.known({0, full, {7}}), nullptr) << "a core has its program later";
  times.add(0, 100, 5);
  times.learn({0, empty, {}}, true, {300, {}, {}}, summary_of("a", 300));
  times.add(0, 300, 7);
  ASSERT_EQ(times.summaries().size(), 1u);
  EXPECT_EQ(times.summaries()[0].executions, 3);
  EXPECT_EQ(times.summaries()[0].total.ticks, 500u);
  EXPECT_EQ(times.summaries()[0].switching.ticks, 17u);
  EXPECT_EQ(times.summaries()[0].time.ticks, 300u);
  EXPECT_EQ(times.executions(), 3);
}

TEST(EpochTimes, AnExecutionThatTheHostHelpedTellsNothingOfOthers) {
  EpochTimes times;
  const sim::EntriesByQueue empty{{3, {0, 0, 0}}};
  times.learn({0, empty, {}}, false, {100, {}, {}}, summary_of("a", 100));
  times.add(0, 100, 0);
  EXPECT_EQ(times.known({0, empty, {}}), nullptr);
  EXPECT_EQ(times.summaries()[0].time.ticks, 100u);
}

}  // namespace
}  // namespace buda::timed
