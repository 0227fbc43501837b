// SPDX-License-Identifier: Apache-2.0
// A read list has each piece at its offset; the firmware needs the rows, once. It reads `rows_per_column` of them, then the same ones
// again, a piece further to the right; how far it has to go back in the list follows from the numbers of the rows.
#include <buda/overlay/blob/blob_yaml_rows.hpp>

#include <buda/base/checked.hpp>

#include <algorithm>

namespace buda::overlay {
namespace {

// A progression is written as its first two rows, and this bit with the number of those that follow.
constexpr std::uint64_t kProgression = 0x80000000;
constexpr std::size_t kMinProgression = 5;

std::vector<std::uint64_t> shortened(const std::vector<std::uint64_t>& rows, std::size_t max_rows) {
  std::vector<std::uint64_t> out;
  for (std::size_t first = 0, end = 0; first < rows.size(); first = end) {
    end = std::min(first + 2, rows.size());
    while (end < rows.size() && end - first < max_rows && rows[end] - rows[end - 1] == rows[first + 1] - rows[first]) ++end;
    const std::size_t count = end - first;
    if (count < kMinProgression) {
      out.insert(out.end(), rows.begin() + static_cast<std::ptrdiff_t>(first), rows.begin() + static_cast<std::ptrdiff_t>(end));
    } else {
      out.insert(out.end(), {rows[first], rows[first + 1], kProgression | (count - 2)});
    }
  }
  return out;
}

}  // namespace

std::optional<RowReading> row_reading(const DramRead& read, const pipes::Buffer& source, const pipes::Buffer* target) {
  const auto& keys = source.rows;
  if (!keys.hw_tilize && !keys.embedding_table) return std::nullopt;
  RowReading out;
  out.looks_up = read.lookup.has_value();
  out.columns = std::max(source.untilized.c, 1);
  const std::int64_t row_pieces = out.columns * std::max(keys.table_core_c_div, 1);
  out.rows_per_column = keys.tilize_mblock_n_loop_num_rows;
  out.row_bytes = row_pieces * source.tile_size;
  out.tiles_per_chunk =
      ceil_div(read.chunk_tiles, std::int64_t{std::max(source.untilized.tile_rows, 1)}) * keys.table_row_size_per_core / out.columns;
  out.first_byte = target != nullptr ? target->rows.tilize_row_col_offset : 0;
  if (out.looks_up) {
    out.rows_per_pass = count_of(read.blocks) * read.block_tiles / out.columns;
    out.block_count = out.rows_per_pass / read.block_tiles;
    return out;
  }
  const std::int64_t first_piece = out.first_byte / std::max(source.tile_size, 1);
  std::vector<std::uint64_t> rows;
  for_each(read.blocks, [&](const ReadRun::Tuple& t) {
    const auto row = static_cast<std::uint64_t>((t[1] - first_piece) / row_pieces);
    if (rows.empty() || row > rows.back()) rows.push_back(row);
  });
  out.rows_per_pass = static_cast<std::int64_t>(rows.size()) * read.block_tiles;
  out.block_count = static_cast<std::int64_t>(rows.size());
  // A progression must not go beyond the rows of a column, at whose end the firmware goes back.
  const std::int64_t max_rows = out.columns > 1 ? std::max<std::int64_t>(out.rows_per_column, 1) : INT32_MAX;
  out.blocks = shortened(rows, static_cast<std::size_t>(max_rows));
  return out;
}

}  // namespace buda::overlay
