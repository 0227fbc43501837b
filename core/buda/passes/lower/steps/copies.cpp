// SPDX-License-Identifier: Apache-2.0
// Nops, and products with tiles of ones.
#include <buda/passes/lower/steps/copies.hpp>
#include <buda/tensor/tensor.hpp>

#include <cstdint>
#include <variant>
#include <vector>

namespace buda::passes {

using graph::Tm;
using graph::TmDim;

void add_broadcast(Lowered& x, TmDim dim, std::int64_t n) {
  if (n > 1) x.tms.push_back(Tm::broadcast(dim, n));
}

Result<Lowered> materialized(OpBuilder& out, std::string_view suffix, const Lowered& x) {
  Lowered copy = x;
  copy.tms.clear();
  BUDA_ASSIGN(copy.source, out.op(suffix, "nop", {x.edge()}));
  return copy;
}

Result<Lowered> without_transpose(OpBuilder& out, std::string_view suffix, const Lowered& x) {
  if (!has_transpose(x.tms)) return x;
  // What is repeated behind it is copied once.
  Lowered once = x;
  while (once.tms.back().kind == graph::TmKind::broadcast) once.tms.pop_back();
  const std::vector<Tm> repeated(x.tms.begin() + static_cast<std::ptrdiff_t>(once.tms.size()), x.tms.end());
  BUDA_ASSIGN(Lowered copy, materialized(out, suffix, once));
  copy.tms = repeated;
  return copy;
}

Result<Lowered> ready_for_unpad(OpBuilder& out, const Lowered& x, bool rows) {
  const graph::Node& source = out.made(x.source);
  const auto slices = source.attrs.find("slices");
  const bool lies_below = rows && slices != source.attrs.end() && std::get<std::int64_t>(slices->second) > 1;
  return x.tms.empty() && !lies_below ? x : materialized(out, "copy", x);
}

Result<Lowered> with_columns_alike(OpBuilder& out, const Lowered& given) {
  BUDA_ASSIGN(Lowered x, without_transpose(out, "copy", given));
  // Row 0 of the tile is ones, the rest zeros: result[i][j] = x[i][0].
  BUDA_ASSIGN(Lowered tile, out.constant("columns.ones", Tensor(Shape{1, graph::kTileSide}, std::vector<float>(graph::kTileSide, 1.0f))));
  add_broadcast(tile, TmDim::z, x.shape[1]);
  tile.shape[1] = x.shape[1];
  Lowered result = after_matmul(x, tile);
  BUDA_ASSIGN(result.source, out.op("columns", "matmul", {x.edge(), tile.edge()}));
  result.shape[3] = 1;
  result.data = x.data;
  result.cols_alike = true;
  result.cols = result.data;
  result.corner = result.rows;
  return result;
}

Result<Lowered> with_rows_alike(OpBuilder& out, const Lowered& x) {
  // Column 0 of the tile is ones, the rest zeros: result[i][j] = x[0][j].
  BUDA_ASSIGN(Lowered tile, out.constant("rows.ones", Tensor(Shape{graph::kTileSide, 1}, std::vector<float>(graph::kTileSide, 1.0f))));
  add_broadcast(tile, TmDim::z, x.shape[1]);
  tile.shape[1] = x.shape[1];
  Lowered result = after_matmul(tile, x);
  BUDA_ASSIGN(result.source, out.op("rows", "matmul", {tile.edge(), x.edge()}));
  result.shape[2] = 1;
  result.data = x.data;
  result.rows_alike = true;
  result.rows = result.data;
  result.corner = result.cols;
  return result;
}

}  // namespace buda::passes
