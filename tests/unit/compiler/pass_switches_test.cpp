// SPDX-License-Identifier: Apache-2.0
// Passes that options switch on and off, and options that cannot act.
#include <buda/compiler/idle_options.hpp>
#include <buda/compiler/pass_switches.hpp>

#include <gtest/gtest.h>

#include <string>

namespace buda::compiler {
namespace {

passes::Pipeline three_levels() {
  passes::Pipeline out;
  auto stage = [&](std::int64_t level, std::vector<passes::PassName> names) { out.stages.push_back({"", "", std::move(names), level, 1}); };
  stage(0, {{"infer-types"}, {"fracture"}});
  stage(1, {{"constant-folding"}, {"fuse-bias"}, {"dead-code-elimination"}});
  stage(2, {{"fuse-ops"}});
  return out;
}

// The passes of each stage that runs: "infer-types | constant-folding fuse-bias".
std::string selected(std::int64_t level, const OptimizerOptions& options) {
  std::string out;
  for (const passes::Stage& stage : switched(three_levels(), level, pass_switches(options)).stages) {
    EXPECT_LE(stage.from_level, level);
    if (!out.empty()) out += " |";
    for (const passes::PassName& name : stage.passes) out += (out.empty() ? "" : " ") + name.text;
  }
  return out;
}

TEST(PassSwitches, WithoutOptionsTheLevelDecides) {
  EXPECT_EQ(selected(0, {}), "infer-types");
  EXPECT_EQ(selected(1, {}), "infer-types | constant-folding fuse-bias dead-code-elimination");
  EXPECT_EQ(selected(2, {}), "infer-types | constant-folding fuse-bias dead-code-elimination | fuse-ops");
}

TEST(PassSwitches, WhatIsSwitchedOffRunsAtNoLevel) {
  OptimizerOptions options;
  options.fold_constants = false;
  options.auto_fusing = false;
  EXPECT_EQ(selected(2, options), "infer-types | fuse-bias dead-code-elimination");
}

TEST(PassSwitches, WhatIsSwitchedOnRunsAtEveryLevel) {
  OptimizerOptions options;
  options.fold_constants = true;
  EXPECT_EQ(selected(0, options), "infer-types | constant-folding dead-code-elimination");
  options.auto_fusing = true;
  EXPECT_EQ(selected(0, options), "infer-types | constant-folding dead-code-elimination | fuse-ops");
}

TEST(PassSwitches, NamedGroupsAreFusedThoughNothingIsAutomatically) {
  OptimizerOptions options;
  options.auto_fusing = false;
  options.manual_fuse = {"a,b"};
  EXPECT_EQ(selected(0, options), "infer-types | fuse-ops");
}

TEST(PassSwitches, PassesThatNeedAnArgumentRunOnlyWithIt) {
  OptimizerOptions options;
  options.fracture_groups = {"fc,-1,2"};
  EXPECT_EQ(selected(0, options), "infer-types fracture");
}

std::vector<std::string> idle(const OptimizerOptions& options) {
  std::vector<std::string> out;
  auto switches = pass_switches(options);
  for (const Diagnostic& d : idle_options(options, switches, switched(three_levels(), 1, switches))) {
    EXPECT_EQ(d.code, "OZ009");
    EXPECT_EQ(d.severity, Severity::warning);
    out.push_back(d.message);
  }
  return out;
}

TEST(IdleOptions, DefaultsAreNotIdle) { EXPECT_EQ(idle({}), std::vector<std::string>{}); }

TEST(IdleOptions, WhatNeedsTheHostSaysSoWhereTheHostRunsNothing) {
  OptimizerOptions options;
  options.cpu_fallback = false;
  EXPECT_TRUE(idle(options).empty());
  options.tm_cpu_fallback = true;
  options.cpu_fallback_ops = "[nn.relu]";
  options.cpu_fallback_nodes = {"fc"};
  EXPECT_EQ(idle(options), (std::vector<std::string>{
                               "option --enable-tm-cpu-fallback has no effect: with --enable-cpu-fallback=false nothing runs on the host",
                               "option --cpu-fallback-ops has no effect: with --enable-cpu-fallback=false nothing runs on the host",
                               "option --cpu-fallback-nodes has no effect: with --enable-cpu-fallback=false nothing runs on the host"}));
  options = {};
  options.cpu_fallback = false;
  options.cpu_fallback_ops = "[]";
  EXPECT_TRUE(idle(options).empty()) << "no op is named";
}

TEST(IdleOptions, NumbersNeedTheOptionsThatTheyBelongTo) {
  OptimizerOptions options;
  options.tm_cpu_fallback_max_depth = 3;
  options.pool_surround_value = 5;
  EXPECT_EQ(idle(options),
            (std::vector<std::string>{"option --tm-cpu-fallback-max-depth has no effect: it needs --enable-tm-cpu-fallback",
                                      "option --max-pool-add-sub-surround-value has no effect: it needs --max-pool-add-sub-surround"}));
  options.tm_cpu_fallback = options.pool_surround = true;
  EXPECT_TRUE(idle(options).empty());
  options.pool_surround_value = 0;
  EXPECT_EQ(idle(options), std::vector<std::string>{"option --max-pool-add-sub-surround has no effect: its value is 0"});
}

TEST(IdleOptions, OpsAreKeptOutOfFusingOnlyWhereThereIsSome) {
  OptimizerOptions options;
  options.dont_fuse = {"a"};
  EXPECT_EQ(idle(options),
            std::vector<std::string>{"option --op-names-dont-fuse has no effect: no ops are fused; -O2 or --enable-auto-fusing fuse them"});
  options.auto_fusing = true;
  EXPECT_TRUE(idle(options).empty());
}

TEST(IdleOptions, APassThatThePipelineLacksCannotBeSwitchedOn) {
  OptimizerOptions options;
  options.small_tiles = true;
  EXPECT_EQ(idle(options), std::vector<std::string>{"option --enable-small-tiles has no effect: pass small-tiles is not in the pipeline"});
  options.small_tiles = false;
  EXPECT_TRUE(idle(options).empty());
}

}  // namespace
}  // namespace buda::compiler
