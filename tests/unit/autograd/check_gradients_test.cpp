// SPDX-License-Identifier: Apache-2.0
// The check of gradients finds right ones right and wrong ones wrong.
#include <buda/autograd/check_gradients.hpp>
#include <buda/graph/graph.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/tensor/tensor.hpp>

#include <gtest/gtest.h>

namespace buda::autograd {
namespace {

// An embedding, a normalisation in 16 bits, a table that is looked at by integers.
Result<TrainingStep> step() {
  ops::Builder b("net");
  auto ids = b.input("ids", {3, 5}, DType::i64);
  auto table = b.parameter(
      "table", Tensor(Shape{7, 4}, std::vector<float>{0.5F, 1,    -1,   0.25F, 0.1F, -0.7F, 0.3F, 0.9F, 0.2F, 1.1F, 0.4F, -0.3F, 1, 2, -2,
                                                      0.5F, 0.6F, 0.7F, -0.2F, 0.8F, 1.5F,  0,    0.3F, 0.2F, 0,    1,    0.5F,  -1}));
  auto scale = b.parameter("scale", Tensor(Shape{4}, std::vector<float>{1, 0.5F, 2, -1}));
  auto words = b.op("gather", {table, ids});
  auto normal = b.op("layernorm", {words, scale});
  auto narrow = b.op("cast", {normal}, {{"dtype", std::string("BF16")}});
  auto wide = b.op("cast", {narrow}, {{"dtype", std::string("F32")}});
  auto y = b.op("relu", {wide});
  b.output("y", y);
  auto graph = b.finish();
  EXPECT_TRUE(graph);
  return training_step(*graph, {});
}

TEST(CheckGradients, RightOnes) {
  auto s = step();
  ASSERT_TRUE(s);
  for (std::uint64_t seed : {1, 2, 3}) {
    auto checked = check_gradients(*s, seed, 1);
    ASSERT_TRUE(checked);
    ASSERT_EQ(checked->size(), 2U);
    for (const CheckedGradient& c : *checked) EXPECT_TRUE(c.agrees) << c.parameter << ' ' << c.error;
  }
}

TEST(CheckGradients, WrongOnes) {
  auto s = step();
  ASSERT_TRUE(s);
  s->parameters[1].gradient = graph::ValueRef(s->graph.find("scale"));
  auto checked = check_gradients(*s, 1, 1);
  ASSERT_TRUE(checked);
  EXPECT_TRUE((*checked)[0].agrees);
  EXPECT_FALSE((*checked)[1].agrees);
  EXPECT_GT((*checked)[1].error, 0.01);
  const Failure wrong = wrong_gradients(*checked);
  ASSERT_EQ(wrong.diagnostics().size(), 1U);
  EXPECT_EQ(wrong.diagnostics().front().code, "AG030");
  EXPECT_EQ(wrong.diagnostics().front().node, "scale");
}

// What gives F32 whatever its inputs are.
TEST(CheckGradients, GraphsThatAreNotComputedInF64) {
  ops::Builder b("net");
  using Ints = std::vector<std::int64_t>;
  auto words = b.input("words", {5}, DType::i64);
  auto w = b.parameter("w", Tensor(Shape{2}, std::vector<float>{1, 2}));
  auto counts = b.op("ngram_counts", {words},
                     {{"pool", Ints{0, 1}},
                      {"starts", Ints{0}},
                      {"columns", Ints{0, 1}},
                      {"shortest", std::int64_t{1}},
                      {"longest", std::int64_t{1}},
                      {"most_skips", std::int64_t{0}}});
  b.output("y", b.multiply(counts, w));
  auto graph = b.finish();
  ASSERT_TRUE(graph) << graph.failure().diagnostics().front().message;
  StepOptions options;
  options.loss.kind = LossKind::mse;
  auto s = training_step(*graph, options);
  ASSERT_TRUE(s);
  auto checked = check_gradients(*s, 1, 1);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.failure().diagnostics().front().code, "AG031");
}

}  // namespace
}  // namespace buda::autograd
