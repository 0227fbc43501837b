// SPDX-License-Identifier: Apache-2.0
// What is shown of work: stage, count and time left, within the width that there is.
#include <buda/cli/work.hpp>

#include <gtest/gtest.h>

namespace buda::cli {
namespace {

TEST(Work, ShowsStageCountAndTimeLeft) {
  Work work;
  work.at("importing nodes", 0, 40, 1);
  EXPECT_TRUE(work.turned());
  EXPECT_EQ(work.bar(1, 80), "importing nodes [                              ] 0/40");
  work.at("importing nodes", 10, 40, 3);
  EXPECT_FALSE(work.turned());
  EXPECT_EQ(work.bar(3, 80), "importing nodes [=======                       ] 10/40, 6 s left");
  EXPECT_EQ(work.bar(3, 50), "importing nodes [====            ] 10/40, 6 s left");
  EXPECT_EQ(work.bar(3, 20), "importing nodes 10/4");
}

TEST(Work, OfUnknownLengthShowsTheTimeThatHasPassed) {
  Work work;
  work.at("comparing placements", 0, 0, 0);
  EXPECT_EQ(work.bar(75, 80), "comparing placements 1 min 15 s");
  work.at("comparing placements", 7, 0, 76);
  EXPECT_EQ(work.bar(3700, 80), "comparing placements 7, 1 h 01 min");
  EXPECT_FALSE(work.seconds_left(3700));
}

TEST(Work, PassesOfOnePipelineAreCountedTogether) {
  Work work;
  work.at("fuse", 0, 10, 0);
  work.at("lower", 4, 10, 2);
  EXPECT_TRUE(work.turned());
  EXPECT_DOUBLE_EQ(*work.seconds_left(2), 3);
  work.at("other", 0, 5, 4);
  EXPECT_FALSE(work.seconds_left(4));
}

TEST(Work, EndsWithTheLast) {
  Work work;
  work.at("writing", 0, 2, 0);
  EXPECT_TRUE(work.is_going_on());
  work.at("writing", 2, 2, 1);
  EXPECT_FALSE(work.is_going_on());
  EXPECT_TRUE(work.turned());
  work.at("writing", 0, 2, 2);
  EXPECT_TRUE(work.turned());
}

TEST(Work, JsonHasTheSame) {
  Work work;
  work.at("a \"b\"", 0, 8, 0);
  EXPECT_EQ(work.json("tool", 0), "{\"progress\": {\"tool\": \"tool\", \"stage\": \"a \\\"b\\\"\", \"done\": 0, \"total\": 8}}\n");
  work.at("a \"b\"", 2, 8, 1);
  EXPECT_EQ(work.json("tool", 1),
            "{\"progress\": {\"tool\": \"tool\", \"stage\": \"a \\\"b\\\"\", \"done\": 2, \"total\": 8, \"seconds_left\": 3.0}}\n");
}

}  // namespace
}  // namespace buda::cli
