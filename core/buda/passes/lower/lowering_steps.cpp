// The small steps of lowering: bringing values to the shape in which an op takes them, and their padding to what it can bear.
#include <buda/passes/lower/lowering.hpp>

#include <buda/base/text.hpp>
#include <buda/ops/device/device_layout.hpp>
#include <buda/ops/table/device_op.hpp>
#include <buda/passes/lower/lowering_tags.hpp>

#include <algorithm>
#include <cmath>

namespace buda::passes {

using graph::Edge;
using graph::Node;
using graph::Tm;
using graph::TmDim;
using graph::ValueRef;

namespace {

// With more than four axes the leading ones are one axis on the device, along which NumPy's rule cannot be followed piece by piece.
bool leading_axes_broadcast(const Shape& target, const Shape& four) { return four[0] != 1 && four[0] != target[0]; }

Shape leading_axes(const Shape& shape) {
  return Shape(
      std::vector<std::int64_t>(shape.begin(), shape.end() - std::min<std::ptrdiff_t>(2, static_cast<std::ptrdiff_t>(shape.rank()))));
}

// Block floats keep 7 bits of the largest of 16 neighbours: next to padding of this size numbers around 1 would be lost.
constexpr float kFarPadding = 64;

void add_broadcast(Lowered& x, TmDim dim, std::int64_t n) {
  if (n > 1) x.tms.push_back(Tm::broadcast(dim, n));
}

}  // namespace

void Lowering::mark_range(const Lowered& x) {
  if (x.far_padding) out_.node(x.source.node).tags[kWideRange] = "";
}

void Lowering::mark_exact(const Lowered& x) { out_.node(x.source.node).tags[kExact] = ""; }

Result<Lowered> Lowering::settled(const Node& n, std::string_view suffix, const Lowered& x) {
  Lowered out = x;
  out.tms.clear();
  BUDA_ASSIGN(out.source, emit(n, suffix, "nop", {x.edge()}));
  return out;
}

Result<Lowered> Lowering::without_transpose(const Node& n, std::string_view suffix, const Lowered& x) {
  return has_transpose(x.tms) ? settled(n, suffix, x) : x;
}

Result<Lowered> Lowering::stretched(const Edge& edge, const Shape& target, const Node& n) {
  Shape seen = type(edge).shape;
  Lowered x;
  bool is_known = known_.contains(edge.source);
  if (is_known) {
    BUDA_ASSIGN(x.shape, four(n, seen));
  } else {
    BUDA_ASSIGN(x, value(edge));
  }
  bool rows = x.shape[2] == 1 && target[2] > 1, cols = x.shape[3] == 1 && target[3] > 1;
  if (leading_axes_broadcast(target, x.shape))
    return refuse(n, cat("an input of shape ", seen.text(), " is broadcast along some of its leading axes and not along others"),
                  "give its leading axes all their sizes, or all 1, in the model");
  bool joins = joins_batch() && x.shape[1] != 1 && x.shape[1] != target[1];
  if (joins) {
    if (is_known) {
      BUDA_ASSIGN(x, place(edge.source, Copies::none));
    }
    BUDA_ASSIGN(x, with_leading_axes(n, x, leading_axes(seen), leading_axes(n.outputs[0].shape)));
  }
  if (is_known && !joins) {
    // A single number fills its tile for nothing, so that what it meets in the padding is what it meets in the data: a layernorm's epsilon
    // keeps the copies of its variance away from 0.
    bool number = x.shape.volume() == 1;
    BUDA_ASSIGN(x, place(edge.source, number || (rows && cols) ? Copies::both
                                      : rows                   ? Copies::rows
                                      : cols                   ? Copies::columns
                                                               : Copies::none));
  } else {
    if (cols && !x.cols_alike) {
      BUDA_ASSIGN(x, with_cols_alike(n, x));
    }
    if (rows && !x.rows_alike) {
      BUDA_ASSIGN(x, with_rows_alike(n, x));
    }
  }
  if (x.shape[1] == 1) add_broadcast(x, TmDim::z, target[1]);
  x.shape[1] = target[1];
  if (rows) {
    add_broadcast(x, TmDim::r, tiles(target[2]));
    x.rows = x.data;
    x.corner = x.cols;
    x.shape[2] = target[2];
  }
  if (cols) {
    add_broadcast(x, TmDim::c, tiles(target[3]));
    x.cols = x.data;
    x.corner = x.rows;
    x.shape[3] = target[3];
  }
  return x;
}

Result<Lowered> Lowering::with_cols_alike(const Node& n, const Lowered& given) {
  BUDA_ASSIGN(Lowered x, without_transpose(n, "copy", given));
  // Row 0 of the tile is ones, the rest zeros: out[i][j] = x[i][0].
  BUDA_ASSIGN(Lowered tile, constant(n, "columns.ones", Tensor(Shape{1, graph::kTileSide}, std::vector<float>(graph::kTileSide, 1.0f))));
  add_broadcast(tile, TmDim::z, x.shape[1]);
  tile.shape[1] = x.shape[1];
  Lowered out = after_matmul(x, tile);
  BUDA_ASSIGN(out.source, emit(n, "columns", "matmul", {x.edge(), tile.edge()}));
  out.shape[3] = 1;
  out.data = x.data;
  out.cols_alike = true;
  out.cols = out.data;
  out.corner = out.rows;
  return out;
}

Result<Lowered> Lowering::with_rows_alike(const Node& n, const Lowered& x) {
  // Column 0 of the tile is ones, the rest zeros: out[i][j] = x[0][j].
  BUDA_ASSIGN(Lowered tile, constant(n, "rows.ones", Tensor(Shape{graph::kTileSide, 1}, std::vector<float>(graph::kTileSide, 1.0f))));
  add_broadcast(tile, TmDim::z, x.shape[1]);
  tile.shape[1] = x.shape[1];
  Lowered out = after_matmul(tile, x);
  BUDA_ASSIGN(out.source, emit(n, "rows", "matmul", {tile.edge(), x.edge()}));
  out.shape[2] = 1;
  out.data = x.data;
  out.rows_alike = true;
  out.rows = out.data;
  out.corner = out.cols;
  return out;
}

// ---- padding

// A value that is `data` where a value of this shape has data (or padding of the other axis), and `padding` beyond its columns (or rows).
Result<Lowered> Lowering::padding_mask(const Node& n, const Shape& shape, bool columns, float data, float padding) {
  std::int64_t real = columns ? shape[3] : shape[2], whole = tiles(real) * graph::kTileSide;
  std::vector<float> elements;
  elements.reserve(static_cast<std::size_t>(whole * graph::kTileSide));
  for (std::int64_t i = 0; i < (columns ? graph::kTileSide : whole); ++i)
    for (std::int64_t j = 0; j < (columns ? whole : graph::kTileSide); ++j) elements.push_back((columns ? j : i) < real ? data : padding);
  Shape stored = columns ? Shape{graph::kTileSide, whole} : Shape{whole, graph::kTileSide};
  BUDA_ASSIGN(Lowered mask, constant(n, "mask", Tensor(stored, std::move(elements))));
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

Result<Lowered> Lowering::combined_with_mask(const Node& n, std::string_view op, const Lowered& x, bool columns, float data,
                                             float padding) {
  BUDA_ASSIGN(Lowered mask, padding_mask(n, x.shape, columns, data, padding));
  BUDA_ASSIGN(Lowered plain, without_transpose(n, "copy", x));
  Lowered out = after_binary(op, {}, plain, mask);
  BUDA_ASSIGN(out.source, emit(n, "masked", std::string(op), {plain.edge(), mask.edge()}));
  out.data = x.data;  // which the mask leaves as it is
  out.far_padding = out.far_padding || (columns && std::abs(padding) > kFarPadding);
  mark_range(out);
  return out;
}

Result<Lowered> Lowering::with_padding(const Node& n, const Lowered& x, bool columns, double padding) {
  if (!(columns ? x.pads_cols() : x.pads_rows())) {
    // There is none: what is known of it stands for nothing.
    Lowered out = x;
    (columns ? out.cols : out.rows) = out.corner = ValueRange::exactly(padding);
    return out;
  }
  const ValueRange& now = columns ? x.cols : x.rows;
  auto all_are = [&](double v) { return now.is(v) && x.corner.is(v); };
  if (all_are(padding)) return x;
  if (!now.finite)
    return internal_error(
        cat("node '", n.name(), "': padding that is read may hold NaN or infinities, and nothing was done about it where it was made"));
  Lowered out = x;
  // Next to zeros a corner that is not negative may stay: the sum with a positive number is as harmless as that number.
  if (!all_are(0) && !(now.is(0) && padding > 0 && x.corner.finite && x.corner.least >= 0)) {
    BUDA_ASSIGN(out, combined_with_mask(n, "multiply", out, columns, 1, 0));
  }
  if (padding != 0) {
    BUDA_ASSIGN(out, combined_with_mask(n, "add", out, columns, 0, static_cast<float>(padding)));
  }
  return out;
}

Result<Lowered> Lowering::with_added_padding(const Node& n, const Lowered& x, bool columns, double number) {
  return combined_with_mask(n, "add", x, columns, 0, static_cast<float>(number));
}

Result<Lowered> Lowering::with_cols(const Node& n, const Lowered& x, double padding) { return with_padding(n, x, true, padding); }
Result<Lowered> Lowering::with_rows(const Node& n, const Lowered& x, double padding) { return with_padding(n, x, false, padding); }

Result<Lowered> Lowering::harmless_for(const Node& n, std::string_view op, const graph::AttrMap& attrs, const Lowered& x) {
  auto harms = [&](const ValueRange& s) { return !ops::range_after(op, attrs, s).finite; };
  const ops::DeviceOp* row = ops::find_device_op(op);
  double instead = row == nullptr ? 1 : row->harmless_argument;
  Lowered out = x;
  if (out.pads_cols() && !out.cols_alike && harms(out.cols)) {
    BUDA_ASSIGN(out, with_cols(n, out, instead));
  }
  bool below = out.pads_rows() && !out.rows_alike && (harms(out.rows) || (out.pads_cols() && harms(out.corner)));
  if (below && rows_are_read(n)) {
    BUDA_ASSIGN(out, with_rows(n, out, instead));
  }
  return out;
}

}  // namespace buda::passes
