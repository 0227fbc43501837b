// SPDX-License-Identifier: Apache-2.0
// Rows of a queue in flat layout, shared out among the cores of an op.
#include <buda/ops/table/op_traits.hpp>
#include <buda/tiling/flat_rows.hpp>

#include <buda/base/text.hpp>
#include <buda/netlist/model/op_shapes.hpp>
#include <buda/tensor/data_format.hpp>

namespace buda::tiling {

using netlist::Op;
using netlist::OperandRole;

namespace {

constexpr std::int64_t kMaxBlockBytes = 64 * 1024;  // of one read

}  // namespace

bool takes_rows(const Op& op, std::size_t input) {
  const OperandRole role = operand_row(op, input).role;
  return role == OperandRole::rows || role == OperandRole::table;
}

std::variant<RowCut, std::string> cut_rows(const TileLayout& rows, TileDim dim, const Op& op) {
  const auto& b = rows.block;
  const bool looks_up = ops::looks_up_rows(op.type);
  const std::int32_t tile_rows = dim.rows;
  if (op.grid.cols % rows.grid.cols != 0 || (!looks_up && op.grid.rows % rows.grid.rows != 0))
    return cat("a grid of ", op.grid.rows, 'x', op.grid.cols, " cores cannot share ", rows.grid.rows, 'x', rows.grid.cols,
               " buffers of rows alike");
  RowCut cut;
  cut.across = op.grid.cols / rows.grid.cols;
  if (b.mblock_n % cut.across != 0)
    return cat("rows of ", b.mblock_n, " ublocks cannot be cut for ", cut.across, " cores; cuts are between ublocks only");
  cut.columns = b.mblock_n / cut.across;
  cut.piece_bytes = tile_datum_bytes(op.inputs[0].format, dim) / tile_rows * b.ublock_ct;
  if (looks_up) {
    if (rows.grid.rows != 1) return cat("the rows of a table lie in one buffer from first to last, not in ", rows.grid.rows);
    cut.buffer_rows = cut.rows = cut.rows_per_column = op.attributes.num_indices;
    cut.rows_at_once = tile_rows;
    return cut;
  }
  if (rows.shape() != op.shape())
    return cat("the rows that arrive are ", rows.shape().text(), " tiles, and the op makes ", op.shape().text());
  cut.down = op.grid.rows / rows.grid.rows;
  if (b.mblock_m % cut.down != 0)
    return cat("columns of ", b.mblock_m, " ublocks cannot be cut for ", cut.down, " cores; cuts are between ublocks only");
  cut.planes = b.t;
  cut.buffer_rows = std::int64_t{b.mblock_m} * b.ublock_rt * tile_rows;
  cut.rows = cut.buffer_rows / cut.down;
  cut.rows_at_once = std::int64_t{b.ublock_rt} * tile_rows;
  cut.rows_per_column = op.ublock_order == netlist::UblockOrder::r ? cut.rows_at_once : cut.rows;
  // A buffer with a single column of pieces can be read some rows at a time.
  if (b.mblock_n == 1 && std::int64_t{tile_rows} * cut.piece_bytes <= kMaxBlockBytes) cut.block_rows = tile_rows;
  return cut;
}

EdgeRoutes route_rows(const RowCut& cut, const TileLayout& rows, GridShape consumer) {
  EdgeRoutes out;
  out.window = cut.planes * cut.buffer_rows;
  out.granularity = cut.block_rows;
  out.scattered = true;
  for (std::int32_t core = 0; core < consumer.volume(); ++core) {
    PipeRoute pipe;
    pipe.destinations = {core};
    std::int32_t buffer = core / consumer.cols / cut.down % rows.grid.rows * rows.grid.cols + core % consumer.cols / cut.across;
    for (std::int64_t plane = 0; plane < cut.planes; ++plane)
      for (std::int64_t row = 0; row < cut.rows; row += cut.rows_per_column)
        for (std::int64_t column = 0; column < cut.columns; ++column)
          pipe.tiles.add({buffer, plane * cut.buffer_rows + row, cut.rows_per_column});
    out.pipes.push_back(std::move(pipe));
  }
  return out;
}

}  // namespace buda::tiling
