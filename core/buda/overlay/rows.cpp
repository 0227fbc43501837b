// Reading queues that hold rows instead of tiles.
//
// A pipe that takes rows lists the rows only; which part of a row it takes follows from how many came before, and from where the part of
// the receiving core begins (docs/formats/pipegen.md). Here each block gets the place that it has among the pieces of the queue's buffer,
// which lie row by row; from then on pieces are read like tiles.
#include <buda/overlay/builder.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>

#include <numeric>

namespace buda::overlay {

bool Builder::place_rows(PipePlan& plan) {
  const Buffer& out = plan.first_output();
  const bool rows =
      std::any_of(plan.buffers.begin(), plan.buffers.end(), [](const Buffer* b) { return b->rows.hw_tilize || b->rows.embedding_table; });
  if (!rows) return true;
  auto wrong = [&](const std::string& why) {
    error("OV002", plan.pipe, &out, why);
    return false;
  };
  if (plan.groups.size() != 1 || plan.groups.front().size() != 1) return wrong("rows go to one core only");
  std::int64_t at = 0;
  for (Block& block : plan.blocks) {
    const Buffer& b = *plan.buffers[static_cast<std::size_t>(block.source)];
    const auto& r = b.rows;
    const std::int64_t columns = b.untilized.c, row = columns * r.table_core_c_div;
    if (!(r.hw_tilize || r.embedding_table) || columns < 1 || row < 1 || row > (1 << 20) || b.tile_size < 1 ||
        b.tile_size != out.tile_size || out.rows.tilize_row_col_offset < 0 || out.rows.tilize_row_col_offset % b.tile_size != 0)
      return wrong(cat("the rows of buffer_", b.id, " are not described, or not in pieces of ", out.tile_size, " bytes"));
    const std::int64_t rows_per_column = r.embedding_table ? plan.pass_tiles / columns : r.tilize_mblock_n_loop_num_rows;
    if (rows_per_column < 1 || (block.tiles > 1 && row > 1))
      return wrong(
          cat("the rows of buffer_", b.id, " cannot be gone through ", rows_per_column, " at a time, ", block.tiles, " in a block"));
    block.offset = block.offset * row + at / rows_per_column % columns + out.rows.tilize_row_col_offset / b.tile_size;
    if (block.offset + block.tiles > b.window_tiles()) return wrong(cat("it takes more rows than buffer_", b.id, " has"));
    at += block.tiles;
  }
  return true;
}

// Inputs that bring numbers of rows, by their cores: with how many a tile has. O(pipes), once.
void Builder::index_row_numbers() {
  row_numbers_.emplace();
  for (const PipePlan& plan : plans_)
    for (const auto& group : plan.groups)
      for (const Buffer* b : group) {
        if (!b->embedding_op_index_input) continue;
        RowLookup& lookup = (*row_numbers_)[{b->chip, b->core.row, b->core.col}];
        for (const Buffer* list : plan.buffers)
          if (list->rows.embedding_index) lookup.numbers_per_tile = list->rows.indices_per_tile;
        if (auto it = kernel_streams_.find(b->id); it != kernel_streams_.end()) lookup.stream = it->second.stream;
      }
}

std::optional<RowLookup> Builder::lookup_of(const PipePlan& plan) {
  const Buffer &table = *plan.buffers.front(), &out = plan.first_output();
  if (!table.rows.embedding_table) return std::nullopt;
  if (!row_numbers_) index_row_numbers();
  if (auto it = row_numbers_->find({out.chip, out.core.row, out.core.col}); it != row_numbers_->end()) {
    RowLookup lookup = it->second;
    lookup.row_tiles = std::int64_t{table.untilized.c} * table.rows.table_core_c_div;
    if (lookup.stream >= 0 && lookup.numbers_per_tile > 0) return lookup;
  }
  error("OV002", plan.pipe, &out, "no pipe brings the numbers of the rows to look up");
  return std::nullopt;
}

// The kernel is told of tiles, so a read brings as many rows as make whole ones; of a table those that one tile of numbers names.
Builder::ReadSteps Builder::read_steps(const PipePlan& plan, const DramRead& read, std::int64_t room) const {
  ReadSteps steps{read.block_tiles, plan.pass_tiles};
  const Buffer& source = *plan.buffers.front();
  if (!source.rows.hw_tilize && !source.rows.embedding_table) return steps;
  if (read.lookup) {
    steps.all = plan.pass_tiles / std::max(source.untilized.c, 1);
    if (steps.all > read.lookup->numbers_per_tile) steps.all = std::gcd(steps.all, std::int64_t{read.lookup->numbers_per_tile});
  }
  const std::int64_t tile_rows = std::max(source.untilized.tile_rows, 1);
  const auto rows = checked_mul(read.block_tiles / std::gcd(read.block_tiles, tile_rows), tile_rows);
  if (rows && *rows <= room && steps.all % *rows == 0) steps.least = *rows;
  return steps;
}

}  // namespace buda::overlay
