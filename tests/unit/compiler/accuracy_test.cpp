// SPDX-License-Identifier: Apache-2.0
// The accuracy budget: what is raised, in which order, by which rules, and that what comes of it holds.
#include "stages.hpp"

#include <buda/base/rng.hpp>
#include <buda/compiler/accuracy/give_back.hpp>
#include <buda/compiler/accuracy/raise.hpp>
#include <buda/compiler/accuracy/raise_accuracy.hpp>
#include <buda/compiler/accuracy/raise_order.hpp>
#include <buda/compiler/accuracy/score.hpp>
#include <buda/compiler/accuracy/search.hpp>
#include <buda/io/yaml.hpp>
#include <buda/passes/formats/precision_rules.hpp>
#include <buda/tensor/tensor_file.hpp>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace buda::compiler {
namespace {

using graph::MathFidelity;

// ---- order

TEST(RaiseOrder, TakesTheBestRateFirstAndStaysOnTheHull) {
  // Op 0: four fifths for 4, then a tenth more for 6; the choice in between is above the hull. Op 1: six sevenths for 2.
  const std::vector<RaisableOp> ops = {{{10}, {{0, 1}, {4, 0.2}, {5, 0.19}, {10, 0.1}}}, {{7}, {{0, 1}, {2, 1.0 / 7}}}};
  const RaiseOrder order = raise_order(ops, {17});
  ASSERT_EQ(order.steps.size(), 3u);
  EXPECT_EQ(order.steps[0], (RaiseStep{1, 1}));
  EXPECT_EQ(order.steps[1], (RaiseStep{0, 1}));
  EXPECT_EQ(order.steps[2], (RaiseStep{0, 3}));
}

TEST(RaiseOrder, LeavesOutWhatSavesNothing) {
  EXPECT_TRUE(raise_order({{{5}, {{0, 1}, {1, 1}, {2, 1.2}}}, {{0}, {{0, 1}, {1, 0}}}, {{}, {{0, 1}}}}, {5}).steps.empty());
}

TEST(RaiseOrder, PrefersTheLargerOfFreeSavings) {
  const auto order = raise_order({{{5}, {{0, 1}, {0, 0.8}, {0, 0.2}}}}, {5});
  ASSERT_EQ(order.steps.size(), 1u);
  EXPECT_EQ(order.steps[0].choice, 2u);
}

TEST(RaiseOrder, OutputsThatHoldDoNotCountUntilAllDo) {
  // Op 0 makes most of what output 0 misses, which is allowed; op 1 all of what output 1 misses, which is too much.
  const std::vector<RaisableOp> ops = {{{0.8, 0}, {{0, 1}, {1, 0}}}, {{0, 20}, {{0, 1}, {50, 0}}}};
  const RaiseOrder order = raise_order(ops, {0.8, 20});
  ASSERT_EQ(order.steps.size(), 2u);
  EXPECT_EQ(order.steps[0], (RaiseStep{1, 1}));
  EXPECT_EQ(order.enough, 1u);
}

TEST(RaiseOrder, EffectsAddUpToWhatIsMeasured) {
  const auto ops = scaled_to({{{1, 0}, {{0, 1}}}, {{}, {{0, 1}}}, {{3, 0}, {{0, 1}}}}, {2, 5});
  EXPECT_EQ(ops[0].effects, (std::vector<double>{0.5, 0}));
  EXPECT_EQ(ops[2].effects, (std::vector<double>{1.5, 0}));
}

// ---- taking back

class TakingBack : public ::testing::Test {
 protected:
  using Chosen = std::vector<std::size_t>;

  // Of ops that cost 10 each, all raised; those of `needed` may not be taken back. What is left raised in the end.
  Chosen spared(std::size_t count, const std::vector<std::size_t>& needed) {
    const std::vector<RaisableOp> ops(count, {{0.01}, {{0, 1}, {10, 0}}});
    GivingBack giving(ops);
    Chosen now(count, 1);
    while (const auto next = giving.next(now, {1.0})) {
      ++trials_;
      const bool holds = std::all_of(needed.begin(), needed.end(), [&](std::size_t i) { return (*next)[i] != 0; });
      giving.learn(holds);
      if (holds) now = *next;
      EXPECT_LE(trials_, 20u);
    }
    return now;
  }
  std::size_t trials_ = 0;
};

TEST_F(TakingBack, TakesAllBackAtOnceWhereNoneIsNeeded) {
  EXPECT_EQ(spared(100, {}), Chosen(100, 0));
  EXPECT_EQ(trials_, 1u);
}

TEST_F(TakingBack, KeepsTheOneThatIsNeeded) {
  for (const std::size_t needed : {0, 5, 15}) {
    Chosen expected(16, 0);
    expected[needed] = 1;
    trials_ = 0;
    EXPECT_EQ(spared(16, {needed}), expected) << needed;
  }
}

TEST_F(TakingBack, LeavesWhatIsEstimatedToLoseTooMuch) {
  const std::vector<RaisableOp> ops = {{{40}, {{0, 1}, {10, 0}}}, {{0.1}, {{0, 1}, {10, 0}}}};
  GivingBack giving(ops);
  const auto next = giving.next({1, 1}, {0.5});
  ASSERT_TRUE(next);
  EXPECT_EQ(*next, (Chosen{1, 0}));
  giving.learn(true);
  EXPECT_FALSE(giving.next(*next, {0.4}));
}

// ---- search

class FewestSteps : public ::testing::Test {
 protected:
  // Holds from `needed` steps on; does not fit once `unfit` is taken.
  std::optional<Taken> find(std::size_t steps, std::size_t needed, std::size_t first, std::size_t unfit = 999) {
    std::vector<std::size_t> groups(steps);
    std::iota(groups.begin(), groups.end(), std::size_t{0});
    trials_ = 0;
    auto found = fewest_steps(groups, first, 24, [&](const Taken& taken) -> Result<TrialVerdict> {
      ++trials_;
      if (std::find(taken.begin(), taken.end(), unfit) != taken.end()) return TrialVerdict::no_fit;
      return taken.size() >= needed ? TrialVerdict::holds : TrialVerdict::too_little;
    });
    EXPECT_TRUE(found);
    return found ? *found : std::nullopt;
  }
  std::size_t trials_ = 0;
};

TEST_F(FewestSteps, FindsTheSmallestFromAnyStart) {
  for (const std::size_t needed : {1, 2, 7, 13, 40, 41})
    for (const std::size_t first : {0, 1, 5, 40, 100}) {
      const auto found = find(41, needed, first);
      ASSERT_TRUE(found) << needed << ' ' << first;
      EXPECT_EQ(found->size(), needed);
      EXPECT_LE(trials_, 14u);
    }
}

TEST_F(FewestSteps, LeavesOutAStepThatDoesNotFit) {
  const auto found = find(20, 9, 2, 5);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->size(), 9u);
  EXPECT_EQ(std::find(found->begin(), found->end(), 5u), found->end());
}

TEST_F(FewestSteps, TellsWhenNothingHolds) {
  EXPECT_FALSE(find(10, 11, 3));
  EXPECT_FALSE(find(0, 1, 0));
}

// ---- rules

TEST(PrecisionRulesOfRaises, AreReadAsTheyWereMeant) {
  const Raise raise{MathFidelity::hifi4, DataFormat::float32, DataFormat::float32, DataFormat::float32};
  const auto rules =
      rules_for({{"a.b", "matmul", raise, {1}}, {"/l(1)/c", "matmul", raise, {1}}, {"d", "add", {{}, {}, DataFormat::float16_b, {}}, {}}});
  ASSERT_EQ(rules.size(), 2u);
  bool seen = false;
  for (const io::Node& node : rules) {
    auto rule = passes::parse_precision_rule(io::yaml_flow(node));
    ASSERT_TRUE(rule) << io::yaml_flow(node);
    if (rule->op_type != "matmul") continue;
    seen = true;
    EXPECT_EQ(rule->math_fidelity, MathFidelity::hifi4);
    EXPECT_EQ(rule->accumulate_df, DataFormat::float32);
    EXPECT_EQ(rule->intermediate_df, DataFormat::float32);
    EXPECT_EQ(rule->output_df, DataFormat::float32);
    EXPECT_EQ(rule->input_dfs.at(1).format, DataFormat::float32);
    EXPECT_FALSE(rule->input_dfs.at(1).ops_too);
    graph::Graph graph("g", graph::Level::device);
    auto matches = passes::selector(*rule);
    ASSERT_TRUE(matches);
    EXPECT_TRUE((*matches)(graph.node(graph.add("a.b", "matmul"))));
    EXPECT_TRUE((*matches)(graph.node(graph.add("/l(1)/c", "matmul"))));
    EXPECT_FALSE((*matches)(graph.node(graph.add("axb", "matmul"))));
    EXPECT_FALSE((*matches)(graph.node(graph.add("d", "add"))));
  }
  EXPECT_TRUE(seen);
}

// ---- scores

TEST(Scores, ErrorShareIsTwiceWhatTheCorrelationLacks) {
  std::vector<float> want(4096), got(4096);
  for (std::size_t i = 0; i < want.size(); ++i) {
    want[i] = std::sin(static_cast<float>(i) * 0.37f);
    got[i] = want[i] + 0.05f * std::sin(static_cast<float>(i) * 2.11f);
  }
  const Tensor expected(Shape{64, 64}, want), actual(Shape{64, 64}, got);
  const auto score = score_outputs({{"y", expected}}, {{"y", actual}}, 0.99);
  ASSERT_TRUE(score);
  EXPECT_TRUE(score->holds);
  EXPECT_NEAR(error_share(expected, actual), 2 * (1 - score->correlation), 0.02 * error_share(expected, actual));
  EXPECT_DOUBLE_EQ(score->largest_miss(), error_share(expected, actual) / 0.02);
  const auto strict = score_outputs({{"y", expected}}, {{"y", actual}}, 0.9999);
  ASSERT_TRUE(strict);
  EXPECT_FALSE(strict->holds);
  EXPECT_EQ(strict->output, "y");
}

// An error of 0.0009 is three times the number, and allowed.
TEST(Scores, WhatSmallOutputsMissIsAPartOfWhatIsAllowed) {
  const Tensor want = Tensor(Shape{1, 1}, std::vector<float>{0.0003f}), got = Tensor(Shape{1, 1}, std::vector<float>{0.0012f});
  const double allowed = 0.02 * 0.0003 + 0.001;
  EXPECT_NEAR(miss(want, got, 0.99), 0.0009 * 0.0009 / (allowed * allowed), 1e-4);
  const auto score = score_outputs({{"y", want}, {"z", want}}, {{"y", got}, {"z", want}}, 0.99);
  ASSERT_TRUE(score);
  EXPECT_TRUE(score->holds);
  EXPECT_EQ(score->misses.size(), 2u);
  EXPECT_EQ(score->misses.at("z"), 0);
}

TEST(Scores, NamesAnOutputThatTheModelDoesNotHave) {
  const auto score = score_outputs({{"z", Tensor::scalar(1.0f)}}, {{"y", Tensor::scalar(1.0f)}}, 0.99);
  ASSERT_FALSE(score);
  EXPECT_EQ(score.failure().diagnostics().front().code, "OZ021");
}

// ---- the whole

class Accuracy : public Stages {
 protected:
  Accuracy() {
    folder_ = std::filesystem::temp_directory_path() / ("buda-accuracy-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    EXPECT_TRUE(write_tensors(*fs_, path("x.npz"), {{"x", Tensor(Shape{64, 64}, numbers(1))}}));
    optimizer_.accuracy = 0.99;
    optimizer_.calibrate = path("x.npz");
  }
  ~Accuracy() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  // From -2 to 2.
  static std::vector<float> numbers(std::uint64_t seed) {
    Rng rng(seed);
    std::vector<float> out(64 * 64);
    for (float& v : out) v = static_cast<float>(rng.uniform(-2, 2));
    return out;
  }

  // (x + 300 - 300) w: 16-bit floats keep 8 bits of 300 + x.
  static graph::Graph cancelling() {
    ops::Builder b("cancelling");
    auto x = b.input("x", Shape{64, 64});
    auto k = b.parameter("k", Tensor(Shape{1}, std::vector<float>{300}));
    auto w = b.parameter("w", Tensor(Shape{64, 64}, numbers(2)));
    auto more = b.named("more").op("add", {x, k});
    auto same = b.named("same").op("subtract", {more, k});
    b.output("y", b.named("fc").matmul(same, w));
    auto graph = b.finish();
    EXPECT_TRUE(graph);
    return graph ? std::move(*graph) : graph::Graph();
  }

  Result<OptimizerOptions> raise(const graph::Graph& graph) {
    const device::DeviceDescriptor on = device();
    const PluginSet plugins{build_plugins(), plugin_options_};
    const std::optional<passes::Pipeline> standard;
    return raise_accuracy({graph, on, optimizer_, balancer_, plugins, standard}, host_);
  }

  std::filesystem::path folder_;
};

TEST_F(Accuracy, RaisesWhatHoldsTheFloorAndNoMore) {
  const graph::Graph graph = cancelling();
  optimizer_.accuracy_rules = path("rules.yaml");
  const auto raised = raise(graph);
  ASSERT_TRUE(raised) << message(raised.failure());
  EXPECT_FALSE(raised->mixed_precision.empty());
  const auto asks = asks_for_accuracy(*raised);
  ASSERT_TRUE(asks);
  EXPECT_FALSE(*asks);
  EXPECT_TRUE(raised->calibrate.empty());
  for (const std::string& rule : raised->mixed_precision)
    EXPECT_EQ(rule.find("fc"), std::string::npos) << "the product loses next to nothing: " << rule;
  // With the rules given, nothing is left to raise.
  OptimizerOptions given = optimizer_;
  given.mixed_precision = raised->mixed_precision;
  given.accuracy_rules = "";
  optimizer_ = given;
  const auto again = raise(graph);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->mixed_precision, raised->mixed_precision);
  const auto text = fs_->read(path("rules.yaml"));
  ASSERT_TRUE(text);
  EXPECT_EQ(text->view().find("configure_mixed_precision:\n"), 0u);
}

TEST_F(Accuracy, LeavesAModelAloneThatHolds) {
  optimizer_.accuracy = 0.3;
  const auto raised = raise(cancelling());
  ASSERT_TRUE(raised) << message(raised.failure());
  EXPECT_TRUE(raised->mixed_precision.empty());
}

TEST_F(Accuracy, KeepsRulesThatAreGivenInOneForm) {
  optimizer_.accuracy = 0.3;
  optimizer_.mixed_precision = {"[{op_type: matmul,   math_fidelity: HiFi4}, {name_regex: \"more\", accumulate_df: Float32}]"};
  const auto raised = raise(cancelling());
  ASSERT_TRUE(raised) << message(raised.failure());
  EXPECT_EQ(raised->mixed_precision,
            (std::vector<std::string>{"{op_type: matmul, math_fidelity: HiFi4}", "{name_regex: more, accumulate_df: Float32}"}));
}

TEST_F(Accuracy, TellsThatExpectedOutputsAreNotThoseOfTheModel) {
  ASSERT_TRUE(write_tensors(*fs_, path("y.npz"), {{"y", Tensor(Shape{64, 64}, std::vector<float>(64 * 64, 0.5f))}}));
  optimizer_.expect = path("y.npz");
  const auto raised = raise(cancelling());
  ASSERT_FALSE(raised);
  EXPECT_EQ(raised.failure().diagnostics().front().code, "OZ022");
  EXPECT_EQ(raised.failure().diagnostics().front().fault, Fault::mismatch);
}

TEST_F(Accuracy, NeedsInputs) {
  optimizer_.calibrate = "";
  EXPECT_FALSE(asks_for_accuracy(optimizer_));
}

TEST_F(Accuracy, InputsNeedAFloor) {
  optimizer_.accuracy = 0;
  EXPECT_FALSE(asks_for_accuracy(optimizer_));
}

}  // namespace
}  // namespace buda::compiler
