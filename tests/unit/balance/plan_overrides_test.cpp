// SPDX-License-Identifier: Apache-2.0
// A plan written as options makes the same netlist.
#include "fixture.hpp"
#include "random_graph.hpp"

#include <buda/balance/emit/plan_overrides.hpp>
#include <buda/netlist/text/write.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace buda::balance {
namespace {

// Keys as BalanceOptions has them: without "op.".
std::map<std::string, std::string> op_keys(const std::map<std::string, std::string>& options) {
  std::map<std::string, std::string> out;
  for (const auto& [key, value] : options)
    if (key.starts_with("op.")) out[key.substr(3)] = value;
  return out;
}

class PlanOverrides : public ::testing::TestWithParam<std::string> {};

TEST_P(PlanOverrides, MakeTheSameNetlist) {
  std::uint64_t compared = 0, several_epochs = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const graph::Graph graph = random_graph(seed);
    BalanceOptions options;
    options.models.allow_transpose = seed % 2 == 0;
    options.batches = seed % 3 == 0 ? 1 : 8;
    const auto plan = balance_with(graph, GetParam(), options, *some_policy(seed));
    if (!plan) continue;
    const auto written = plan_overrides(plan->problem, plan->choice, plan->schedule);
    ASSERT_TRUE(written.ok()) << "seed " << seed << ": " << text_of(written.failure());
    EXPECT_EQ(written->at("policy"), "minimize_grid");
    options.overrides = op_keys(*written);
    const auto again = balance_with(graph, GetParam(), options);
    ASSERT_TRUE(again.ok()) << "seed " << seed << ": " << text_of(again.failure());
    EXPECT_EQ(netlist::write_netlist(again->built.netlist), netlist::write_netlist(plan->built.netlist)) << "seed " << seed;
    ++compared;
    several_epochs += plan->choice.epochs() > 1 ? 1 : 0;
  }
  EXPECT_GT(compared, 5u);
  EXPECT_GT(several_epochs, 0u);
}

INSTANTIATE_TEST_SUITE_P(Boards, PlanOverrides, ::testing::ValuesIn(boards()), [](const auto& tested) { return tested.param; });

TEST(PlanAsOptions, IsThatOfOneChip) {
  auto plan = balance_with(perceptron(64, {64, 64, 64}), "n150");
  ASSERT_TRUE(plan.ok());
  plan->choice.chips = {0, 1};
  const auto written = plan_overrides(plan->problem, plan->choice, plan->schedule);
  ASSERT_FALSE(written.ok());
  EXPECT_THAT(text_of(written.failure()), ::testing::HasSubstr("several chips"));
  EXPECT_EQ(written.failure().diagnostics().front().code, "BL054");
  plan->choice.chips.clear();
  plan->choice.ops.front().epoch = 1;
  EXPECT_THAT(text_of(plan_overrides(plan->problem, plan->choice, plan->schedule).failure()), ::testing::HasSubstr("order of the ops"));
}

}  // namespace
}  // namespace buda::balance
