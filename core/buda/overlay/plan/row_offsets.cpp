// SPDX-License-Identifier: Apache-2.0
// Offsets of row pieces.
#include <buda/overlay/plan/row_offsets.hpp>

#include <buda/base/text.hpp>

namespace buda::overlay {
namespace {

constexpr std::int64_t kMaxRowPieces = 1 << 20;

bool are_rows_described(const Buffer& table, const Buffer& receiver) {
  const auto& r = table.rows;
  const std::int64_t columns = table.untilized.c, row = columns * r.table_core_c_div, offset = receiver.rows.tilize_row_col_offset;
  return (r.hw_tilize || r.embedding_table) && columns >= 1 && row >= 1 && row <= kMaxRowPieces && table.tile_size >= 1 &&
         table.tile_size == receiver.tile_size && offset >= 0 && offset % table.tile_size == 0;
}

}  // namespace

bool set_row_offsets(PipePlan& plan, Violations& violations) {
  if (!plan.reads_rows()) return true;
  const Buffer& receiver = plan.first_output();
  auto refuse = [&](const std::string& why) {
    violations.error("OV002", plan.pipe, &receiver, why);
    return false;
  };
  if (plan.groups.size() != 1 || plan.groups.front().size() != 1) return refuse("rows go to one core only");
  std::int64_t at = 0;
  for (Block& block : plan.blocks) {
    const Buffer& b = *plan.sources[static_cast<std::size_t>(block.source)];
    if (!are_rows_described(b, receiver))
      return refuse(cat("the rows of buffer_", b.id, " are not described, or not in pieces of ", receiver.tile_size, " bytes"));
    const std::int64_t columns = b.untilized.c, row = columns * b.rows.table_core_c_div;
    const std::int64_t rows_per_column = b.rows.embedding_table ? plan.pass_tiles / columns : b.rows.tilize_mblock_n_loop_num_rows;
    if (rows_per_column < 1 || (block.tiles > 1 && row > 1))
      return refuse(cat("the rows of buffer_", b.id, " cannot be read ", rows_per_column, " at a time, ", block.tiles, " in a block"));
    block.offset = block.offset * row + at / rows_per_column % columns + receiver.rows.tilize_row_col_offset / b.tile_size;
    if (block.offset + block.tiles > b.window_tiles()) return refuse(cat("it takes more rows than buffer_", b.id, " has"));
    at += block.tiles;
  }
  return true;
}

}  // namespace buda::overlay
