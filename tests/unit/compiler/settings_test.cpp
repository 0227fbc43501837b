// SPDX-License-Identifier: Apache-2.0
// Settings of a placement are read back as the options that they came from.
#include <buda/compiler/settings.hpp>

#include <gtest/gtest.h>

namespace buda::compiler {
namespace {

TEST(Settings, OfTheBalancerComeBack) {
  BalancerOptions given;
  given.policy = "ribbon";
  given.microbatch = 16;
  given.t_streaming = false;
  given.place_on_one_row = true;
  given.op_overrides["fc.1.grid"] = "[2,2]";
  PluginOptions plugins, read_plugins;
  plugins["policy.ribbon"].set("depth", "5");
  auto read = balancer_options(settings_in_effect(given, plugins), read_plugins);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->policy, "ribbon");
  EXPECT_EQ(read->microbatch, 16);
  EXPECT_FALSE(read->t_streaming);
  EXPECT_TRUE(read->place_on_one_row);
  EXPECT_TRUE(read->enumerate_u_kt);
  EXPECT_EQ(read->op_overrides, given.op_overrides);
  EXPECT_EQ(read_plugins.at("policy.ribbon").all(), plugins.at("policy.ribbon").all());
}

TEST(Settings, ABadValueIsNamed) {
  PluginOptions plugins;
  EXPECT_FALSE(balancer_options({{"balancer.microbatch", "many"}}, plugins).ok());
  EXPECT_TRUE(balancer_options({{"optimizer.opt-level", "9"}}, plugins).ok());
}

}  // namespace
}  // namespace buda::compiler
