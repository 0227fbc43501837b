// SPDX-License-Identifier: Apache-2.0
// A value of the model as it stands in the device graph: where it is, what is left to do on the way to its users, and what is known of its
// padding.
#pragma once

#include <buda/graph/node.hpp>
#include <buda/graph/tm.hpp>
#include <buda/graph/values/tile_count.hpp>
#include <buda/ops/device/value_range.hpp>
#include <buda/tensor/shape.hpp>

#include <optional>
#include <string_view>
#include <vector>

namespace buda::passes {

using ops::ValueRange;

// Of integers that a device holds in Int8, padding included.
inline constexpr ValueRange kInt8Range{-127, 127, true};

// A device value is a matrix of whole tiles for each w and z:
//
//             c        padding
//        +---------+----+        data    the model's numbers
//      r |  data   |cols|        cols    right of them
//        +---------+----+        rows    below them
//        |  rows   | cor|        corner  both
//        +---------+----+
//
// Ranges say what is known of each part. A range of padding that is `finite` means that nothing worse than in the data stands there; matmul
// and reduce read padding along the axis that they take away, and there it must be finite, or zero, or very small.
struct Lowered {
  graph::ValueRef source;      // in the device graph
  std::vector<graph::Tm> tms;  // still to be done on the edge to each user
  Shape shape;                 // (w, z, r, c) of the model's numbers, as they arrive after the TMs
  ValueRange data = ValueRange::unknown();
  ValueRange rows = ValueRange::exactly(0);
  ValueRange cols = ValueRange::exactly(0);
  ValueRange corner = ValueRange::exactly(0);
  bool rows_alike = false;     // r is 1, and every other row of the tile is a copy of the one row
  bool cols_alike = false;     // c is 1, and every other column of the tile is a copy of the one column
  bool far_padding = false;    // beyond the columns stands something far larger than the data: a mask
  std::int64_t zero_cols = 0;  // so many of the last columns of the data are zeros
  // The largest number among the columns of data, in every row: below the data too, where rows come of the same ops. But for rounding.
  std::optional<double> peak;

  bool pads_rows() const { return !graph::fills_tiles(shape[2]); }
  bool pads_cols() const { return !graph::fills_tiles(shape[3]); }
  graph::Edge edge() const { return {source, tms}; }
};

// The sizes of a lowered shape with r and c in whole tiles, and the tiles along an axis.
Shape padded(const Shape& four);
std::int64_t tiles(std::int64_t datums);

bool has_transpose(const std::vector<graph::Tm>& tms);

// Ranges of the result of an elementwise op (relu attributes included).
Lowered after_unary(std::string_view op, const graph::AttrMap& attrs, const Lowered& x);
Lowered after_binary(std::string_view op, const graph::AttrMap& attrs, const Lowered& a, const Lowered& b);
// Of a matrix product. The padding along k must be such that it adds zeros.
Lowered after_matmul(const Lowered& a, const Lowered& b);
// Of adding a bias to it, as a matmul does: row 0 of each tile goes to all rows.
Lowered after_bias(const Lowered& product, const Lowered& bias);
// With r and c exchanged, by a TM.
Lowered transposed(Lowered x);

// Whether the padding along k of two factors adds zeros to their product.
bool adds_zeros(const Lowered& a, const Lowered& b);

}  // namespace buda::passes
