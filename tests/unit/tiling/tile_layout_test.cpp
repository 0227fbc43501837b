// SPDX-License-Identifier: Apache-2.0
// Indices of tiles in the buffers of cores.
#include <buda/tiling/tile_layout.hpp>

#include <gtest/gtest.h>

#include <utility>

namespace buda::tiling {
namespace {

// Section 0 of the netlist's definitions, spelled out: mblock 2x2 of ublocks 2x3.
TEST(TileLayout, IndicesFollowTheUblockOrder) {
  auto index_of = [](netlist::UblockOrder order, std::int64_t t, std::int64_t r, std::int64_t c) {
    TileLayout layout{{1, 2}, {2, 2, 2, 2, 3}, order, 2};
    RunList runs;
    layout.add_runs({false, {t, r, c}, false, 1}, 0, runs);
    return std::pair{runs.runs().front().core, runs.runs().front().first};
  };
  // Tile (t 1, r 3, c 4): ublock (1, 1), tile (1, 1) of it.
  EXPECT_EQ(index_of(netlist::UblockOrder::r, 1, 3, 4), (std::pair<std::int32_t, std::int64_t>{0, 24 + 3 * 6 + 4}));
  // Ublock (0, 1) is the second row by row and the third column by column.
  EXPECT_EQ(index_of(netlist::UblockOrder::r, 0, 0, 3), (std::pair<std::int32_t, std::int64_t>{0, 6}));
  EXPECT_EQ(index_of(netlist::UblockOrder::c, 0, 0, 3), (std::pair<std::int32_t, std::int64_t>{0, 12}));
  // Columns 6 and on are the second core's.
  EXPECT_EQ(index_of(netlist::UblockOrder::r, 0, 0, 6), (std::pair<std::int32_t, std::int64_t>{1, 0}));
}

TEST(TileLayout, LinesAreCutWhereIndicesJumpAndJoinedWhereTheyDoNot) {
  TileLayout layout{{1, 1}, {1, 1, 3, 1, 2}, netlist::UblockOrder::r, 1};
  RunList whole;
  layout.add_runs({false, {0, 0, 0}, false, 6}, 0, whole);
  EXPECT_EQ(whole.runs(), (std::vector<tiling::Run>{{0, 0, 6}}));
  layout.block = {1, 1, 3, 2, 2};
  RunList pieces;
  layout.add_runs({false, {0, 1, 1}, false, 4}, 0, pieces);
  EXPECT_EQ(pieces.runs(), (std::vector<tiling::Run>{{0, 3, 1}, {0, 6, 2}, {0, 10, 1}}));
}

TEST(TileLayout, AnOpShowsHalfOfItsBufferAndNoMoreThanTheEpochHas) {
  netlist::Op op;
  op.block = {4, 1, 1, 1, 1};
  op.buf_size_mb = 4;
  EXPECT_EQ(layout_of(op, 1).buffered_t, 2);
  op.buf_size_mb = 1;
  EXPECT_EQ(layout_of(op, 1).buffered_t, 1);
  op.buf_size_mb = 64;
  EXPECT_EQ(layout_of(op, 1).buffered_t, 4);
  EXPECT_EQ(layout_of(op, 3).buffered_t, 12);
  EXPECT_EQ(layout_of(op, 3).window_tiles(), 12);
}

}  // namespace
}  // namespace buda::tiling
