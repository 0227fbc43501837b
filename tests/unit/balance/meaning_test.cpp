// SPDX-License-Identifier: Apache-2.0
// What was balanced computes what the graph means: netlist and host plan run on the golden target, the graph in fp32 on the host.
#include "unit/balance/fixture.hpp"
#include "unit/balance/golden_model.hpp"
#include "unit/balance/random_graph.hpp"

#include <buda/graph/tags/constraint_tags.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/tensor/check/compare.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace buda::balance {
namespace {

// Runs three batches, more than the queues hold at once, and compares each with the graph.
void expect_same_meaning(const graph::Graph& graph, const Balanced& b, std::uint64_t seed) {
  auto session = GoldenSession::open(b);
  ASSERT_TRUE(session.ok()) << text_of(session.failure());
  Rng rng(seed);
  for (int batch = 0; batch < 3; ++batch) {
    NamedTensors inputs;
    for (auto id : graph.inputs()) {
      const auto& node = graph.node(id);
      Shape shape(std::get<std::vector<std::int64_t>>(node.attrs.at("model_shape")));
      std::vector<float> values(static_cast<std::size_t>(*shape.volume()));
      for (float& v : values) v = static_cast<float>(rng.uniform(-1, 1));
      inputs.emplace(node.name(), Tensor(shape, std::move(values)));
    }
    auto wanted = ops::evaluate_graph(graph, inputs);
    ASSERT_TRUE(wanted.ok()) << text_of(wanted.failure());
    auto found = session->run(inputs);
    ASSERT_TRUE(found.ok()) << text_of(found.failure());
    ASSERT_EQ(found->size(), wanted->size());
    for (const auto& [name, tensor] : *wanted) {
      ASSERT_EQ(found->count(name), 1u) << name;
      // A chain of products and exponentials may overflow: then there is nothing to compare.
      const auto values = tensor.as<float>();
      if (!std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); })) continue;
      auto same = compare(tensor, found->at(name));
      ASSERT_TRUE(same.ok()) << text_of(same.failure());
      // Both sides compute in fp32: only the order of sums differs. Products of products grow, so the error is taken relative to the range.
      double range = 1;
      for (float v : values) range = std::max(range, std::abs(static_cast<double>(v)));
      EXPECT_LT(same->max_abs_error / range, 5e-5) << name << ", batch " << batch;
    }
  }
}

class Meaning : public ::testing::TestWithParam<std::string> {};

TEST_P(Meaning, OfRandomGraphsIsKept) {
  std::uint64_t compared = 0;
  const SeedRange seeds = seeds_wanted(12);
  for (std::uint64_t seed = seeds.first; seed < seeds.end(); ++seed) {
    graph::Graph graph = random_graph(seed, RandomValues::reals);
    BalanceOptions options;
    options.models.allow_transpose = seed % 4 == 0;
    options.models.resident_parameters = seed % 3 != 0;
    if (seed % 5 < 3) options.queues.divided_from = 0;
    if (seed % 2 == 0) options.overrides = {{some_op(graph, seed) + ".epoch-break", "true"}};
    auto result = balance_with(graph, GetParam(), options, *some_policy(seed));
    // Models that are drawn blindly may leave an op that follows without any, by giving its operand to more cores than it can read from.
    if (!result.ok() && draws_models(seed)) continue;
    ASSERT_TRUE(result.ok()) << "seed " << seed << ": " << text_of(result.failure());
    SCOPED_TRACE(cat("seed ", seed));
    expect_same_meaning(graph, *result, seed);
    ++compared;
  }
  EXPECT_GE(compared * 20, seeds.count * 19);
}

// Queues within epochs, and rows that the device makes tiles of.
TEST_P(Meaning, WithQueuesAndTilizersIsKept) {
  int queues = 0, rows = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    graph::Graph graph = random_graph(seed, RandomValues::reals);
    Rng rng(seed);
    for (auto id : graph.ids())
      for (std::size_t i = 0; i < graph.node(id).inputs().size() && graph.node(id).is_op(); ++i)
        if (rng.uniform(0, 1) < 0.3) graph::add_constraint(graph.node(id), graph::kQueueBefore, cat(i));
    for (auto id : graph.inputs()) {
      auto uses = graph.users(id);
      if (uses.empty()) continue;
      // Rows have no blocks.
      auto& format = graph.node(id).outputs[0].format;
      if (format && is_bfp(*format)) format = exponent_family(*format) == ExponentFamily::a ? DataFormat::float16 : DataFormat::float16_b;
      auto tilizer = graph.add(cat(graph.node(id).name(), ".tilizer"), "tilizer", {id});
      graph.node(tilizer).outputs = graph.node(id).outputs;
      for (const auto& use : uses) {
        graph::Edge edge = graph.node(use.node).inputs()[use.input];
        edge.source = tilizer;
        graph.set_input(use.node, use.input, std::move(edge));
      }
    }
    auto result = balance_with(graph, GetParam(), {}, seed % 2 == 0);
    ASSERT_TRUE(result.ok()) << "seed " << seed << ": " << text_of(result.failure());
    SCOPED_TRACE(cat("seed ", seed));
    for (const QueuePlan& q : result->built.queues.queues) {
      queues += q.role == QueueRole::buffering ? 1 : 0;
      rows += q.queue.layout == netlist::QueueLayout::flat ? 1 : 0;
    }
    expect_same_meaning(graph, *result, seed);
  }
  EXPECT_GT(queues, 20);
  EXPECT_GE(rows, 8);
}

// A core keeps the one tile of such weights instead of asking DRAM for each repetition.
TEST_P(Meaning, OfARepeatedAndTransposedTileIsKept) {
  DeviceGraph g;
  auto x = g.input("x", {1, 1, 32, 40 * 32}, {1, 1, 32, 40 * 32});
  std::vector<float> values(32 * 32);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.01f * static_cast<float>(i % 37);
  auto tile = g.constant("tile", Tensor(Shape{1, 1, 32, 32}, std::move(values)));
  g.graph.node(tile).outputs[0].format = DataFormat::float16_b;
  graph::Edge weights(tile, {graph::Tm::broadcast(graph::TmDim::r, 64), graph::Tm::broadcast(graph::TmDim::c, 40), graph::Tm::transpose()});
  g.output("y", g.op("fc", "matmul", {x, weights}, {1, 1, 32, 64 * 32}), {1, 1, 32, 64 * 32});
  auto result = balance_with(g.graph, GetParam(), {}, *some_policy(2));
  ASSERT_TRUE(result.ok()) << text_of(result.failure());
  const auto& choice = result->choice.ops.at(0);
  EXPECT_EQ(with_model(result->problem.ops.at(0), choice.model).inputs.at(1).kernel_broadcast.tiles, 1);
  expect_same_meaning(g.graph, *result, 1);
}

// So it does with a small operand that all matrices of a product take, and with a row that all rows of all matrices take (a mask).
TEST_P(Meaning, OfOperandsThatAllMatricesTakeIsKept) {
  DeviceGraph g;
  const auto values_of = [](std::size_t count) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = 0.01f * static_cast<float>(i % 37);
    return values;
  };
  const Shape scores{1, 6, 96, 160};
  auto x = g.input("x", scores, {1, 6, 96, 160});
  auto mask = g.constant("mask", Tensor(Shape{1, 1, 32, 160}, values_of(32 * 160)));
  auto ones = g.constant("ones", Tensor(Shape{1, 1, 160, 32}, values_of(160 * 32)));
  for (auto id : {mask, ones}) g.graph.node(id).outputs[0].format = DataFormat::float16_b;
  const auto copies = graph::Tm::broadcast(graph::TmDim::z, 6);
  auto masked = g.op("masked", "multiply", {x, graph::Edge(mask, {copies, graph::Tm::broadcast(graph::TmDim::r, 3)})}, scores);
  auto sums = g.op("sums", "matmul", {masked, graph::Edge(ones, {copies})}, {1, 6, 96, 32});
  g.output("y", sums, {1, 6, 96, 32});
  auto result = balance_with(g.graph, GetParam(), {}, *some_policy(2));
  ASSERT_TRUE(result.ok()) << text_of(result.failure());
  const auto kept_by = [&](std::size_t op) {
    return with_model(result->problem.ops.at(op), result->choice.ops.at(op).model).inputs.at(1).kernel_broadcast.tiles;
  };
  EXPECT_GT(kept_by(0), 0);
  EXPECT_EQ(kept_by(1), 5);
  expect_same_meaning(g.graph, *result, 1);
}

// Matrices that a selection makes lie below one another in its result, which the queue of an output keeps as it is.
TEST_P(Meaning, OfSelectedMatricesThatAreAnOutputIsKept) {
  DeviceGraph g;
  auto x = g.input("x", {1, 2, 128, 64}, {1, 2, 128, 64});
  std::vector<std::int32_t> rows(96);
  std::iota(rows.begin(), rows.end(), 2);  // all from the second on, counted from 1
  auto picks = g.constant("picks", Tensor(Shape{1, 1, 1, 96}, std::move(rows)));
  g.output("y", g.op("last", "matmul", {picks, x}, {1, 2, 96, 64}, {{"identity", true}, {"slices", std::int64_t{1}}}), {1, 2, 96, 64});
  auto result = balance_with(g.graph, GetParam(), {}, *some_policy(2));
  ASSERT_TRUE(result.ok()) << text_of(result.failure());
  expect_same_meaning(g.graph, *result, 1);
}

INSTANTIATE_TEST_SUITE_P(Boards, Meaning, ::testing::Values("e75", "n150"), [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace buda::balance
