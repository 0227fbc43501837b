// SPDX-License-Identifier: Apache-2.0
// Positions of read lists.
#include <buda/sim/tiles/read_list.hpp>

#include <gtest/gtest.h>

namespace buda::sim {
namespace {

// Blocks of 2 tiles: three of buffer 0 from tile 4 on, in steps of 4, then tile 0 of buffer 1.
overlay::DramRead a_read() {
  overlay::DramRead read;
  read.block_tiles = 2;
  read.blocks = {{{0, 4}, {0, 4}, 3}, {{1, 0}, {}, 1}};
  return read;
}

TEST(ReadList, FindsBufferPassAndTile) {
  const overlay::DramRead read = a_read();
  const ReadList list(read);
  EXPECT_EQ(list.pass_tiles(), 8);
  auto check = [&](std::int64_t at, std::int64_t most, ReadPiece wanted) {
    const ReadPiece got = list.piece(at, most);
    EXPECT_EQ(got.buffer, wanted.buffer) << at;
    EXPECT_EQ(got.pass, wanted.pass) << at;
    EXPECT_EQ(got.tile, wanted.tile) << at;
    EXPECT_EQ(got.count, wanted.count) << at;
  };
  check(0, 8, {0, 0, 4, 2});
  check(1, 8, {0, 0, 5, 1});
  check(4, 1, {0, 0, 12, 1});
  check(6, 8, {1, 0, 0, 2});
  check(8, 8, {0, 1, 4, 2});
  check(23, 8, {1, 2, 1, 1});
}

}  // namespace
}  // namespace buda::sim
