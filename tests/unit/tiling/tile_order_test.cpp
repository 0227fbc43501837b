// SPDX-License-Identifier: Apache-2.0
// Tile orders of op classes, against the order in which kernels are defined to read.
#include <buda/pipes/check/check_tiles.hpp>
#include <buda/tiling/tile_order.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace buda::tiling {
namespace {

using netlist::TileIndex;
using netlist::TileShape;

netlist::Op matmul_op() {
  netlist::Op op;
  op.name = "mm";
  op.type = netlist::OpType::matmul;
  op.grid = {2, 2};
  op.block = {1, 2, 2, 1, 1};
  op.inputs.resize(2);
  op.attributes.m_k = 2;
  op.attributes.u_kt = 2;
  return op;
}

TileOrder order_of(const netlist::Op& op, std::size_t input, const TileShape& arriving, const netlist::FusedOp* fused = nullptr) {
  auto order = tile_order_of(op, fused, input, arriving);
  EXPECT_TRUE(std::holds_alternative<TileOrder>(order));
  return order.index() == 0 ? std::get<TileOrder>(order) : TileOrder{};
}

OrderError::Kind error_of(const netlist::Op& op, const TileShape& arriving) {
  auto order = tile_order_of(op, nullptr, 0, arriving);
  EXPECT_TRUE(std::holds_alternative<OrderError>(order));
  return order.index() == 1 ? std::get<OrderError>(order).kind : OrderError::Kind::unsupported;
}

// The tiles of an order, one by one, as its description says.
std::vector<TileIndex> tiles_of(const TileOrder& c, std::int64_t destination) {
  std::vector<TileIndex> out;
  TileIndex origin = c.origin(destination);
  bool rows = c.order == netlist::UblockOrder::r;
  for (std::int64_t t = 0; t < c.t; ++t)
    for (std::int64_t o = 0; o < (rows ? c.blocks_r : c.blocks_c); ++o)
      for (std::int64_t i = 0; i < (rows ? c.blocks_c : c.blocks_r); ++i)
        for (std::int64_t y = 0; y < c.block_rt; ++y)
          for (std::int64_t x = 0; x < c.block_ct; ++x)
            out.push_back({t, origin.r + (rows ? o : i) * c.block_rt + y, origin.c + (rows ? i : o) * c.block_ct + x});
  return out;
}

TEST(TileOrder, LeftOperandIsSharedByRowsAndGoesThroughKOutermost) {
  netlist::Op op = matmul_op();
  TileOrder c = order_of(op, 0, {1, 4, 4});
  EXPECT_EQ(c.axis, MulticastAxis::row);
  EXPECT_EQ(c.destinations(), 2);
  EXPECT_EQ(c.needed(), (TileShape{1, 4, 4}));
  std::vector<TileIndex> wanted = {{0, 2, 0}, {0, 2, 1}, {0, 3, 0}, {0, 3, 1}, {0, 2, 2}, {0, 2, 3}, {0, 3, 2}, {0, 3, 3}};
  EXPECT_EQ(tiles_of(c, 1), wanted);
}

TEST(TileOrder, RightOperandIsSharedByColumnsAndGoesThroughKOutermost) {
  netlist::Op op = matmul_op();
  TileOrder c = order_of(op, 1, {1, 4, 4});
  EXPECT_EQ(c.axis, MulticastAxis::column);
  EXPECT_EQ(c.needed(), (TileShape{1, 4, 4}));
  std::vector<TileIndex> wanted = {{0, 0, 2}, {0, 1, 2}, {0, 0, 3}, {0, 1, 3}, {0, 2, 2}, {0, 3, 2}, {0, 2, 3}, {0, 3, 3}};
  EXPECT_EQ(tiles_of(c, 1), wanted);
}

TEST(TileOrder, AccumulationTakesZTimesTheTs) {
  netlist::Op op = matmul_op();
  op.attributes.accumulate = true;
  op.attributes.z = 3;
  TileOrder c = order_of(op, 0, {3, 4, 4});
  EXPECT_EQ(c.needed(), (TileShape{3, 4, 4}));
}

TEST(TileOrder, ReductionOfRowsGoesColumnByColumn) {
  netlist::Op op;
  op.type = netlist::OpType::reduce;
  op.grid = {1, 1};
  op.block = {1, 1, 2, 1, 1};
  op.inputs.resize(1);
  op.attributes.reduce_dim = netlist::Dim::r;
  op.attributes.m_k = 2;
  op.attributes.u_kt = 2;
  TileOrder c = order_of(op, 0, {1, 4, 2});
  EXPECT_EQ(c.needed(), (TileShape{1, 4, 2}));
  std::vector<TileIndex> wanted = {{0, 0, 0}, {0, 1, 0}, {0, 2, 0}, {0, 3, 0}, {0, 0, 1}, {0, 1, 1}, {0, 2, 1}, {0, 3, 1}};
  EXPECT_EQ(tiles_of(c, 0), wanted);
}

TEST(TileOrder, ReductionOfTsTakesZOfThem) {
  netlist::Op op;
  op.type = netlist::OpType::reduce;
  op.block = {2, 1, 1, 1, 1};
  op.inputs.resize(1);
  op.attributes.reduce_dim = netlist::Dim::z;
  op.attributes.z = 3;
  TileOrder c = order_of(op, 0, {6, 1, 1});
  EXPECT_EQ(c.needed(), (TileShape{6, 1, 1}));
}

// Fused matmuls scan their operands the other way round.
TEST(TileOrder, FusedMatmulGoesThroughRowsOfTheLeftAndColumnsOfTheRightOperand) {
  netlist::FusedOp fused;
  fused.id = "f";
  fused.inputs = 2;
  netlist::SubOp sub;
  sub.type = netlist::OpType::matmul;
  sub.block = {1, 2, 2, 1, 1};
  sub.attributes.m_k = 2;
  sub.attributes.u_kt = 1;
  sub.inputs = {{{netlist::SubOperand::Kind::input, 0}, {}}, {{netlist::SubOperand::Kind::input, 1}, {}}};
  fused.schedules = {{sub}};
  netlist::Op op;
  op.type = netlist::OpType::fused_op;
  op.block = {1, 2, 2, 1, 1};
  op.inputs.resize(2);
  op.attributes.fused_op_id = "f";
  TileOrder left = order_of(op, 0, {1, 2, 2}, &fused);
  TileOrder right = order_of(op, 1, {1, 2, 2}, &fused);
  EXPECT_EQ(tiles_of(left, 0), (std::vector<TileIndex>{{0, 0, 0}, {0, 0, 1}, {0, 1, 0}, {0, 1, 1}}));
  EXPECT_EQ(tiles_of(right, 0), (std::vector<TileIndex>{{0, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 1, 1}}));
}

TEST(TileOrder, AFusedInputThatNobodyReadsIsAnError) {
  netlist::Op op;
  op.name = "f0";
  op.type = netlist::OpType::fused_op;
  op.inputs.resize(1);
  EXPECT_EQ(error_of(op, {1, 1, 1}), OrderError::Kind::unread);
}

TEST(TileOrder, AnInnerDimensionOfZeroIsAnError) {
  netlist::Op op = matmul_op();
  op.attributes.m_k = 0;
  EXPECT_EQ(error_of(op, {1, 4, 4}), OrderError::Kind::empty_block);
}

// The checker has the table once more, written otherwise; both must tell the same, for every core.
TEST(TileOrder, AgreesWithTheCheckersDefinitions) {
  netlist::Netlist n;
  auto same = [&](const netlist::Op& op, const TileShape& arriving) {
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      TileOrder c = order_of(op, i, arriving);
      for (std::int32_t core = 0; core < op.grid.volume(); ++core) {
        GridCoord at{core / op.grid.cols, core % op.grid.cols};
        std::int64_t d = c.axis == MulticastAxis::core ? core : c.axis == MulticastAxis::row ? at.row : at.col;
        EXPECT_EQ(tiles_of(c, d), pipes::tiles_taken(n, op, i, arriving, at).tiles) << op_type_name(op.type) << " input " << i;
      }
    }
  };
  netlist::Op op = matmul_op();
  op.block = {2, 2, 3, 2, 1};
  op.inputs.resize(3);
  op.attributes.bias = true;
  same(op, {2, 8, 4});
  op.type = netlist::OpType::depthwise;
  op.attributes.u_kt = 1;
  same(op, {2, 8, 12});
  op.type = netlist::OpType::add;
  op.ublock_order = netlist::UblockOrder::c;
  same(op, {2, 8, 6});
  op.type = netlist::OpType::topk;
  same(op, {2, 8, 4});
  op.type = netlist::OpType::splice;
  same(op, {2, 16, 12});
  op.type = netlist::OpType::reduce;
  op.ublock_order = netlist::UblockOrder::r;
  for (auto dim : {netlist::Dim::r, netlist::Dim::c, netlist::Dim::z}) {
    op.attributes.reduce_dim = dim;
    op.attributes.z = 2;
    same(op, {4, 8, 6});
  }
  op = matmul_op();
  op.attributes.identity = true;
  op.inputs.resize(4);
  op.attributes.bias = true;
  op.attributes.sparse.num_sparse_tiles = 3;
  op.attributes.sparse.num_index_tiles = 2;
  same(op, {5, 4, 4});
}

}  // namespace
}  // namespace buda::tiling
