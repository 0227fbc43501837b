// SPDX-License-Identifier: Apache-2.0
// Embeddings end to end on golden, and what they take.
#include "unit/balance/fixture.hpp"
#include "unit/balance/golden_model.hpp"

#include <buda/graph/values/value.hpp>
#include <buda/tensor/tensor.hpp>

namespace buda::balance {
namespace {

constexpr std::int64_t kTableRows = 100, kTableColumns = 6 * 32;

// A table of kTableRows rows, looked up by `count` numbers; row i of the table is i, i + 1, ...
graph::Graph lookup(std::int64_t count) {
  DeviceGraph g("lookup");
  auto table = g.parameter("table", {1, 1, 128, kTableColumns});
  std::vector<float> rows;
  for (std::int64_t i = 0; i < kTableRows; ++i)
    for (std::int64_t c = 0; c < kTableColumns; ++c) rows.push_back(static_cast<float>(i + c % 16));
  g.graph.node(table).value = graph::Value(Tensor(Shape{1, 1, kTableRows, kTableColumns}, std::move(rows)));
  const std::int64_t padded = (count + 31) / 32 * 32;
  auto ids = g.input("ids", {1, 1, 32, padded}, {1, count}, DataFormat::raw_uint32);
  g.graph.node(ids).outputs[0].dtype = DType::i32;
  g.graph.node(ids).attrs["model_type"] = std::string("I64");
  auto rows_of = g.op("rows", "embedding", {table, ids}, {1, 1, padded, kTableColumns});
  g.output("y", g.op("twice", "add", {rows_of, rows_of}, {1, 1, padded, kTableColumns}), {count, kTableColumns});
  return std::move(g.graph);
}

Tensor numbers(std::int64_t count, std::int64_t seed) {
  std::vector<std::int64_t> v;
  for (std::int64_t i = 0; i < count; ++i) v.push_back((i * 37 + seed) % kTableRows);
  return Tensor(Shape{1, count}, std::move(v));
}

TEST(Embeddings, GiveTheRowsOfTheTable) {
  for (const char* device : {"e75", "n150"})
    for (const std::int64_t count : {5, 128, 1024})
      for (std::uint64_t policy : {0, 1, 2}) {
        const graph::Graph graph = lookup(count);
        SCOPED_TRACE(cat(device, ", ", count, " numbers, policy ", policy));
        auto result = balance_with(graph, device, {}, *some_policy(policy));
        ASSERT_TRUE(result.ok()) << text_of(result.failure());
        expect_same_bits(graph, *result, {{{"ids", numbers(count, 0)}}, {{"ids", numbers(count, 1)}}, {{"ids", numbers(count, 2)}}});
      }
}

TEST(Embeddings, StandOnOneRowOfCores) {
  auto result = balance_with(lookup(128), "n150");
  ASSERT_TRUE(result.ok()) << text_of(result.failure());
  const netlist::Op& op = result->built.netlist.graphs[0].ops[0];
  EXPECT_EQ(op.type, netlist::OpType::embedding);
  EXPECT_EQ(op.grid.rows, 1);
  EXPECT_EQ(op.block.mblock_m, 4);
  EXPECT_EQ(op.block.ublock_rt, 1);
  EXPECT_EQ(op.attributes.num_indices, 128);
  for (const netlist::Queue& q : result->built.netlist.queues) {
    if (q.name == "table") {
      EXPECT_EQ(q.layout, netlist::QueueLayout::flat);
      EXPECT_EQ(q.shape(), (netlist::TileShape{1, 4, 6}));
    }
    if (q.name == "ids") {
      EXPECT_EQ(q.shape(), (netlist::TileShape{1, 1, 1})) << "all numbers are in one tile";
    }
  }
}

TEST(Embeddings, ThatOthersDisturbAreRefused) {
  graph::Graph graph = lookup(32);
  const auto copy = graph.add("copy", "nop", {graph.find("table")});
  graph.node(copy).outputs = {{DType::f32, Shape{1, 1, 128, kTableColumns}, DataFormat::float16_b}};
  const auto last = graph.add("copied", "output", {copy});
  graph.node(last).attrs["model_shape"] = std::vector<std::int64_t>{128, kTableColumns};
  auto result = balance_with(graph, "n150");
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(text_of(result.failure()), ::testing::HasSubstr("op 'rows' reads it row by row, and op 'copy' needs tiles"));
}

}  // namespace
}  // namespace buda::balance
