// SPDX-License-Identifier: Apache-2.0
// Routes of single edges: windows, phases, granularity, limits.
#include <buda/tiling/edge_routes.hpp>
#include <buda/tiling/line_map.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::tiling {
namespace {

using netlist::EdgeMaps;
using netlist::Tm;
using netlist::UblockOrder;
using ::testing::HasSubstr;

LineMap map_of(const TileLayout& producer, std::vector<Tm> tms) {
  return std::get<LineMap>(LineMap::make(producer.shape(), {std::nullopt, std::move(tms), std::nullopt}));
}

TileOrder blocks(GridShape grid, std::int64_t t, std::int64_t m, std::int64_t n, std::int64_t rt, std::int64_t ct,
                 UblockOrder order = UblockOrder::r) {
  TileOrder c;
  c.grid = grid;
  c.t = t;
  c.blocks_r = m;
  c.blocks_c = n;
  c.block_rt = rt;
  c.block_ct = ct;
  c.order = order;
  return c;
}

EdgeRoutes routed(TileLayout p, std::int64_t buffered, const std::vector<Tm>& tms, const TileOrder& c) {
  p.buffered_t = buffered;
  auto result = route_edge(p, map_of(p, tms), c);
  EXPECT_TRUE(std::holds_alternative<EdgeRoutes>(result)) << (result.index() == 1 ? std::get<RouteError>(result).reason : "");
  return result.index() == 0 ? std::get<EdgeRoutes>(result) : EdgeRoutes{};
}

std::string refused(TileLayout p, std::int64_t buffered, const std::vector<Tm>& tms, const TileOrder& c) {
  p.buffered_t = buffered;
  auto result = route_edge(p, map_of(p, tms), c);
  EXPECT_TRUE(std::holds_alternative<RouteError>(result));
  return result.index() == 1 ? std::get<RouteError>(result).reason : "";
}

TEST(EdgeRoutes, SameBlockingIsOneRunPerCoreAndNotScattered) {
  TileLayout p{{2, 2}, {2, 2, 2, 2, 2}, UblockOrder::r};
  EdgeRoutes r = routed(p, 1, {}, blocks({2, 2}, 2, 2, 2, 2, 2));
  ASSERT_EQ(r.pipes.size(), 4u);
  EXPECT_EQ(r.window, 16);
  EXPECT_EQ(r.granularity, 16);
  EXPECT_FALSE(r.scattered);
  EXPECT_EQ(r.pipes[3].tiles.runs(), (std::vector<tiling::Run>{{3, 0, 16}}));
}

TEST(EdgeRoutes, SeveralInputsInTheBufferAreTakenTogether) {
  TileLayout p{{1, 1}, {1, 1, 1, 2, 2}, UblockOrder::r};
  EdgeRoutes r = routed(p, 4, {}, blocks({1, 1}, 1, 2, 2, 1, 1));
  EXPECT_EQ(r.window, 16);
  EXPECT_EQ(r.pipes[0].tiles.tiles(), 16);
}

TEST(EdgeRoutes, BufferDepthMustDivideOrBeDividedByT) {
  TileLayout p{{1, 1}, {4, 1, 1, 1, 1}, UblockOrder::r};
  EXPECT_THAT(refused(p, 3, {}, blocks({1, 1}, 4, 1, 1, 1, 1)), HasSubstr("holds 3 mblocks and its t is 4"));
}

TEST(EdgeRoutes, GranularityIsTheGreatestCommonDivisorOfRunsAndStarts) {
  // Ublocks of 2x2 cut into rows: runs of 2 that begin at 0, 4, 2, 6.
  TileLayout p{{1, 1}, {1, 1, 2, 2, 2}, UblockOrder::r};
  EdgeRoutes r = routed(p, 1, {}, blocks({1, 1}, 1, 2, 1, 1, 4));
  EXPECT_EQ(r.granularity, 2);
  EXPECT_TRUE(r.scattered);
}

TEST(EdgeRoutes, AMulticastIsOnePipeUntilSplit) {
  TileLayout p{{1, 1}, {1, 2, 2, 1, 1}, UblockOrder::r};
  TileOrder c = blocks({2, 3}, 1, 1, 2, 1, 1, UblockOrder::c);
  c.axis = MulticastAxis::row;
  EdgeRoutes r = routed(p, 1, {}, c);
  ASSERT_EQ(r.pipes.size(), 2u);
  split_multicasts(r, {2, 3});
  ASSERT_EQ(r.pipes.size(), 6u);
  EXPECT_EQ(r.axis, MulticastAxis::core);
  EXPECT_EQ(r.pipes[4].destinations, (std::vector<std::int32_t>{4}));
  EXPECT_EQ(r.pipes[4].tiles.runs(), (std::vector<tiling::Run>{{0, 2, 2}}));
}

// t 0 to 3 one after the other into a 2x2 arrangement of cores, row by row (hstack, then vstack).
TEST(EdgeRoutes, PhasedPipesVisitTheCoresOfAStack) {
  TileLayout p{{1, 1}, {4, 1, 1, 1, 1}, UblockOrder::r};
  EdgeRoutes r = routed(p, 1, {Tm::hstack(2), Tm::vstack(2)}, blocks({2, 2}, 1, 1, 1, 1, 1));
  ASSERT_EQ(r.pipes.size(), 1u);
  EXPECT_EQ(r.pipes[0].destinations, (std::vector<std::int32_t>{0, 1, 2, 3}));
  EdgeRoutes columns = routed(p, 1, {Tm::vstack(2), Tm::hstack(2)}, blocks({2, 2}, 1, 1, 1, 1, 1));
  EXPECT_EQ(columns.pipes[0].destinations, (std::vector<std::int32_t>{0, 2, 1, 3}));
}

TEST(EdgeRoutes, DestinationsThatRepeatAreListedOnce) {
  TileLayout p{{1, 1}, {8, 1, 1, 1, 1}, UblockOrder::r};
  EdgeRoutes r = routed(p, 1, {Tm::vstack(2)}, blocks({2, 1}, 4, 1, 1, 1, 1));
  EXPECT_EQ(r.pipes[0].destinations, (std::vector<std::int32_t>{0, 1}));
}

TEST(EdgeRoutes, SlicesThatUndoAStackNeedNoPhases) {
  TileLayout p{{1, 1}, {2, 1, 1, 1, 4}, UblockOrder::r};
  EdgeRoutes r = routed(p, 1, {Tm::hslice(2), Tm::hstack(2)}, blocks({1, 1}, 2, 1, 1, 1, 4));
  EXPECT_EQ(r.pipes[0].destinations.size(), 1u);
  EXPECT_EQ(r.granularity, 4);
}

TEST(EdgeRoutes, TwoBuffersForOneRowOfTilesAreRefused) {
  TileLayout p{{1, 1}, {2, 1, 1, 2, 1}, UblockOrder::r};
  EXPECT_THAT(refused(p, 1, {Tm::hstack(2)}, blocks({1, 1}, 1, 1, 1, 2, 2)), HasSubstr("after tiles of its buffer 1"));
}

TEST(EdgeRoutes, HugeEdgesAreRefusedBeforeTheyAreWalked) {
  TileLayout p{{1, 1}, {1, 1, 1, 1, 1}, UblockOrder::r};
  TileOrder c = blocks({1, 1}, 1, 1 << 15, 1 << 15, 1, 1);
  auto made = LineMap::make(
      p.shape(), {std::nullopt, {Tm::broadcast(netlist::Dim::r, 1 << 15), Tm::broadcast(netlist::Dim::c, 1 << 15)}, std::nullopt});
  auto result = route_edge(p, std::get<LineMap>(made), c);
  ASSERT_TRUE(std::holds_alternative<RouteError>(result));
  EXPECT_TRUE(std::get<RouteError>(result).too_large);
}

TEST(EdgeRoutes, OnlyPaddingIsNoInput) {
  TileLayout p{{1, 1}, {1, 1, 1, 1, 1}, UblockOrder::r};
  EXPECT_THAT(refused(p, 1, {Tm::pad(1, 0, 0)}, blocks({2, 1}, 1, 1, 1, 1, 1)), HasSubstr("destination 1 gets nothing but padding"));
}

}  // namespace
}  // namespace buda::tiling
