// SPDX-License-Identifier: Apache-2.0
// From numbers of rows to tiles.
#include <buda/balance/problem/selection.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/tags/tile_rows.hpp>
#include <buda/graph/tm.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <map>

namespace buda::balance {
namespace {

// The entries of `picks` and `weights` as matrices of one row for each term and slice.
struct Entries {
  std::span<const std::int32_t> rows;
  std::span<const float> factors;  // empty: 1
  std::int64_t terms = 0, slices = 1, columns = 0;

  std::size_t at(std::int64_t term, std::int64_t slice, std::int64_t column) const {
    return static_cast<std::size_t>((term * slices + slice) * columns + column);
  }
};

// Tiles of one tile row of the result, by tile row of the activations.
using TilesOfRow = std::map<std::int32_t, std::map<std::int16_t, float>>;

Result<TilesOfRow> tiles_of_row(const Entries& entries, const SelectionShape& shape, std::int32_t slice, std::int32_t row) {
  constexpr std::int64_t kTile = graph::kTileSide;
  TilesOfRow out;
  const std::int64_t of = entries.slices == 1 ? 0 : slice, matrix = shape.act_matrices == 1 ? 0 : slice;
  const std::int64_t begin = row * kTile, end = std::min(begin + kTile, entries.columns);
  const std::int64_t rows_there = std::int64_t{shape.act_rows} * kTile;
  for (std::int64_t term = 0; term < entries.terms; ++term)
    for (std::int64_t r = begin; r < end; ++r) {
      const std::size_t at = entries.at(term, of, r);
      if (entries.rows[at] == 0) continue;
      if (entries.rows[at] < 0 || entries.rows[at] > rows_there)
        return input_error("BL003", {},
                           cat("its selection matrix names row ", entries.rows[at], ", and the other operand has ", rows_there));
      const std::int64_t source_row = entries.rows[at] - 1 + matrix * rows_there;
      const float factor = entries.factors.empty() ? 1.0f : entries.factors[at];
      out[static_cast<std::int32_t>(source_row / kTile)][static_cast<std::int16_t>((r - begin) * kTile + source_row % kTile)] += factor;
    }
  return out;
}

}  // namespace

Result<SelectionMatrix> selection_matrix(const Selection& selection, const SelectionShape& shape) {
  const Shape& s = selection.picks->shape();
  if (s.rank() < 2 || selection.slices < 1 || (selection.weights != nullptr && selection.weights->shape() != s))
    return input_error("BL003", {}, cat("a selection matrix of shape ", s.text(), " is not a matrix of ", selection.slices, " slices"));
  const Tensor picks = selection.picks->cast(DType::i32);
  const Tensor weights = selection.weights == nullptr ? Tensor() : selection.weights->cast(DType::f32);
  Entries entries;
  entries.rows = picks.as<std::int32_t>();
  if (selection.weights != nullptr) entries.factors = weights.as<float>();
  entries.slices = selection.slices;
  entries.columns = s[s.rank() - 1];
  // Rows beyond the last term are padding.
  entries.terms = s[s.rank() - 2] / selection.slices;
  SelectionMatrix out;
  out.slices = shape.slices;
  out.rows = shape.rows;
  out.act_matrices = shape.act_matrices;
  out.act_rows = shape.act_rows;
  std::map<SelectionMatrix::Tile, std::int32_t> known;
  for (std::int32_t slice = 0; slice < shape.slices; ++slice)
    for (std::int32_t row = 0; row < shape.rows; ++row) {
      out.first.push_back(out.products.size());
      BUDA_ASSIGN(const TilesOfRow tiles, tiles_of_row(entries, shape, slice, row));
      for (const auto& [act, numbers] : tiles) {
        SelectionMatrix::Tile tile;
        for (const auto& [place, value] : numbers)
          if (value != 0) tile.emplace_back(place, value);
        if (tile.empty()) continue;
        out.ones = out.ones && std::all_of(tile.begin(), tile.end(), [](const auto& n) { return n.second == 1.0f; });
        auto [found, is_new] = known.try_emplace(tile, static_cast<std::int32_t>(out.tiles.size()));
        if (is_new) out.tiles.push_back(std::move(tile));
        out.products.push_back({slice * shape.rows + row, act, found->second});
      }
    }
  out.first.push_back(out.products.size());
  return out;
}

}  // namespace buda::balance
