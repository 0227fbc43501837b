// SPDX-License-Identifier: Apache-2.0
// What kernels of sparse matmuls have to do is read off the parameters.
#include <buda/timed/index_tiles.hpp>

#include <buda/timed/op_facts.hpp>
#include "unit/device/source_devices.hpp"

#include <buda/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <cstring>

namespace buda::timed {
namespace {

// 2 x 1 cores, each with two rows of output tiles, and an index tile for each row of cores.
netlist::Netlist sparse_netlist() {
  netlist::Netlist n;
  netlist::Queue queue;
  queue.name = "index";
  queue.entries = 1;
  queue.grid = {2, 1};
  queue.block = {1, 1, 1, 1, 1};
  queue.format = DataFormat::raw_uint32;
  n.queues.push_back(queue);
  netlist::Op op;
  op.name = "select";
  op.type = netlist::OpType::matmul;
  op.grid = {2, 1};
  op.block = {1, 2, 1, 1, 1};
  op.attributes.identity = true;
  op.attributes.m_k = 4;
  op.attributes.u_kt = 1;
  op.attributes.sparse.fracture_factor = 1;
  op.inputs.resize(3);
  op.inputs[2].name = "index";
  op.inputs[2].format = DataFormat::raw_uint32;
  n.graphs.emplace_back().ops.push_back(op);
  return n;
}

// The products of each row of cores.
Tensor index_entry(const netlist::Op& op, const std::vector<std::vector<netlist::SparseProduct>>& rows) {
  const auto geometry = std::get<netlist::SparseGeometry>(netlist::sparse_geometry(op));
  std::vector<std::uint32_t> words;
  for (const auto& products : rows) {
    const auto bytes = std::get<std::vector<std::uint8_t>>(netlist::encode_sparse(geometry, products, 4096));
    EXPECT_EQ(bytes.size(), 4096u);
    words.resize(words.size() + 1024);
    std::memcpy(words.data() + words.size() - 1024, bytes.data(), 4096);
  }
  return Tensor(Shape{1, 1, 64, 32}, std::move(words));
}

TEST(IndexTiles, EveryRowOfCoresHasItsCounts) {
  const netlist::Netlist n = sparse_netlist();
  const netlist::Op& op = n.graphs[0].ops[0];
  IndexTiles tiles(n);
  EXPECT_FALSE(tiles.counts(op, 0));
  tiles.keep("another", 0, Tensor());
  tiles.keep("index", 0, index_entry(op, {{{.row = 0, .act = 0}, {.row = 1, .act = 2}}, {{.row = 1, .act = 3}}}));
  const auto first = tiles.counts(op, 0), second = tiles.counts(op, 1);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->strips, 2);
  EXPECT_EQ(first->ublocks, 2);
  EXPECT_EQ(first->tiles, 2);
  EXPECT_EQ(second->tiles, 1);
}

// The slowest core counts, whichever has most of what.
TEST(IndexTiles, TheMostOfAllCores) {
  const netlist::Netlist n = sparse_netlist();
  const netlist::Op& op = n.graphs[0].ops[0];
  IndexTiles tiles(n);
  EXPECT_TRUE(tiles.holds("index"));
  EXPECT_FALSE(tiles.holds("another"));
  EXPECT_FALSE(tiles.most(op));
  tiles.keep("index", 0,
             index_entry(op, {{{.row = 0, .act = 1}, {.row = 1, .act = 1}, {.row = 1, .act = 1, .tile = 1}},
                              {{.row = 1, .act = 2}, {.row = 1, .act = 3}}}));
  const auto most = tiles.most(op);
  ASSERT_TRUE(most);
  EXPECT_EQ(most->strips, 2);   // of the second
  EXPECT_EQ(most->ublocks, 2);  // of either
  EXPECT_EQ(most->tiles, 2);    // two sparse tiles that meet the same tile of the activations count once
}

// A core without products only puts out zeros: it must not be taken for one that nothing is known of.
TEST(IndexTiles, ACoreWithoutProductsHasNothingToMultiply) {
  const netlist::Netlist n = sparse_netlist();
  const netlist::Op& op = n.graphs[0].ops[0];
  const auto& device = device::shipped("n150");
  IndexTiles tiles(n);
  tiles.keep("index", 0, index_entry(op, {{{.row = 0, .act = 0}, {.row = 1, .act = 2}}, {}}));
  const auto busy = tiles.counts(op, 0), idle = tiles.counts(op, 1);
  ASSERT_TRUE(busy && idle);
  EXPECT_EQ(idle->strips, 0);
  EXPECT_EQ(idle->ublocks, 0);
  EXPECT_EQ(idle->tiles, 0);
  const auto kernel = cost::kernel_cycles(op, nullptr, device, &*idle);
  EXPECT_EQ(kernel.math, 0);
  EXPECT_LT(kernel.total, cost::kernel_cycles(op, nullptr, device, &*busy).total);
  EXPECT_LT(kernel.total, cost::kernel_cycles(op, nullptr, device).total);
}

// Parameters that nobody has given are zeros.
TEST(IndexTiles, AnIndexOfNothingTellsNothing) {
  const netlist::Netlist n = sparse_netlist();
  const netlist::Op& op = n.graphs[0].ops[0];
  IndexTiles tiles(n);
  tiles.keep("index", 0, index_entry(op, {{}, {}}));
  EXPECT_FALSE(tiles.counts(op, 0));
  EXPECT_FALSE(tiles.counts(op, 1));
}

// What is printed beside the simulated time knows the counts, too: that of the core with the most products.
TEST(IndexTiles, EstimatesOfTheSummaryUseTheCounts) {
  const netlist::Netlist n = sparse_netlist();
  const netlist::Op& op = n.graphs[0].ops[0];
  const auto& device = device::shipped("n150");
  IndexTiles tiles(n);
  perf::EpochSummary epoch;
  epoch.ops.emplace_back().name = "select";
  add_facts(epoch, n, device, tiles);
  EXPECT_EQ(epoch.ops[0].estimate, cost::kernel_cycles(op, nullptr, device).total);
  tiles.keep("index", 0, index_entry(op, {{{.row = 1, .act = 3}}, {{.row = 0, .act = 0}, {.row = 1, .act = 2}}}));
  const auto most = tiles.counts(op, 1);
  ASSERT_TRUE(most);
  add_facts(epoch, n, device, tiles);
  EXPECT_EQ(epoch.ops[0].estimate, cost::kernel_cycles(op, nullptr, device, &*most).total);
  EXPECT_NE(epoch.ops[0].estimate, cost::kernel_cycles(op, nullptr, device).total);
}

TEST(IndexTiles, WrongTilesTellNothing) {
  const netlist::Netlist n = sparse_netlist();
  IndexTiles tiles(n);
  tiles.keep("index", 0, Tensor(Shape{1, 1, 64, 32}, std::vector<std::uint32_t>(2048, 0xffffffff)));
  EXPECT_FALSE(tiles.counts(n.graphs[0].ops[0], 0));
}

}  // namespace
}  // namespace buda::timed
