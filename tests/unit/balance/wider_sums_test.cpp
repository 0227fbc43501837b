// SPDX-License-Identifier: Apache-2.0
// Sums in Float32 where that costs next to nothing.
#include "fixture.hpp"

#include <buda/balance/emit/plan_overrides.hpp>
#include <buda/graph/tags/constraint_tags.hpp>
#include <buda/graph/values/sum_roundings.hpp>
#include <buda/netlist/text/write.hpp>

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace buda::balance {
namespace {

// Layers of products of which the graph says that they round their sums.
graph::Graph rounding_layers() {
  graph::Graph graph = perceptron(256, {512, 2048, 256, 32});
  for (const auto id : graph.ids())
    if (graph.node(id).op() == "matmul") graph.node(id).tags[std::string(graph::kSumRoundings)] = "48";
  return graph;
}

std::size_t wide_ops(const Balanced& plan) {
  std::size_t out = 0;
  for (const OpSpec& op : plan.problem.ops) out += op.sum_roundings > 0 && op.op.acc_format == DataFormat::float32 ? 1 : 0;
  return out;
}

std::size_t rounding_ops(const Balanced& plan) {
  std::size_t out = 0;
  for (const OpSpec& op : plan.problem.ops) out += op.sum_roundings > 0 ? 1 : 0;
  return out;
}

Result<Balanced> plan_with(const graph::Graph& graph, const std::string& device, bool wide) {
  BalanceOptions options;
  options.batches = 16;
  options.wide_sums = wide;
  return balance_with(graph, device, options);
}

TEST(WiderSums, CostNextToNothing) {
  const auto narrow = plan_with(rounding_layers(), "n150", false), wide = plan_with(rounding_layers(), "n150", true);
  ASSERT_TRUE(narrow.ok() && wide.ok());
  EXPECT_EQ(rounding_ops(*narrow), 3u);
  EXPECT_EQ(wide_ops(*narrow), 0u);
  EXPECT_GT(wide_ops(*wide), 0u);
  EXPECT_LE(static_cast<double>(wide->report.totals.cycles), 1.005 * static_cast<double>(narrow->report.totals.cycles));
  for (const netlist::Graph& graph : wide->built.netlist.graphs)
    for (const netlist::Op& op : graph.ops) EXPECT_LE(op.block.ublock_tiles(), board("n150").dest_tiles(op.acc_format)) << op.name;
}

// One op alone in each epoch sets its pace: what counts is that the whole is hardly slower.
TEST(WiderSums, ArePaidForByTheWhole) {
  graph::Graph graph = perceptron(256, {4096, 4096, 256});
  std::string last;
  for (const auto id : graph.ids()) {
    if (graph.node(id).op() != "matmul") continue;
    graph::add_constraint(graph.node(id), graph::kEpochBreak, graph.node(id).name());
    last = graph.node(id).name();
  }
  graph.node(graph.find(last)).tags[std::string(graph::kSumRoundings)] = "48";
  const auto narrow = plan_with(graph, "n150", false), wide = plan_with(graph, "n150", true);
  ASSERT_TRUE(narrow.ok() && wide.ok());
  EXPECT_EQ(wide_ops(*narrow), 0u);
  EXPECT_EQ(wide_ops(*wide), 1u);
  const double before = static_cast<double>(narrow->report.totals.cycles), after = static_cast<double>(wide->report.totals.cycles);
  EXPECT_GT(after, before);
  EXPECT_LE(after, 1.005 * before);
}

TEST(WiderSums, AreForOpsThatMayHaveThem) {
  const auto untagged = plan_with(perceptron(256, {512, 2048, 256, 32}), "n150", true);
  ASSERT_TRUE(untagged.ok());
  for (const OpSpec& op : untagged->problem.ops) EXPECT_EQ(op.op.acc_format, DataFormat::float16_b) << op.label;
  const auto grayskull = plan_with(rounding_layers(), "e150", true);
  ASSERT_TRUE(grayskull.ok());
  EXPECT_EQ(wide_ops(*grayskull), 0u) << "it has no Float32";
}

TEST(WiderSums, FollowTheUser) {
  for (const auto& [value, acc, partial] :
       {std::tuple("none", DataFormat::float16_b, DataFormat::float16_b), std::tuple("sums", DataFormat::float32, DataFormat::float16_b),
        std::tuple("all", DataFormat::float32, DataFormat::float32)}) {
    BalanceOptions options;
    const graph::Graph graph = rounding_layers();
    std::string name;
    for (const auto id : graph.ids())
      if (graph.node(id).op() == "matmul" && name.empty()) name = graph.node(id).name();
    options.overrides[name + ".wide-sums"] = value;
    const auto plan = balance_with(graph, "n150", options);
    ASSERT_TRUE(plan.ok()) << text_of(plan.failure());
    for (const OpSpec& op : plan->problem.ops) {
      if (op.node_name != name) continue;
      EXPECT_EQ(op.op.acc_format, acc) << value;
      EXPECT_EQ(op.op.intermed_format, partial) << value;
    }
    options.overrides[name + ".wide-sums"] = "some";
    EXPECT_FALSE(balance_with(graph, "n150", options).ok());
  }
}

TEST(WiderSums, AreWrittenWithThePlan) {
  const graph::Graph graph = rounding_layers();
  BalanceOptions options;
  options.batches = 16;
  const auto plan = balance_with(graph, "n150", options);
  ASSERT_TRUE(plan.ok());
  const auto written = plan_overrides(plan->problem, plan->choice, plan->schedule);
  ASSERT_TRUE(written.ok());
  for (const auto& [key, value] : *written)
    if (key.starts_with("op.")) options.overrides[key.substr(3)] = value;
  const auto again = balance_with(graph, "n150", options);
  ASSERT_TRUE(again.ok()) << text_of(again.failure());
  EXPECT_EQ(netlist::write_netlist(again->built.netlist), netlist::write_netlist(plan->built.netlist));
}

}  // namespace
}  // namespace buda::balance
