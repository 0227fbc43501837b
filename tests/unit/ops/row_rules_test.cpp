// SPDX-License-Identifier: Apache-2.0
// Where rows go through single ops and small models.
#include "running.hpp"

#include <buda/graph/graph.hpp>
#include <buda/graph/tags/mixed_rows.hpp>
#include <buda/ops/rows/mixed_rows.hpp>
#include <buda/ops/rows/row_rules.hpp>
#include <buda/ops/whole_graph/builder.hpp>

#include <functional>

namespace buda::ops {
namespace {

using graph::ValueRef;
using Model = std::function<ValueRef(Builder&, ValueRef)>;

// The op that mixes the rows of y = model(x); "" where there is none.
std::string mixer(const Shape& shape, const Model& model) {
  Builder b("m");
  auto x = b.input("x", shape);
  b.output("y", model(b, x));
  auto graph = b.finish();
  if (!graph) return graph.failure().diagnostics().front().message;
  mark_mixed_rows(*graph);
  return graph::rows_mixed_by(graph->node(graph->find_output("y")));
}

TEST(RowRules, EveryOpHasOne) {
  std::vector<std::string> without;
  for (const OpDef* def : standard_ops().all())
    if (def->level == Level::tensor && row_rule(*def) == nullptr) without.push_back(def->name);
  // Regions name the sample that they lie in; the last is no op of a model.
  EXPECT_EQ(without, (std::vector<std::string>{"max_roi_pool", "roi_align", "to_host"}));
}

TEST(RowRules, OpsThatWorkAlongTheFirstAxisMixRows) {
  for (std::int64_t rows : {1, 3, 7}) {
    const Shape shape{rows, 5};
    EXPECT_EQ(mixer(shape, [](Builder& b, ValueRef x) { return b.subtract(x, b.named("mean").reduce_avg(x, {0})); }), "mean") << rows;
    EXPECT_EQ(mixer(shape, [](Builder& b, ValueRef x) { return b.named("s").softmax(x, 0); }), "s");
    EXPECT_EQ(mixer(shape, [](Builder& b, ValueRef x) { return b.named("c").op("cumsum", {x}, {{"dim", 0}}); }), "c");
    EXPECT_EQ(mixer(shape, [&](Builder& b, ValueRef x) { return b.named("t").op("topk", {x}, {{"dim", 0}, {"k", rows}}); }), "t");
    EXPECT_EQ(mixer(shape, [](Builder& b, ValueRef x) { return b.named("n").op("layernorm", {x}, {{"dim", 0}}); }), "n");
    EXPECT_EQ(mixer(shape, [](Builder& b, ValueRef x) { return b.matmul(x, b.transpose(x, {1, 0})); }), "matmul");
  }
}

TEST(RowRules, OpsAlongOtherAxesDoNot) {
  for (std::int64_t rows : {1, 3}) {
    const Shape shape{rows, 5, 5};
    for (std::int64_t dim : {1, 2, -1}) {
      EXPECT_EQ(mixer(shape, [&](Builder& b, ValueRef x) { return b.subtract(x, b.reduce_avg(x, {dim})); }), "");
      EXPECT_EQ(mixer(shape, [&](Builder& b, ValueRef x) { return b.softmax(x, dim); }), "");
      EXPECT_EQ(mixer(shape, [&](Builder& b, ValueRef x) { return b.op("cumsum", {x}, {{"dim", dim}}); }), "");
    }
    EXPECT_EQ(mixer(shape, [](Builder& b, ValueRef x) { return b.matmul(x, b.transpose(x, {0, 2, 1})); }), "");
  }
}

TEST(RowRules, RowsAreFollowedThroughShapesAndBack) {
  for (std::int64_t rows : {1, 4}) {
    EXPECT_EQ(mixer({rows, 128, 24},
                    [&](Builder& b, ValueRef x) {
                      auto flat = b.reshape(x, {rows * 128, 24});
                      auto w = b.constant(Shape{24, 24}, std::vector<float>(576, 0.5F));
                      auto heads = b.transpose(b.reshape(b.matmul(flat, w), {rows, 128, 4, 6}), {0, 2, 1, 3});
                      auto scores = b.softmax(b.matmul(heads, b.transpose(heads, {0, 1, 3, 2})), -1);
                      return b.reshape(b.transpose(b.matmul(scores, heads), {0, 2, 1, 3}), {rows, 128, 24});
                    }),
              "");
    // The first axis goes behind time, joins the heads and comes back.
    EXPECT_EQ(mixer({rows, 10, 24},
                    [&](Builder& b, ValueRef x) {
                      auto heads = b.transpose(b.reshape(b.transpose(x, {1, 0, 2}), {10, rows * 4, 6}), {1, 0, 2});
                      auto scores = b.softmax(b.matmul(heads, b.transpose(heads, {0, 2, 1})), -1);
                      return b.transpose(b.reshape(b.transpose(b.matmul(scores, heads), {1, 0, 2}), {10, rows, 24}), {1, 0, 2});
                    }),
              "");
    EXPECT_EQ(mixer({rows, 6}, [&](Builder& b, ValueRef x) { return b.slice(b.concatenate({x, b.relu(x)}, 0), 0, rows, 2 * rows); }), "");
  }
}

TEST(RowRules, AShapeThatDividesTheRowsMixesThem) {
  EXPECT_EQ(mixer({6, 4}, [](Builder& b, ValueRef x) { return b.reshape(b.softmax(b.named("r").reshape(x, {2, 12}), 1), {6, 4}); }), "r");
  EXPECT_EQ(mixer({6, 4}, [](Builder& b, ValueRef x) { return b.reshape(b.named("t").transpose(x, {1, 0}), {6, 4}); }), "reshape");
  EXPECT_EQ(mixer({4, 4}, [](Builder& b, ValueRef x) { return b.named("t").transpose(x, {1, 0}); }), "t");
  EXPECT_EQ(mixer({4, 4}, [](Builder& b, ValueRef x) { return b.named("p").matmul(x, x); }), "p");
}

TEST(RowRules, ConstantsAreTheSameForAllRows) {
  const std::vector<float> equal(12, 2), different{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3};
  auto with = [](const std::vector<float>& numbers) {
    return [numbers](Builder& b, ValueRef x) {
      auto c = b.constant(Shape{4, 3}, std::vector<float>(numbers));
      return b.named("sum").add(x, c);
    };
  };
  EXPECT_EQ(mixer({4, 3}, with(equal)), "");
  EXPECT_EQ(mixer({4, 3}, with(different)), "sum");
  EXPECT_EQ(mixer({2, 4, 3}, with(different)), "");
}

TEST(RowRules, KnownIndicesAreFollowed) {
  auto gathered = [](std::vector<std::int64_t> indices) {
    return [indices](Builder& b, ValueRef x) {
      auto i = b.constant(Shape{static_cast<std::int64_t>(indices.size())}, std::vector<std::int64_t>(indices));
      auto flat = b.reshape(x, {12});
      return b.named("g").op("gather", {flat, i}, {{"dim", 0}});
    };
  };
  EXPECT_EQ(mixer({4, 3}, gathered({0, 3, 6, 9})), "");   // the first of each row
  EXPECT_EQ(mixer({4, 3}, gathered({2, 5, 8, 11})), "");  // the last
  EXPECT_EQ(mixer({4, 3}, gathered({0, 4, 8, 9})), "g");  // another place of each
  EXPECT_EQ(mixer({4, 3}, gathered({3, 0, 6, 9})), "g");  // of another row
  EXPECT_EQ(mixer({4, 3}, gathered({0, 1, 2, 3})), "g");
}

TEST(RowRules, TimeIsAnAxisOfSequences) {
  auto lstm = [](bool batch_first) {
    return [=](Builder& b, ValueRef x) {
      const std::int64_t steps = batch_first ? 5 : 4, batch = batch_first ? 4 : 5;
      auto w = b.constant(Shape{1, 8, 3}, std::vector<float>(24, 0.1F));
      auto r = b.constant(Shape{1, 8, 2}, std::vector<float>(16, 0.1F));
      auto bias = b.constant(Shape{1, 16}, std::vector<float>(16));
      auto lengths = b.constant(Shape{batch}, std::vector<std::int32_t>(static_cast<std::size_t>(batch), static_cast<std::int32_t>(steps)));
      auto h = b.constant(Shape{1, batch, 2}, std::vector<float>(static_cast<std::size_t>(2 * batch)));
      auto p = b.constant(Shape{1, 6}, std::vector<float>(6));
      auto in = batch_first ? b.transpose(x, {1, 0, 2}) : x;
      auto y = b.squeeze(b.named("lstm").op("lstm", {in, w, r, bias, lengths, h, h, p}), {1});
      return batch_first ? b.transpose(y, {1, 0, 2}) : y;
    };
  };
  EXPECT_EQ(mixer({4, 5, 3}, lstm(true)), "");
  EXPECT_EQ(mixer({4, 5, 3}, lstm(false)), "lstm");
}

TEST(RowRules, InputsOfOtherSizesAndStatesSayNothing) {
  Builder b("m");
  auto x = b.input("x", {4, 3});
  auto y = b.input("y", {3, 3});
  b.output("z", b.matmul(b.subtract(x, b.reduce_avg(x, {0})), y));
  auto graph = b.finish();
  ASSERT_TRUE(graph);
  EXPECT_TRUE(mixed_rows(*graph).empty());
}

TEST(RowRules, AnInputThatIsNotBatchedMixes) {
  Builder b("m");
  auto x = b.input("x", {4, 4});
  auto w = b.input("w", {4, 2});
  b.output("z", b.named("product").matmul(x, w));
  auto graph = b.finish();
  ASSERT_TRUE(graph);
  const auto mixed = mixed_rows(*graph);
  ASSERT_EQ(mixed.size(), 1u);
  EXPECT_EQ(graph->node(mixed[0].mixer).name(), "product");
}

}  // namespace
}  // namespace buda::ops
