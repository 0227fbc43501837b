// SPDX-License-Identifier: Apache-2.0
// Masks: constants of zeros and ones by which a value is multiplied, and numbers that are added to its padding alone.
#include <buda/passes/lower/steps/padding.hpp>

#include <buda/base/text.hpp>
#include <buda/ops/table/device_op.hpp>
#include <buda/passes/lower/steps/copies.hpp>
#include <buda/tensor/tensor.hpp>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace buda::passes {

using graph::TmDim;

namespace {

// Block floats keep 7 bits of the largest of 16 neighbours: next to padding of this size numbers around 1 would be lost.
constexpr float kFarPadding = 64;
// The lowest number of bfloat16, which no data are below but an infinity. Formats with narrower exponents saturate; an infinity would spoil
// the block floats beside it.
constexpr float kLeast = -3.3895313892515355e38f;

// A value that is `data` where a value of this shape has data (or padding of the other axis), and `padding` beyond its columns (or rows).
Result<Lowered> padding_mask(OpBuilder& out, const Shape& shape, bool columns, float data, float padding) {
  std::int64_t real = columns ? shape[3] : shape[2], whole = tiles(real) * graph::kTileSide;
  std::vector<float> elements;
  elements.reserve(static_cast<std::size_t>(whole * graph::kTileSide));
  for (std::int64_t i = 0; i < (columns ? graph::kTileSide : whole); ++i)
    for (std::int64_t j = 0; j < (columns ? whole : graph::kTileSide); ++j) elements.push_back((columns ? j : i) < real ? data : padding);
  Shape stored = columns ? Shape{graph::kTileSide, whole} : Shape{whole, graph::kTileSide};
  BUDA_ASSIGN(Lowered mask, out.constant("mask", Tensor(stored, std::move(elements))));
  add_broadcast(mask, TmDim::z, shape[1]);
  if (columns) add_broadcast(mask, TmDim::r, tiles(shape[2]));
  if (!columns) add_broadcast(mask, TmDim::c, tiles(shape[3]));
  mask.shape = {1, shape[1], shape[2], shape[3]};
  mask.data = ValueRange::exactly(data);
  mask.rows = columns ? mask.data : ValueRange::exactly(padding);
  mask.cols = columns ? ValueRange::exactly(padding) : mask.data;
  mask.corner = ValueRange::exactly(padding);
  (columns ? mask.rows_alike : mask.cols_alike) = true;
  return mask;
}

// `most`: what the padding of the mask is known to be no larger than.
Result<Lowered> combined_with_mask(OpBuilder& out, std::string_view op, const Lowered& x, bool columns, float data, float padding,
                                   double most) {
  BUDA_ASSIGN(Lowered mask, padding_mask(out, x.shape, columns, data, padding));
  (columns ? mask.cols : mask.rows) = mask.corner = ValueRange::exactly(most);
  BUDA_ASSIGN(Lowered plain, without_transpose(out, "copy", x));
  Lowered result = after_binary(op, {}, plain, mask);
  BUDA_ASSIGN(result.source, out.op("masked", std::string(op), {plain.edge(), mask.edge()}));
  result.data = x.data;  // which the mask leaves as it is
  result.far_padding = result.far_padding || (columns && std::abs(padding) > kFarPadding);
  out.mark_range(result);
  return result;
}

Result<Lowered> with_padding(OpBuilder& out, const Lowered& x, bool columns, double padding) {
  Lowered result = x;
  if (!(columns ? x.pads_cols() : x.pads_rows())) {
    // There is none: what is known of it has no meaning.
    (columns ? result.cols : result.rows) = result.corner = ValueRange::exactly(padding);
    return result;
  }
  const ValueRange& now = columns ? x.cols : x.rows;
  auto all_are = [&](double v) { return now.is(v) && x.corner.is(v); };
  if (all_are(padding)) return x;
  if (!now.finite)
    return internal_error(cat("node '", out.node().name(),
                              "': padding that is read may hold NaN or infinities, and nothing was done about it where it was made"));
  // Next to zeros a corner that is not negative may stay: the sum with a positive number is as harmless as that number.
  if (!all_are(0) && !(now.is(0) && padding > 0 && x.corner.finite && x.corner.least >= 0)) {
    BUDA_ASSIGN(result, combined_with_mask(out, "multiply", result, columns, 1, 0, 0));
  }
  if (padding != 0) {
    BUDA_ASSIGN(result, combined_with_mask(out, "add", result, columns, 0, static_cast<float>(padding), padding));
  }
  return result;
}

}  // namespace

Result<Lowered> with_column_padding(OpBuilder& out, const Lowered& x, double padding) { return with_padding(out, x, true, padding); }
Result<Lowered> with_row_padding(OpBuilder& out, const Lowered& x, double padding) { return with_padding(out, x, false, padding); }

Result<Lowered> with_least_padding(OpBuilder& out, const Lowered& x, bool columns, double known) {
  return combined_with_mask(out, "add", x, columns, 0, kLeast, known);
}

Result<Lowered> harmless_for(OpBuilder& out, std::string_view op, const graph::AttrMap& attrs, const Lowered& x) {
  auto harms = [&](const ValueRange& s) { return !ops::range_after(op, attrs, s).finite; };
  const ops::DeviceOp* row = ops::find_device_op(op);
  double instead = row == nullptr ? 1 : row->harmless_argument;
  Lowered result = x;
  if (result.pads_cols() && !result.cols_alike && harms(result.cols)) {
    BUDA_ASSIGN(result, with_column_padding(out, result, instead));
  }
  bool below = result.pads_rows() && !result.rows_alike && (harms(result.rows) || (result.pads_cols() && harms(result.corner)));
  if (below && out.rows_are_read()) {
    BUDA_ASSIGN(result, with_row_padding(out, result, instead));
  }
  return result;
}

}  // namespace buda::passes
