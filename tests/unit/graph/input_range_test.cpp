// SPDX-License-Identifier: Apache-2.0
// Texts of promised ranges.
#include <buda/graph/graph.hpp>
#include <buda/graph/tags/input_range.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace buda::graph {
namespace {

TEST(InputRange, IsReadAsItIsWritten) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min(), kMost = std::numeric_limits<std::int64_t>::max();
  for (const InputRange range : {InputRange{0, 50256}, InputRange{-7, -7}, InputRange{kLeast, kMost}})
    EXPECT_EQ(parse_input_range(range.text()), range);
  EXPECT_EQ((InputRange{-3, 50256}.text()), "-3:50256");
}

TEST(InputRange, OtherTextsAreNone) {
  for (const char* text : {"", ":", "5", "5:", ":5", "5:4", "1:2:3", "a:b", "0:9223372036854775808", "0.5:1"})
    EXPECT_FALSE(parse_input_range(text)) << text;
}

TEST(InputRange, IsATagOfTheInput) {
  Graph g("m");
  auto id = g.add("x", std::string(kInputOp));
  EXPECT_EQ(value_range_of(g.node(id)), "");
  g.node(id).tags[kValueRange] = "0:1";
  EXPECT_EQ(value_range_of(g.node(id)), "0:1");
}

}  // namespace
}  // namespace buda::graph
