// SPDX-License-Identifier: Apache-2.0
// Ways to lift restrictions, the smallest first.
#include <buda/balance/legalize/restrictions.hpp>

#include <gmock/gmock.h>

namespace buda::balance {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> texts_of(const ModelOptions& options) {
  std::vector<std::string> out;
  for (const Relaxed& way : relaxed(options)) out.push_back(way.text);
  return out;
}

TEST(Restrictions, EachIsLiftedAloneAndThenTheyAreTogether) {
  ModelOptions options;
  EXPECT_THAT(texts_of(options), ElementsAre());
  options.all_steps = false;
  EXPECT_THAT(texts_of(options), ElementsAre("--enumerate-u-kt=true"));
  options.one_row = true;
  EXPECT_THAT(texts_of(options),
              ElementsAre("--enumerate-u-kt=true", "--place-on-one-row=false", "--enumerate-u-kt=true --place-on-one-row=false"));
  const auto ways = relaxed(options);
  EXPECT_TRUE(ways[0].options.all_steps && ways[0].options.one_row);
  EXPECT_TRUE(!ways[1].options.all_steps && !ways[1].options.one_row);
  EXPECT_TRUE(ways[2].options.all_steps && !ways[2].options.one_row);
  options.t_streaming = options.single_buffer_fallback = false;
  EXPECT_EQ(relaxed(options).size(), 15U);
}

}  // namespace
}  // namespace buda::balance
