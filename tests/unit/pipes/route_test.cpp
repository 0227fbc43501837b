// Routes of single edges: windows, phases, granularity, limits.
#include <buda/pipes/route.hpp>

#include <buda/pipes/period.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::pipes {
namespace {

using netlist::EdgeMaps;
using netlist::Tm;
using netlist::UblockOrder;
using ::testing::HasSubstr;

LineMap map_of(const ProducerLayout& producer, std::vector<Tm> tms) {
  return std::get<LineMap>(LineMap::make(producer.shape(), {std::nullopt, std::move(tms), std::nullopt}));
}

Consumption blocks(GridShape grid, std::int64_t t, std::int64_t m, std::int64_t n, std::int64_t rt, std::int64_t ct,
                   UblockOrder order = UblockOrder::r) {
  Consumption c;
  c.grid = grid;
  c.t = t;
  c.blocks_r = m;
  c.blocks_c = n;
  c.block_rt = rt;
  c.block_ct = ct;
  c.order = order;
  return c;
}

EdgeRoutes routed(const ProducerLayout& p, std::int64_t buffered, const std::vector<Tm>& tms, const Consumption& c) {
  auto result = route_edge(p, buffered, map_of(p, tms), c);
  EXPECT_TRUE(std::holds_alternative<EdgeRoutes>(result)) << (result.index() == 1 ? std::get<RouteError>(result).reason : "");
  return result.index() == 0 ? std::get<EdgeRoutes>(result) : EdgeRoutes{};
}

std::string refused(const ProducerLayout& p, std::int64_t buffered, const std::vector<Tm>& tms, const Consumption& c) {
  auto result = route_edge(p, buffered, map_of(p, tms), c);
  EXPECT_TRUE(std::holds_alternative<RouteError>(result));
  return result.index() == 1 ? std::get<RouteError>(result).reason : "";
}

TEST(Route, SameBlockingIsOneRunPerCoreAndNotScattered) {
  ProducerLayout p{{2, 2}, {2, 2, 2, 2, 2}, UblockOrder::r};
  EdgeRoutes r = routed(p, 1, {}, blocks({2, 2}, 2, 2, 2, 2, 2));
  ASSERT_EQ(r.pipes.size(), 4u);
  EXPECT_EQ(r.window, 16);
  EXPECT_EQ(r.granularity, 16);
  EXPECT_FALSE(r.scattered);
  EXPECT_EQ(r.pipes[3].tiles.runs(), (std::vector<pipes::Run>{{3, 0, 16}}));
}

TEST(Route, SeveralInputsInTheBufferAreTakenTogether) {
  ProducerLayout p{{1, 1}, {1, 1, 1, 2, 2}, UblockOrder::r};
  EdgeRoutes r = routed(p, 4, {}, blocks({1, 1}, 1, 2, 2, 1, 1));
  EXPECT_EQ(r.window, 16);
  EXPECT_EQ(r.pipes[0].tiles.tiles(), 16);
}

TEST(Route, BufferDepthMustDivideOrBeDividedByT) {
  ProducerLayout p{{1, 1}, {4, 1, 1, 1, 1}, UblockOrder::r};
  EXPECT_THAT(refused(p, 3, {}, blocks({1, 1}, 4, 1, 1, 1, 1)), HasSubstr("holds 3 mblocks and its t is 4"));
}

TEST(Route, GranularityIsTheGreatestCommonDivisorOfRunsAndStarts) {
  // Ublocks of 2x2 cut into rows: runs of 2 that begin at 0, 4, 2, 6.
  ProducerLayout p{{1, 1}, {1, 1, 2, 2, 2}, UblockOrder::r};
  EdgeRoutes r = routed(p, 1, {}, blocks({1, 1}, 1, 2, 1, 1, 4));
  EXPECT_EQ(r.granularity, 2);
  EXPECT_TRUE(r.scattered);
}

TEST(Route, RowsThatShareAreOnePipeUntilTakenApart) {
  ProducerLayout p{{1, 1}, {1, 2, 2, 1, 1}, UblockOrder::r};
  Consumption c = blocks({2, 3}, 1, 1, 2, 1, 1, UblockOrder::c);
  c.share = Share::row;
  EdgeRoutes r = routed(p, 1, {}, c);
  ASSERT_EQ(r.pipes.size(), 2u);
  unshare(r, {2, 3});
  ASSERT_EQ(r.pipes.size(), 6u);
  EXPECT_EQ(r.share, Share::core);
  EXPECT_EQ(r.pipes[4].destinations, (std::vector<std::int32_t>{4}));
  EXPECT_EQ(r.pipes[4].tiles.runs(), (std::vector<pipes::Run>{{0, 2, 2}}));
}

// t 0 to 3 one after the other into a 2x2 arrangement of cores, row by row (hstack, then vstack).
TEST(Route, PhasedPipesVisitTheCoresOfAStack) {
  ProducerLayout p{{1, 1}, {4, 1, 1, 1, 1}, UblockOrder::r};
  EdgeRoutes r = routed(p, 1, {Tm::hstack(2), Tm::vstack(2)}, blocks({2, 2}, 1, 1, 1, 1, 1));
  ASSERT_EQ(r.pipes.size(), 1u);
  EXPECT_EQ(r.pipes[0].destinations, (std::vector<std::int32_t>{0, 1, 2, 3}));
  EdgeRoutes columns = routed(p, 1, {Tm::vstack(2), Tm::hstack(2)}, blocks({2, 2}, 1, 1, 1, 1, 1));
  EXPECT_EQ(columns.pipes[0].destinations, (std::vector<std::int32_t>{0, 2, 1, 3}));
}

TEST(Route, DestinationsThatRepeatAreListedOnce) {
  ProducerLayout p{{1, 1}, {8, 1, 1, 1, 1}, UblockOrder::r};
  EdgeRoutes r = routed(p, 1, {Tm::vstack(2)}, blocks({2, 1}, 4, 1, 1, 1, 1));
  EXPECT_EQ(r.pipes[0].destinations, (std::vector<std::int32_t>{0, 1}));
}

TEST(Route, SlicesThatUndoAStackNeedNoPhases) {
  ProducerLayout p{{1, 1}, {2, 1, 1, 1, 4}, UblockOrder::r};
  EdgeRoutes r = routed(p, 1, {Tm::hslice(2), Tm::hstack(2)}, blocks({1, 1}, 2, 1, 1, 1, 4));
  EXPECT_EQ(r.pipes[0].destinations.size(), 1u);
  EXPECT_EQ(r.granularity, 4);
}

TEST(Route, TwoBuffersForOneRowOfTilesAreRefused) {
  ProducerLayout p{{1, 1}, {2, 1, 1, 2, 1}, UblockOrder::r};
  EXPECT_THAT(refused(p, 1, {Tm::hstack(2)}, blocks({1, 1}, 1, 1, 1, 2, 2)), HasSubstr("after tiles of its buffer 1"));
}

TEST(Route, HugeEdgesAreRefusedBeforeTheyAreWalked) {
  ProducerLayout p{{1, 1}, {1, 1, 1, 1, 1}, UblockOrder::r};
  Consumption c = blocks({1, 1}, 1, 1 << 15, 1 << 15, 1, 1);
  auto made = LineMap::make(
      p.shape(), {std::nullopt, {Tm::broadcast(netlist::Dim::r, 1 << 15), Tm::broadcast(netlist::Dim::c, 1 << 15)}, std::nullopt});
  auto result = route_edge(p, 1, std::get<LineMap>(made), c);
  ASSERT_TRUE(std::holds_alternative<RouteError>(result));
  EXPECT_TRUE(std::get<RouteError>(result).too_large);
}

TEST(Route, OnlyPaddingIsNoInput) {
  ProducerLayout p{{1, 1}, {1, 1, 1, 1, 1}, UblockOrder::r};
  EXPECT_THAT(refused(p, 1, {Tm::pad(1, 0, 0)}, blocks({2, 1}, 1, 1, 1, 1, 1)), HasSubstr("destination 1 gets nothing but padding"));
}

std::vector<Id> repeated(std::size_t period, std::size_t times) {
  std::vector<Id> out;
  for (std::size_t i = 0; i < period * times; ++i) out.push_back(i % period);
  return out;
}

TEST(Period, ShortListsAreLeftAlone) { EXPECT_EQ(list_period(repeated(8, 8), 1, 1), std::nullopt); }
TEST(Period, TheSmallestFrom32OnIsChosen) { EXPECT_EQ(list_period(repeated(8, 32), 1, 1), 32u); }
TEST(Period, ASmallerOneServesWhereTheNextIsTooLong) { EXPECT_EQ(list_period(repeated(5, 26), 1, 1), 10u); }
TEST(Period, LongPeriodsCountWhereThereIsNoOther) { EXPECT_EQ(list_period(repeated(100, 2), 1, 1), 100u); }
TEST(Period, KernelStepsMustNotStraddleIt) {
  EXPECT_EQ(list_period(repeated(33, 4), 1, 1), 33u);
  EXPECT_EQ(list_period(repeated(33, 4), 1, 2), 66u);
  EXPECT_EQ(list_period(repeated(33, 4), 1, 5), std::nullopt);
}
TEST(Period, ListsWithoutOneHaveNone) {
  std::vector<Id> list = repeated(66, 2);
  list.back() = 1;
  EXPECT_EQ(list_period(list, 1, 1), std::nullopt);
}

}  // namespace
}  // namespace buda::pipes
