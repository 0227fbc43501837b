// SPDX-License-Identifier: Apache-2.0
// A prime number of rows of tiles between selections: more rows, the same values.
#include "unit/balance/fixture.hpp"
#include "unit/balance/golden_model.hpp"

#include <buda/balance/legalize/row_padding.hpp>

#include <buda/base/rng.hpp>
#include <buda/graph/values/value.hpp>

#include <algorithm>
#include <vector>

namespace buda::balance {
namespace {

constexpr std::int64_t kPrime = 23, kDatums = kPrime * 32, kFewer = 5 * 32;

Tensor small_numbers(const Shape& shape, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> v(static_cast<std::size_t>(*shape.volume()));
  for (float& x : v) x = static_cast<float>(rng.below(3)) - 1;
  return Tensor(shape, std::move(v));
}

// Any rows of `of` that there are, or none.
graph::NodeId any_rows(DeviceGraph& g, const std::string& name, graph::NodeId x, std::int64_t of, std::int64_t slices, std::int64_t rows) {
  Rng rng(static_cast<std::uint64_t>(rows));
  std::vector<std::int32_t> picks;
  for (std::int64_t i = 0; i < slices * rows; ++i)
    picks.push_back(static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(of) + 1)));
  auto constant = g.constant(name + ".picks", Tensor(Shape{1, 1, slices, rows}, std::move(picks)));
  return g.op(name, "matmul", {constant, x}, {1, slices, rows, 64}, {{"identity", true}, {"slices", slices}});
}

// A convolution whose result is scaled, added to itself and pooled. `beside`: what else happens to the result of the convolution.
enum class Beside { nothing, output, stack };
graph::Graph strided(Beside beside = Beside::nothing) {
  DeviceGraph g("strided");
  auto x = g.input("x", {1, 1, 256, 64}, {256, 64});
  auto taps = any_rows(g, "taps", x, 256, 3, kDatums);
  auto weights = g.parameter("weights", {1, 1, 192, 64}), bias = g.parameter("bias", {1, 1, 32, 64}),
       scale = g.parameter("scale", {1, 1, 32, 64});
  g.graph.node(weights).value = graph::Value(small_numbers({1, 1, 192, 64}, 1));
  g.graph.node(bias).value = graph::Value(small_numbers({1, 1, 32, 64}, 2));
  g.graph.node(scale).value = graph::Value(small_numbers({1, 1, 32, 64}, 3));
  const auto repeated = [&](graph::NodeId id) { return graph::Edge(id, {graph::Tm::broadcast(graph::TmDim::r, kPrime)}); };
  auto conv =
      g.op("conv", "matmul", {graph::Edge(taps, {graph::Tm::hstack(3)}), weights, repeated(bias)}, {1, 1, kDatums, 64}, {{"bias", true}});
  auto scaled = g.op("scaled", "multiply", {conv, repeated(scale)}, {1, 1, kDatums, 64});
  auto sum = g.op("sum", "add", {scaled, conv}, {1, 1, kDatums, 64});
  auto windows = any_rows(g, "windows", sum, kDatums, 2, kFewer);
  auto most = g.op("most", "reduce", {windows}, {1, 1, kFewer, 64},
                   {{"dim", std::string("z")}, {"type", std::string("max")}, {"z", std::int64_t{2}}});
  g.output("y", most, {kFewer, 64});
  if (beside == Beside::output) g.output("z", conv, {kDatums, 64});
  if (beside == Beside::stack)
    g.output("z", g.op("halves", "nop", {graph::Edge(conv, {graph::Tm::vslice(kPrime)})}, {1, kPrime, 32, 64}), {kPrime, 32, 64});
  return std::move(g.graph);
}

const OpSpec& op_named(const Balanced& b, const std::string& name) {
  return *std::find_if(b.problem.ops.begin(), b.problem.ops.end(), [&](const OpSpec& op) { return op.node_name == name; });
}

void expect_same_values(const graph::Graph& graph, const Balanced& b) {
  std::vector<NamedTensors> batches;
  for (std::uint64_t seed : {10, 11, 12}) batches.push_back({{"x", small_numbers({256, 64}, seed)}});
  expect_same_bits(graph, b, batches);
}

TEST(RowPadding, TakesTheNumberThatGridsDivideBest) {
  EXPECT_EQ(rows_that_divide(386, 10), 390);  // 2 * 193: 193 rows for a core, then 39
  EXPECT_EQ(rows_that_divide(386, 8), 392);
  EXPECT_EQ(rows_that_divide(23, 8), 24);
  EXPECT_EQ(rows_that_divide(392, 10), 392);
  EXPECT_EQ(rows_that_divide(98, 10), 98) << "no more than twice as good";
  EXPECT_EQ(rows_that_divide(13, 10), 13) << "a sixteenth of 13 is less than a row";
  EXPECT_EQ(rows_that_divide(1, 10), 1);
}

TEST(RowPadding, GivesTheSameValues) {
  for (const char* device : {"e150", "n150"})
    for (std::uint64_t policy : {0, 1, 2}) {
      SCOPED_TRACE(cat(device, ", policy ", policy));
      const graph::Graph graph = strided();
      auto result = balance_with(graph, device, {}, *some_policy(policy));
      ASSERT_TRUE(result.ok()) << text_of(result.failure());
      for (const char* name : {"taps", "conv", "scaled", "sum"}) EXPECT_EQ(op_named(*result, name).out.rt, kPrime + 1) << name;
      EXPECT_EQ(op_named(*result, "windows").inner, kPrime + 1);
      EXPECT_EQ(op_named(*result, "windows").out.rt, 5);
      expect_same_values(graph, *result);
    }
}

TEST(RowPadding, LeavesWhatTheModelGivesAndWhatTheUserBlocks) {
  for (Beside beside : {Beside::output, Beside::stack}) {
    auto result = balance_with(strided(beside), "n150");
    ASSERT_TRUE(result.ok()) << text_of(result.failure());
    EXPECT_EQ(op_named(*result, "conv").out.rt, kPrime);
  }
  BalanceOptions options;
  options.overrides = {{"scaled.grid", "[1,2]"}};
  const graph::Graph graph = strided();
  auto result = balance_with(graph, "n150", options);
  ASSERT_TRUE(result.ok()) << text_of(result.failure());
  EXPECT_EQ(op_named(*result, "conv").out.rt, kPrime);
  expect_same_values(graph, *result);
}

}  // namespace
}  // namespace buda::balance
