// Lowering of reductions.
//
// Maximum: the device's op `reduce`, one axis at a time. What stands in the padding along the axis takes part, so it is made very negative
// first, unless it is known to be no larger than the data (zeros after a ReLU).
//
// Sum and mean: products with constants, which the matrix unit does best. Along c: x times a matrix whose first n rows are all ones (or
// 1/n) and whose others are zero; that takes no account of padding, and puts the sum into every column of the tile, where an elementwise op
// that follows wants it (a softmax's divisor, a layernorm's mean). Along r the same from the left. Where n is a multiple of 32 the matrix
// is one tile, broadcast. Along z: x times the unit matrix, accumulated over z.
#include <buda/base/text.hpp>
#include <buda/passes/lower/lowering_rules.hpp>

#include <algorithm>
#include <utility>

namespace buda::passes {
namespace {

using graph::AttrMap;
using graph::Node;
using graph::Tm;
using graph::TmDim;

// Far below what models compute with; exact in bf16 (a power of two), and, being no more negative than it must be, without danger of
// overflow in what follows. The largest of all data in a row must be above half of it.
constexpr double kVeryNegative = -1048576;
constexpr double kVeryNegativeF16 = -32768;
// Which part of that number padding may add to it: beyond this it is set to zero first.
constexpr double kMostPadding = 1.0 / 16;
// A unit matrix of this size has 16 MiB.
constexpr std::int64_t kMostUnitColumns = 2048;

enum class ReduceKind : std::uint8_t { sum, mean, maximum };

ReduceKind kind_of(const Node& n) {
  return n.op() == "reduce_max" ? ReduceKind::maximum : n.op() == "reduce_avg" ? ReduceKind::mean : ReduceKind::sum;
}

// What is reduced: axes among (z, r, c), leaving out those of size 1; and for z the slices in the order in which those that become one are
// neighbours, and how many these are.
struct Reduced {
  std::vector<std::size_t> axes;
  std::vector<std::int64_t> slices;
  std::int64_t group = 1;
};

// For the axes that are z together: slices that differ in reduced axes alone side by side.
void group_slices(const Shape& leading, const std::vector<char>& is_reduced, Reduced& out) {
  std::vector<std::int64_t> strides = leading.strides();
  out.slices = {0};
  for (bool reduced : {false, true})
    for (std::size_t i = 0; i < leading.rank(); ++i) {
      if ((is_reduced[i] != 0) != reduced) continue;
      if (reduced) out.group *= leading[i];
      std::vector<std::int64_t> next;
      for (std::int64_t outer : out.slices)
        for (std::int64_t k = 0; k < leading[i]; ++k) next.push_back(outer + k * strides[i]);
      out.slices = std::move(next);
    }
}

Result<Reduced> reduced_axes(Lowering& l, const Node& n) {
  const Shape& shape = l.type(n.inputs()[0]).shape;
  std::vector<std::int64_t> dims = l.attrs(n).integers("dims");
  if (dims.empty())
    for (std::size_t i = 0; i < shape.rank(); ++i) dims.push_back(static_cast<std::int64_t>(i));
  std::size_t leading = shape.rank() < 2 ? 0 : shape.rank() - 2, first = l.joins_batch() || leading == 0 ? 0 : leading - 1;
  std::vector<char> is_reduced(leading, 0);
  Reduced out;
  for (std::int64_t dim : dims) {
    std::size_t axis = *shape.axis(dim);
    if (shape[axis] == 1) continue;
    if (axis < leading) is_reduced[axis] = 1;
    if (axis < first)
      return l.refuse(n, cat("axis ", axis, " is the batch, which the device works through one after the other"),
                      "reduce over the last three axes only, or reshape the value so that it has fewer than four");
    std::size_t on_device = axis < leading ? 1 : axis + 4 - shape.rank();
    if (std::find(out.axes.begin(), out.axes.end(), on_device) == out.axes.end()) out.axes.push_back(on_device);
  }
  // The last axis first: it leaves the smallest intermediate results.
  std::sort(out.axes.rbegin(), out.axes.rend());
  group_slices(Shape(std::vector<std::int64_t>(shape.begin() + static_cast<std::ptrdiff_t>(first),
                                               shape.begin() + static_cast<std::ptrdiff_t>(leading))),
               {is_reduced.begin() + static_cast<std::ptrdiff_t>(first), is_reduced.end()}, out);
  return out;
}

// ---- maximum

// A value whose columns (rows) beyond the end are no larger than its data.
Result<Lowered> masked(Lowering& l, const Node& n, const Lowered& x, bool columns) {
  bool pads = columns ? x.pads_cols() : x.pads_rows();
  const ValueRange& padding = columns ? x.cols : x.rows;
  if (!pads || (padding.finite && padding.most <= x.data.least)) return x;
  double negative = l.type(n.inputs()[0]).dtype == DType::f16 ? kVeryNegativeF16 : kVeryNegative;
  Lowered out = x;
  if (!padding.finite || padding.most > -negative * kMostPadding) {
    BUDA_ASSIGN(out, columns ? l.with_cols(n, out, 0) : l.with_rows(n, out, 0));
  }
  return l.with_added_padding(n, out, columns, negative);
}

Result<Lowered> maximum_of_slices(Lowering& l, const Node& n, std::string_view suffix, const Lowered& given, std::int64_t group) {
  BUDA_ASSIGN(Lowered out, l.without_transpose(n, "copy", given));
  BUDA_ASSIGN(out.source,
              l.emit(n, suffix, "reduce", {out.edge()}, {{"dim", std::string("z")}, {"type", std::string("max")}, {"z", group}}));
  out.tms.clear();
  out.shape[1] /= group;
  out.peak.reset();
  return out;
}

Result<Lowered> maximum(Lowering& l, const Node& n, std::string_view suffix, const Lowered& given, std::size_t axis, bool only) {
  bool columns = axis == 3;
  BUDA_ASSIGN(Lowered x, masked(l, n, given, columns));
  bool is_masked = x.source != given.source;
  BUDA_ASSIGN(x, l.without_transpose(n, "copy", x));
  if (columns && only) l.masked_for_max[n.inputs()[0].source] = {n.id(), x, is_masked};
  Lowered out = x;
  out.tms.clear();
  BUDA_ASSIGN(out.source,
              l.emit(n, suffix, "reduce", {x.edge()}, {{"dim", std::string(columns ? "c" : "r")}, {"type", std::string("max")}}));
  // The result stands in the first column (row), and zeros beside it.
  out.shape[axis] = 1;
  out.peak.reset();
  out.rows_alike = out.cols_alike = false;
  out.corner = ValueRange::exactly(0);
  if (columns) {
    out.cols = ValueRange::exactly(0);
    if (x.pads_cols()) out.rows = hull(x.rows, x.corner);
  } else {
    out.rows = ValueRange::exactly(0);
    if (x.pads_rows()) out.cols = hull(x.cols, x.corner);
  }
  return out;
}

// ---- sum and mean

// A matrix that is `factor` in its first n rows (columns) and 0 in the others, one tile wide (high); one tile for whole tiles.
Result<Lowered> ones(Lowering& l, const Node& n, const Lowered& x, bool columns, double factor) {
  std::int64_t count = x.shape[columns ? 3 : 2];
  bool whole = count % graph::kTileSide == 0;
  std::int64_t stored = whole ? graph::kTileSide : count;
  Tensor tensor(columns ? Shape{stored, graph::kTileSide} : Shape{graph::kTileSide, stored},
                std::vector<float>(static_cast<std::size_t>(stored * graph::kTileSide), static_cast<float>(factor)));
  BUDA_ASSIGN(Lowered out, l.constant(n, "ones", tensor));
  if (x.shape[1] > 1) out.tms.push_back(Tm::broadcast(TmDim::z, x.shape[1]));
  if (whole && count > graph::kTileSide) out.tms.push_back(Tm::broadcast(columns ? TmDim::r : TmDim::c, tiles(count)));
  out.shape = columns ? Shape{1, x.shape[1], count, 1} : Shape{1, x.shape[1], 1, count};
  (columns ? out.cols_alike : out.rows_alike) = true;
  (columns ? out.cols : out.rows) = out.data;
  return out;
}

Result<Lowered> sum_along(Lowering& l, const Node& n, std::string_view suffix, const Lowered& given, bool columns, double factor) {
  BUDA_ASSIGN(Lowered by, ones(l, n, given, columns, factor));
  Lowered x = given;
  Lowered out;
  if (columns) {
    BUDA_ASSIGN(x, l.without_transpose(n, "copy", x));
    out = after_matmul(x, by);
    BUDA_ASSIGN(out.source, l.emit(n, suffix, "matmul", {x.edge(), by.edge()}));
    // A sum of what is not negative is no less than its largest part; half of that leaves room for rounding.
    double least = x.peak.value_or(0) * factor / 2;
    for (auto [sum, of] : {std::pair(&out.data, &x.data), std::pair(&out.rows, &x.rows)})
      if (of->least >= 0) sum->least = std::max(sum->least, least);
    out.cols = out.data;
    out.corner = out.rows;
  } else {
    out = after_matmul(by, x);
    BUDA_ASSIGN(out.source, l.emit(n, suffix, "matmul", {by.edge(), x.edge()}));
    out.rows = out.data;
    out.corner = out.cols;
  }
  return out;
}

Result<Lowered> sum_of_slices(Lowering& l, const Node& n, std::string_view suffix, const Lowered& given, std::int64_t group,
                              double factor) {
  std::int64_t size = tiles(given.shape[3]) * graph::kTileSide, z = given.shape[1];
  if (size > kMostUnitColumns)
    return l.refuse(n,
                    cat("a sum over ", group, " slices needs a unit matrix of ", size, " columns; at most ", kMostUnitColumns, " are made"),
                    "transpose the value in the model so that the sum runs over the last two axes");
  BUDA_ASSIGN(Lowered x, l.without_transpose(n, "copy", given));
  std::vector<float> elements(static_cast<std::size_t>(size * size), 0.0f);
  for (std::int64_t i = 0; i < size; ++i) elements[static_cast<std::size_t>(i * size + i)] = static_cast<float>(factor);
  BUDA_ASSIGN(Lowered unit, l.constant(n, "unit", Tensor(Shape{size, size}, std::move(elements))));
  unit.tms.push_back(Tm::broadcast(TmDim::z, z));
  Lowered out = x;
  out.tms.clear();
  BUDA_ASSIGN(out.source, l.emit(n, suffix, "matmul", {x.edge(), unit.edge()}, {{"accumulate", true}, {"z", group}}));
  out.shape[1] /= group;
  out.peak.reset();
  double n_times = static_cast<double>(group) * factor;
  for (ValueRange* s : {&out.data, &out.rows, &out.cols, &out.corner}) *s = times(*s, n_times);
  // A row with infinities in its padding would come out as NaN in all its columns.
  if (!x.rows.finite || (x.pads_cols() && !x.corner.finite)) out.rows.finite = out.corner.finite = false;
  return out;
}

// ----

Result<Lowered> lower_reduction(Lowering& l, const Node& n) {
  BUDA_ASSIGN(Reduced reduced, reduced_axes(l, n));
  const std::vector<std::size_t>& axes = reduced.axes;
  BUDA_ASSIGN(Lowered x, l.value(n.inputs()[0]));
  Shape kept = x.shape;
  for (std::size_t axis : axes) kept[axis] = axis == 1 ? kept[axis] / reduced.group : 1;
  BUDA_ASSIGN(Shape wanted, l.four(n, n.outputs[0].shape));
  ReduceKind kind = kind_of(n);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    bool last = i + 1 == axes.size() && kept == wanted;
    std::string suffix = last ? "" : axes[i] == 3 ? "c" : axes[i] == 2 ? "r" : "z";
    std::int64_t count = axes[i] == 1 ? reduced.group : x.shape[axes[i]];
    double factor = kind == ReduceKind::mean ? 1.0 / static_cast<double>(count) : 1.0;
    if (axes[i] == 1) {
      BUDA_ASSIGN(x, l.with_slices(n, x, reduced.slices));
      BUDA_ASSIGN(x,
                  kind == ReduceKind::maximum ? maximum_of_slices(l, n, suffix, x, count) : sum_of_slices(l, n, suffix, x, count, factor));
    } else if (kind == ReduceKind::maximum) {
      BUDA_ASSIGN(x, maximum(l, n, suffix, x, axes[i], axes.size() == 1));
    } else {
      BUDA_ASSIGN(x, sum_along(l, n, suffix, x, axes[i] == 3, factor));
    }
  }
  Rearrangement without_axes(kept);
  without_axes.reshape(wanted);
  return l.rearranged(n, std::move(x), without_axes);
}

}  // namespace

const std::vector<LoweringRule>& reduce_rules() {
  static const std::vector<LoweringRule> rules = {
      {"reduce_max", lower_reduction}, {"reduce_sum", lower_reduction}, {"reduce_avg", lower_reduction}};
  return rules;
}

}  // namespace buda::passes
