// SPDX-License-Identifier: Apache-2.0
// From lines of tiles to runs of indices.
#include <buda/tiling/tile_layout.hpp>

#include <buda/tiling/line_map.hpp>

#include <algorithm>

namespace buda::tiling {

void TileLayout::add_runs(const Line& line, std::int64_t offset, RunList& out) const {
  if (line.padding) {
    out.add({kPaddingCore, 0, line.count});
    return;
  }
  const std::int64_t ur = block.ublock_rt, uc = block.ublock_ct, m = block.mblock_m, n = block.mblock_n;
  auto [t, r, c] = line.first;
  for (std::int64_t left = line.count; left > 0;) {
    std::int64_t ublock_r = r / ur, ublock_c = c / uc, tile_r = r % ur, tile_c = c % uc;
    std::int64_t core = ublock_r / m * grid.cols + ublock_c / n;
    std::int64_t in_m = ublock_r % m, in_n = ublock_c % n;
    std::int64_t ublock = order == netlist::UblockOrder::r ? in_m * n + in_n : in_n * m + in_m;
    std::int64_t index = offset + t * block.mblock_tiles() + ublock * block.ublock_tiles() + tile_r * uc + tile_c;
    // A step down is a step of uc indices: a run only where the ublock is one tile wide. Ublocks that are scanned along the line and one
    // tile high (or, down, wide) follow each other without a gap up to the end of the core's part.
    const bool rows = order == netlist::UblockOrder::r;
    const std::int64_t across = ur == 1 && rows ? n * uc - c % (n * uc) : uc - tile_c;
    const std::int64_t down = uc != 1 ? 1 : rows ? ur - tile_r : m * ur - r % (m * ur);
    std::int64_t take = std::min(left, line.down ? down : across);
    out.add({static_cast<std::int32_t>(core), index, take});
    (line.down ? r : c) += take;
    left -= take;
  }
}

TileLayout layout_of(const netlist::Queue& queue) { return {queue.grid, queue.block, queue.ublock_order, queue.block.t}; }

// The buffer shows one half of buf_size_mb mblocks at a time, and no more than the epoch has.
TileLayout layout_of(const netlist::Op& op, std::int64_t input_count) {
  return {op.grid, op.block, op.ublock_order, std::min<std::int64_t>(input_count * op.block.t, op.single_buffer_mblocks())};
}

}  // namespace buda::tiling
