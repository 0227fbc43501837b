// SPDX-License-Identifier: Apache-2.0
// Sets keys of blocks.
#include <buda/pipes/build/block_keys.hpp>

namespace buda::pipes {

void set_block(Buffer& b, const netlist::BlockShape& block, std::int32_t k) {
  b.ublock_rt = block.ublock_rt;
  b.ublock_ct = block.ublock_ct;
  b.mblock_m = block.mblock_m;
  b.mblock_n = block.mblock_n;
  b.mblock_k = k;
}

void set_untilized(Buffer& b, const netlist::Op& op) {
  if (!op.untilize_output) return;
  const auto& block = op.block;
  auto& u = b.untilized;
  u.on = true;
  u.r = block.mblock_m * block.ublock_rt;
  u.c = block.mblock_n * block.ublock_ct;
  u.z = block.t;
  u.full_r = op.grid.rows * u.r;
  u.full_c = op.grid.cols * u.c;
  u.tile_rows = op.tile_dim.rows;
  u.tile_cols = op.tile_dim.cols;
}

}  // namespace buda::pipes
