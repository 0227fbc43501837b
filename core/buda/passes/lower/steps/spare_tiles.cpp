// SPDX-License-Identifier: Apache-2.0
// Tiles left out on edges, and splices with tiles of zeros.
#include <buda/passes/lower/steps/spare_tiles.hpp>

#include <buda/base/checked.hpp>
#include <buda/passes/lower/lowering_tags.hpp>
#include <buda/passes/lower/steps/copies.hpp>
#include <buda/tensor/tensor.hpp>

#include <string>
#include <utility>
#include <vector>

namespace buda::passes {
namespace {

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
  BUDA_ASSIGN(x.source, out.op("spare", "splice", {x.edge(), zeros.edge()}, {{"dim", std::string(columns ? "c" : "r")}}));
  out.tag(x.source, kSpareTiles, columns ? "c" : "r");
  x.tms.clear();
  const bool has_part = side % graph::kTileSide != 0;
  ValueRange& beyond = columns ? x.cols : x.rows;
  beyond = has_part ? hull(beyond, ValueRange::exactly(0)) : ValueRange::exactly(0);
  x.corner = has_part ? hull(x.corner, ValueRange::exactly(0)) : ValueRange::exactly(0);
  (columns ? x.cols_alike : x.rows_alike) = false;
  return x;
}

// Whether a value was filled up along just these axes.
bool was_filled_up(const OpBuilder& out, const Lowered& x, bool rows, bool columns) {
  const auto& tags = out.made(x.source).tags;
  const auto along = tags.find(kSpareTiles);
  return along != tags.end() && rows != columns && along->second == (columns ? "c" : "r");
}

}  // namespace

Result<Lowered> without_spare_tiles(OpBuilder& out, Lowered x, MatrixAxes axes) {
  const std::int64_t rows = axes.rows ? spare_tiles(x.shape[2]) : 0, columns = axes.columns ? spare_tiles(x.shape[3]) : 0;
  if (rows == 0 && columns == 0) return x;
  if (x.tms.empty() && was_filled_up(out, x, rows > 0, columns > 0)) {
    const graph::Edge& before = out.made(x.source).inputs()[0];
    x.tms = before.tms;
    x.source = before.source;
    return x;
  }
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
