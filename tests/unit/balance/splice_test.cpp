// SPDX-License-Identifier: Apache-2.0
// Splices end to end on golden: along every dimension, for every policy, streamed or not, the same numbers.
#include "unit/balance/fixture.hpp"
#include "unit/balance/golden_model.hpp"

#include <buda/base/rng.hpp>
#include <buda/graph/values/value.hpp>

#include <set>

namespace buda::balance {
namespace {

Tensor small_integers(const Shape& shape, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> v(static_cast<std::size_t>(*shape.volume()));
  for (float& x : v) x = static_cast<float>(rng.below(200));
  return Tensor(shape, std::move(v));
}

// Three values, a constant among them, of so many tiles (or matrices) along `dim`.
struct Parts {
  std::string dim;
  std::vector<std::int64_t> sizes;
};

Shape shape_of(const std::string& dim, std::int64_t size) {
  if (dim == "z") return {1, size, 4 * 32, 2 * 32};
  return dim == "r" ? Shape{1, 2, size * 32, 2 * 32} : Shape{1, 2, 4 * 32, size * 32};
}

struct Spliced {
  graph::Graph graph;
  NamedTensors inputs;
};

Spliced spliced(const Parts& parts) {
  DeviceGraph g("spliced");
  NamedTensors inputs;
  std::vector<graph::Edge> edges;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < parts.sizes.size(); ++i) {
    const Shape shape = shape_of(parts.dim, parts.sizes[i]);
    const std::string name = cat("part", i);
    sum += parts.sizes[i];
    if (i == 1) {
      auto id = g.parameter(name, shape);
      g.graph.node(id).value = graph::Value(small_integers(shape, 1));
      edges.emplace_back(id);
    } else {
      const Shape model{shape[1], shape[2], shape[3]};
      edges.emplace_back(g.op(name + ".nop", "nop", {g.input(name, shape, model.dims())}, shape));
      inputs.emplace(name, small_integers(model, 10 + i));
    }
  }
  const Shape whole = shape_of(parts.dim, sum);
  auto all = g.op("all", "splice", edges, whole, {{"dim", parts.dim}});
  auto last = g.op("last", "add", {all, all}, whole);
  g.output("y", last, {whole[1], whole[2], whole[3]});
  return {std::move(g.graph), std::move(inputs)};
}

void expect_same(const Spliced& s, const Balanced& b) { expect_same_bits(s.graph, b, {s.inputs}); }

const Parts kParts[] = {{"c", {2, 4, 2}}, {"c", {1, 3, 2}}, {"r", {2, 4, 2}}, {"r", {1, 1}}, {"z", {1, 2, 3}}};

class Splices : public ::testing::TestWithParam<std::string> {};

TEST_P(Splices, EveryPolicyComputesThem) {
  for (const Parts& parts : kParts)
    for (std::uint64_t policy : {0, 1, 2}) {
      const Spliced s = spliced(parts);
      auto result = balance_with(s.graph, GetParam(), {}, *some_policy(policy));
      ASSERT_TRUE(result.ok()) << text_of(result.failure());
      SCOPED_TRACE(cat("along ", parts.dim, ", policy ", policy));
      expect_same(s, *result);
    }
}

TEST_P(Splices, StreamedOrNotTheyAreTheSame) {
  for (const Parts& parts : kParts)
    for (const char* direction : {"r", "c", "rz", "cz"}) {
      const bool rows = *direction == 'r';
      // Along what is spliced every core has all, and matrices that are spliced come together.
      if (parts.dim == std::string(1, *direction) || (parts.dim == "z" && direction[1] == 'z')) continue;
      const Spliced s = spliced(parts);
      BalanceOptions options;
      options.overrides = {{"all.t-stream", rows ? "[2,1]" : "[1,2]"}, {"all.t-stream-dir", direction}};
      SCOPED_TRACE(cat("along ", parts.dim, ", streamed along ", direction));
      auto result = balance_with(s.graph, GetParam(), options);
      ASSERT_TRUE(result.ok()) << text_of(result.failure());
      expect_same(s, *result);
    }
}

INSTANTIATE_TEST_SUITE_P(Boards, Splices, ::testing::Values("e75", "n150"), [](const auto& tested) { return tested.param; });

// The netlist op of a splice that stands on the largest grid it can have.
netlist::Op largest(const Parts& parts) {
  auto s = spliced(parts);
  auto schedule_of = [](const graph::Graph& graph) {
    std::vector<graph::NodeId> order;
    for (graph::NodeId id : graph.topological_order())
      if (graph.node(id).is_op()) order.push_back(id);
    return order;
  };
  auto problem = make_problem(s.graph, schedule_of(s.graph), board("n150"));
  EXPECT_TRUE(problem.ok()) << text_of(problem.failure());
  for (const OpSpec& spec : problem->ops)
    if (spec.label == "all") return with_model(spec, legal_models(spec, board("n150"), {}, nullptr).models.back());
  return {};
}

TEST(SpliceModels, UblocksDivideWhatEachInputHas) {
  const netlist::Op c = largest({"c", {2, 4, 2}});
  EXPECT_EQ(c.grid, (GridShape{4, 1}));
  EXPECT_EQ(c.block.ublock_ct, 2);
  EXPECT_EQ(c.ublock_order, netlist::UblockOrder::r);
  EXPECT_EQ(c.inputs[1].splice, (netlist::SpliceRange{0, 2, 2}));
  const netlist::Op r = largest({"r", {1, 3, 2}});
  EXPECT_EQ(r.grid, (GridShape{1, 2}));
  EXPECT_EQ(r.block.ublock_rt, 1);
  EXPECT_EQ(r.ublock_order, netlist::UblockOrder::c);
  EXPECT_EQ(r.inputs[1].splice, (netlist::SpliceRange{0, 3, 3}));
  const netlist::Op z = largest({"z", {1, 2, 3}});
  EXPECT_EQ(z.attributes.granularity, netlist::Granularity::t);
  EXPECT_EQ(z.grid, (GridShape{4, 2}));
  EXPECT_EQ(z.inputs[2].splice, (netlist::SpliceRange{0, 3, 3}));
}

TEST(SpliceProblem, WhatDoesNotMakeUpTheResultIsRefused) {
  Spliced s = spliced({"c", {2, 4, 2}});
  graph::Node& all = s.graph.node(s.graph.find("all"));
  all.outputs[0].shape = shape_of("c", 9);
  s.graph.node(s.graph.find("last")).outputs[0].shape = shape_of("c", 9);
  auto wrong = balance_with(s.graph, "n150");
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(text_of(wrong.failure()), ::testing::HasSubstr("do not make up t=2 rt=4 ct=9"));
  all.attrs.clear();
  auto without = balance_with(s.graph, "n150");
  ASSERT_FALSE(without.ok());
  EXPECT_THAT(text_of(without.failure()), ::testing::HasSubstr("attribute 'dim' is missing"));
}

}  // namespace
}  // namespace buda::balance
