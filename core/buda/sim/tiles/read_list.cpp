// SPDX-License-Identifier: Apache-2.0
// Looks positions up by binary search.
#include <buda/sim/tiles/read_list.hpp>

#include <algorithm>

namespace buda::sim {

ReadList::ReadList(const overlay::DramRead& read) : read_(&read) {
  std::int64_t blocks = 0;
  for (const overlay::ReadRun& run : read.blocks) {
    first_block_.push_back(blocks);
    blocks += run.count;
  }
  pass_tiles_ = blocks * read.block_tiles;
}

ReadPiece ReadList::piece(std::int64_t at, std::int64_t most) const {
  const std::int64_t pass = at / pass_tiles_, within = at % pass_tiles_, block = within / read_->block_tiles,
                     inside = within % read_->block_tiles;
  const auto after = std::upper_bound(first_block_.begin(), first_block_.end(), block);
  const auto run = static_cast<std::size_t>(after - first_block_.begin() - 1);
  const auto [buffer, tile] = read_->blocks[run].at(block - first_block_[run]);
  return {static_cast<std::int32_t>(buffer), pass, tile + inside, std::min(most, read_->block_tiles - inside)};
}

}  // namespace buda::sim
