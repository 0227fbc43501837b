// SPDX-License-Identifier: Apache-2.0
// Tiles left out on edges, and splices with tiles of zeros.
#include <buda/passes/lower/steps/spare_tiles.hpp>

#include <buda/base/checked.hpp>
#include <buda/passes/lower/lowering_tags.hpp>
#include <buda/passes/lower/steps/copies.hpp>
#include <buda/passes/lower/steps/splices.hpp>
#include <buda/tensor/tensor.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace buda::passes {
namespace {

using graph::Tm;
using graph::TmDim;

std::int64_t filled_tiles(std::int64_t datums) { return ceil_div(datums, graph::kTileSide); }
std::int64_t spare_tiles(std::int64_t datums) { return tiles(datums) - filled_tiles(datums); }

// `other`: tiles along the other axis.
Result<Lowered> filled_up(OpBuilder& out, Lowered x, bool columns, std::int64_t other) {
  const std::int64_t side = x.shape[columns ? 3 : 2];
  const std::int64_t spare = spare_tiles(side);
  if (spare == 0) return x;
  BUDA_ASSIGN(x, without_transpose(out, "copy", x));
  constexpr std::size_t kTile = graph::kTileSide * graph::kTileSide;
  BUDA_ASSIGN(Lowered zeros,
              out.constant("spare.zeros", Tensor(Shape{graph::kTileSide, graph::kTileSide}, std::vector<float>(kTile, 0.0f))));
  add_broadcast(zeros, TmDim::z, x.shape[1]);
  add_broadcast(zeros, TmDim::r, columns ? other : spare);
  add_broadcast(zeros, TmDim::c, columns ? spare : other);
  const std::int64_t filled = filled_tiles(side);
  const auto part = [&](const Lowered& value, std::int64_t count) {
    return SplicedPart{value.edge(), {x.shape[0], x.shape[1], columns ? other : count, columns ? count : other}};
  };
  BUDA_ASSIGN(graph::Edge all, spliced_parts(out, "spare", {part(x, filled), part(zeros, spare)}, columns ? 3 : 2));
  x.source = all.source;
  x.tms = std::move(all.tms);
  out.tag(x.source, kSpareTiles, columns ? "c" : "r");
  const bool has_part = side % graph::kTileSide != 0;
  ValueRange& beyond = columns ? x.cols : x.rows;
  beyond = has_part ? hull(beyond, ValueRange::exactly(0)) : ValueRange::exactly(0);
  x.corner = has_part ? hull(x.corner, ValueRange::exactly(0)) : ValueRange::exactly(0);
  (columns ? x.cols_alike : x.rows_alike) = false;
  return x;
}

// The value as it was before it was filled up along just these axes; nothing where it was not, or where more was done to it.
std::optional<Lowered> before_filling_up(const OpBuilder& out, const Lowered& x, bool rows, bool columns) {
  const graph::Node& node = out.made(x.source);
  const auto along = node.tags.find(kSpareTiles);
  if (along == node.tags.end() || rows == columns || along->second != (columns ? "c" : "r")) return std::nullopt;
  const std::int64_t side = x.shape[columns ? 3 : 2], slices = node.outputs[0].shape[1];
  const bool is_sliced = !x.tms.empty();
  if (is_sliced && (x.shape[1] != 1 || x.tms != std::vector{columns ? Tm::hstack(slices) : Tm::vstack(slices)})) return std::nullopt;
  Lowered before = x;
  before.source = node.inputs()[0].source;
  before.tms = node.inputs()[0].tms;
  // The edge ends with a TM that slices it, if it is more than one slice.
  if (is_sliced && filled_tiles(side) > tiles(side) / slices) before.tms.pop_back();
  return before;
}

}  // namespace

Lowered before_spare_rows(const OpBuilder& out, const Lowered& x) { return before_filling_up(out, x, true, false).value_or(x); }

Result<Lowered> without_spare_tiles(OpBuilder& out, Lowered x, MatrixAxes axes) {
  const std::int64_t rows = axes.rows ? spare_tiles(x.shape[2]) : 0, columns = axes.columns ? spare_tiles(x.shape[3]) : 0;
  if (rows == 0 && columns == 0) return x;
  if (auto before = before_filling_up(out, x, rows > 0, columns > 0)) return std::move(*before);
  BUDA_ASSIGN(x, ready_for_unpad(out, x, rows > 0));
  x.tms.push_back(graph::Tm::unpad(rows, columns));
  return x;
}

Result<Lowered> with_spare_tiles(OpBuilder& out, Lowered x, MatrixAxes axes) {
  const std::int64_t rows = axes.rows ? filled_tiles(x.shape[2]) : tiles(x.shape[2]), columns = tiles(x.shape[3]);
  if (axes.columns) {
    BUDA_ASSIGN(x, filled_up(out, std::move(x), true, rows));
  }
  if (axes.rows) {
    BUDA_ASSIGN(x, filled_up(out, std::move(x), false, columns));
  }
  return x;
}

}  // namespace buda::passes
