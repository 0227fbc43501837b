// SPDX-License-Identifier: Apache-2.0
// Tags in buffers, and what they are compared with.
#include <buda/sim/tiles/tiles.hpp>

#include <gtest/gtest.h>

namespace buda::sim {
namespace {

TEST(Ring, KeepsItsOrderWhileItGrows) {
  Ring<int> ring;
  int in = 0, out = 0;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 7; ++i) ring.push(in++);
    for (int i = 0; i < 4; ++i, ring.pop()) EXPECT_EQ(ring.front(), out++);
  }
  EXPECT_EQ(ring.size(), 15u);
  EXPECT_EQ(ring.back(), in - 1);
}

TEST(TileFifo, JoinsWhatContinuesAndTakesWithinARun) {
  TileFifo fifo;
  fifo.push({1, 0, 3});
  fifo.push({1, 3, 2});
  fifo.push({2, 8, 1});
  fifo.push({kPadding, 0, 2});
  fifo.push({kPadding, 0, 1});
  EXPECT_EQ(fifo.take(4), (TileRun{1, 0, 4}));
  EXPECT_EQ(fifo.take(4), (TileRun{1, 4, 1}));
  EXPECT_EQ(fifo.take(4), (TileRun{2, 8, 1}));
  EXPECT_EQ(fifo.take(4), (TileRun{kPadding, 0, 3}));
  EXPECT_TRUE(fifo.empty());
}

// Of each input tiles 0 and 1 of source 7, then one of padding, then tile 0 of source 8, of which there are four per input.
TileCheck a_check() { return TileCheck({{{7, 0, 2}, {kPadding, 0, 1}, {8, 0, 1}}, 4}); }

TEST(TileCheck, AcceptsInputAfterInputInWhateverPieces) {
  TileCheck check = a_check();
  EXPECT_FALSE(check.arrives({7, 0, 1}));
  EXPECT_FALSE(check.arrives({7, 1, 1}));
  EXPECT_FALSE(check.arrives({kPadding, 0, 1}));
  EXPECT_FALSE(check.arrives({8, 0, 1}));
  EXPECT_FALSE(check.arrives({7, 4, 2}));
  EXPECT_EQ(check.tiles(), 6);
}

TEST(TileCheck, TellsTheFirstWrongTile) {
  TileCheck check = a_check();
  ASSERT_FALSE(check.arrives({7, 0, 2}));
  ASSERT_FALSE(check.arrives({kPadding, 0, 1}));
  ASSERT_FALSE(check.arrives({8, 0, 1}));
  const auto wrong = check.arrives({7, 4, 3});
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->came, (TileRun{7, 6, 1}));
  EXPECT_EQ(wrong->expected.source, kPadding);
  EXPECT_EQ(wrong->input, 1);
  EXPECT_EQ(wrong->number, 2);
}

TEST(TileCheck, ATileOfTheInputBeforeIsWrong) {
  TileCheck check({{{7, 0, 1}}, 1});
  EXPECT_FALSE(check.arrives({7, 0, 1}));
  EXPECT_TRUE(check.arrives({7, 0, 1}));
}

}  // namespace
}  // namespace buda::sim
