// SPDX-License-Identifier: Apache-2.0
// Generation with models that the host computes: after token t comes t + 1, and the state counts tokens.
#include "fixture.hpp"

#include <buda/graph/graph.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/runtime/generator.hpp>

#include <gmock/gmock.h>

namespace buda::runtime::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t kVocabulary = 8;

// Takes `count` tokens in a step.
Model counting_model(const std::string& name, std::int64_t count, const std::string& state = "present") {
  std::vector<float> table(static_cast<std::size_t>(kVocabulary * kVocabulary));
  for (std::int64_t t = 0; t < kVocabulary; ++t) table[static_cast<std::size_t>(t * kVocabulary + (t + 1) % kVocabulary)] = 1;
  ops::Builder b(name);
  auto token = b.input("token", {count}, DType::i64);
  auto position = b.input("position", {count}, DType::i64);
  auto past = b.input("past", {1});
  auto places = b.op("gather", {b.parameter("places", Tensor(Shape{6, 1}, std::vector<float>(6))), position}, {{"dim", std::int64_t{0}}});
  auto rows = b.op("gather", {b.parameter("table", Tensor(Shape{kVocabulary, kVocabulary}, table)), token}, {{"dim", std::int64_t{0}}});
  b.output("logits", b.add(rows, places));
  b.output(state, b.add(past, b.constant(static_cast<float>(count))));
  auto graph = b.finish();
  EXPECT_TRUE(graph);
  Model m;
  m.plan.model = name;
  m.plan.inputs = {{"token", "I64", {count}, "", {}}, {"position", "I64", {count}, "", {}}, {"past", "F32", {1}, "", {}, state}};
  m.plan.outputs = {{"logits", "F32", {count, kVocabulary}, "", {}}, {state, "F32", {1}, "", {}}};
  m.plan.segments = {{host_plan::SegmentKind::host, "g.graph.json", {}}};
  m.host_graphs.emplace("g.graph.json", std::make_shared<const graph::Graph>(std::move(*graph)));
  return m;
}

class GeneratorTest : public testing::Test {
 protected:
  std::unique_ptr<Session> session(Model model) {
    auto opened = Session::open(std::move(model), target_, {}, host_);
    EXPECT_TRUE(opened) << error_of(opened);
    return std::move(*opened);
  }
  static float tokens_seen(Session& session) { return session.states()->at("present").as<float>()[0]; }

  TestHost host_;
  FakeTarget target_;
};

TEST_F(GeneratorTest, EachTokenIsEnteredAndGivesTheNext) {
  auto decode = session(counting_model("decode", 1));
  auto generator = Generator::make(*decode);
  ASSERT_TRUE(generator) << error_of(generator);
  auto tokens = generator->generate(4, 0, 1, 5);
  ASSERT_TRUE(tokens) << error_of(tokens);
  EXPECT_THAT(*tokens, ElementsAre(6, 7, 0, 1));
  EXPECT_EQ(tokens_seen(*decode), 4);
}

TEST_F(GeneratorTest, PromptsGoThroughPrefillAndItsStatesToDecode) {
  auto decode = session(counting_model("decode", 1)), prefill = session(counting_model("prefill", 2));
  auto generator = Generator::make(*decode, prefill.get());
  ASSERT_TRUE(generator) << error_of(generator);
  const std::vector<std::int64_t> prompt{3, 3, 3, 3, 4};
  auto next = generator->prefill(prompt);
  ASSERT_TRUE(next) << error_of(next);
  EXPECT_EQ(*next, 5);
  EXPECT_EQ(tokens_seen(*prefill), 4);
  EXPECT_EQ(tokens_seen(*decode), 5);
  EXPECT_THAT(*generator->generate(1, 5, 1, *next), ElementsAre(6));
  EXPECT_EQ(tokens_seen(*decode), 6);
  // A further prompt begins with the states of decode.
  ASSERT_TRUE(generator->prefill(std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(tokens_seen(*prefill), 8);
}

TEST_F(GeneratorTest, TokensAreHeardByIterationAndChosenByTheProgram) {
  auto decode = session(counting_model("decode", 1));
  std::vector<std::vector<std::int64_t>> heard;
  GenerateOptions options;
  options.choose = [](std::span<const float> logits) {
    return std::max_element(logits.begin(), logits.end()) - logits.begin() == 7 ? std::int64_t{2} : std::int64_t{6};
  };
  options.heard = [&](std::span<const std::int64_t> tokens) {
    heard.emplace_back(tokens.begin(), tokens.end());
    return heard.size() < 2;
  };
  auto generator = Generator::make(*decode, nullptr, options);
  EXPECT_THAT(*generator->generate(5, 0, 2, 6), ElementsAre(2, 6, 2, 6));
  EXPECT_THAT(heard, ElementsAre(ElementsAre(2, 6), ElementsAre(2, 6)));
}

TEST_F(GeneratorTest, WhatDoesNotFitIsTold) {
  auto decode = session(counting_model("decode", 1)), prefill = session(counting_model("prefill", 2)),
       other = session(counting_model("other", 2, "elsewhere"));
  EXPECT_THAT(error_of(Generator::make(*prefill)),
              HasSubstr("RT070: model 'prefill' cannot generate: it takes 2 tokens in a step, not one"));
  EXPECT_THAT(error_of(Generator::make(*decode, other.get())),
              HasSubstr("RT070: model 'other' cannot generate: it has no state 'present', F32 [1], as model 'decode' has"));
  GenerateOptions options;
  options.token = "ids";
  EXPECT_THAT(error_of(Generator::make(*decode, nullptr, options)),
              HasSubstr("it has no input 'ids'; its inputs are 'token' I64 [1], 'position' I64 [1], 'past' F32 [1]"));
  options.token = "past";
  EXPECT_THAT(error_of(Generator::make(*decode, nullptr, options)), HasSubstr("its input 'past' is F32, not an integer"));
  auto generator = Generator::make(*decode);
  EXPECT_THAT(error_of(generator->prefill({})), HasSubstr("RT071: a prompt has at least one token"));
  EXPECT_THAT(error_of(generator->generate(1, -1, 1, 0)), HasSubstr("RT071"));
  // The model has places for six positions.
  EXPECT_THAT(error_of(generator->generate(9, 0, 1, 0)), HasSubstr("position 6: "));
}

}  // namespace
}  // namespace buda::runtime::test
