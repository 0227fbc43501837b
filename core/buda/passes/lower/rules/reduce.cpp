// SPDX-License-Identifier: Apache-2.0
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
#include <buda/passes/lower/rules/rules.hpp>
#include <buda/passes/lower/steps/copies.hpp>
#include <buda/passes/lower/steps/gather.hpp>
#include <buda/passes/lower/steps/padding.hpp>
#include <buda/passes/lower/steps/rearrange.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace buda::passes {
namespace {

using graph::Tm;
using graph::TmDim;

// What is known of padding that was made very negative. It is the lowest number, so that a row of masks only, of whatever size, has its own
// maximum; ranges that follow are computed with a number, which is far below what models compute with.
constexpr double kVeryNegative = -1048576;
constexpr double kVeryNegativeF16 = -32768;
// Which part of that number padding may add to it: beyond this it is set to zero first.
constexpr double kMaxPadding = 1.0 / 16;
// A unit matrix of this size has 16 MiB.
constexpr std::int64_t kMaxUnitColumns = 2048;

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

Result<Reduced> reduced_axes(const Operands& in, const OpBuilder& out) {
  const Shape& shape = in.type(0).shape;
  std::vector<std::int64_t> dims = in.attrs().integers("dims");
  if (dims.empty())
    for (std::size_t i = 0; i < shape.rank(); ++i) dims.push_back(static_cast<std::int64_t>(i));
  std::size_t leading = shape.rank() < 2 ? 0 : shape.rank() - 2, first = out.joins_batch() || leading == 0 ? 0 : leading - 1;
  std::vector<char> is_reduced(leading, 0);
  Reduced reduced;
  for (std::int64_t dim : dims) {
    std::size_t axis = *shape.axis(dim);
    if (shape[axis] == 1) continue;
    if (axis < leading) is_reduced[axis] = 1;
    if (axis < first)
      return out.refuse(cat("axis ", axis, " is the batch, whose elements the device processes one after the other"),
                        "reduce over the last three axes only, or reshape the value so that it has fewer than four");
    std::size_t on_device = axis < leading ? 1 : axis + 4 - shape.rank();
    if (std::find(reduced.axes.begin(), reduced.axes.end(), on_device) == reduced.axes.end()) reduced.axes.push_back(on_device);
  }
  // The last axis first: it leaves the smallest intermediate results.
  std::sort(reduced.axes.rbegin(), reduced.axes.rend());
  group_slices(Shape(std::vector<std::int64_t>(shape.begin() + static_cast<std::ptrdiff_t>(first),
                                               shape.begin() + static_cast<std::ptrdiff_t>(leading))),
               {is_reduced.begin() + static_cast<std::ptrdiff_t>(first), is_reduced.end()}, reduced);
  return reduced;
}

// ---- maximum

// A value whose columns (rows) beyond the end are no larger than its data. `dtype`: in the model.
Result<Lowered> masked(OpBuilder& out, const Lowered& x, bool columns, DType dtype) {
  bool pads = columns ? x.pads_cols() : x.pads_rows();
  const ValueRange& padding = columns ? x.cols : x.rows;
  if (!pads || (padding.finite && padding.most <= x.data.least)) return x;
  double negative = dtype == DType::f16 ? kVeryNegativeF16 : kVeryNegative;
  Lowered result = x;
  if (!padding.finite || padding.most > -negative * kMaxPadding) {
    BUDA_ASSIGN(result, columns ? with_column_padding(out, result, 0) : with_row_padding(out, result, 0));
  }
  return with_least_padding(out, result, columns, negative);
}

Result<Lowered> maximum_of_slices(OpBuilder& out, std::string_view suffix, const Lowered& given, std::int64_t group) {
  BUDA_ASSIGN(Lowered result, without_transpose(out, "copy", given));
  BUDA_ASSIGN(result.source,
              out.op(suffix, "reduce", {result.edge()}, {{"dim", std::string("z")}, {"type", std::string("max")}, {"z", group}}));
  result.tms.clear();
  result.shape[1] /= group;
  result.peak.reset();
  return result;
}

struct Maximum {
  Lowered result;
  Lowered argument;  // perhaps masked
  bool is_masked = false;
};

Result<Maximum> maximum(OpBuilder& out, std::string_view suffix, const Lowered& given, std::size_t axis, DType dtype) {
  bool columns = axis == 3;
  BUDA_ASSIGN(Lowered x, masked(out, given, columns, dtype));
  bool is_masked = x.source != given.source;
  BUDA_ASSIGN(x, without_transpose(out, "copy", x));
  Lowered result = x;
  result.tms.clear();
  BUDA_ASSIGN(result.source,
              out.op(suffix, "reduce", {x.edge()}, {{"dim", std::string(columns ? "c" : "r")}, {"type", std::string("max")}}));
  // The result stands in the first column (row), and zeros beside it.
  result.shape[axis] = 1;
  result.peak.reset();
  result.rows_alike = result.cols_alike = false;
  result.corner = ValueRange::exactly(0);
  if (columns) {
    result.cols = ValueRange::exactly(0);
    if (x.pads_cols()) result.rows = hull(x.rows, x.corner);
  } else {
    result.rows = ValueRange::exactly(0);
    if (x.pads_rows()) result.cols = hull(x.cols, x.corner);
  }
  return Maximum{std::move(result), std::move(x), is_masked};
}

// ---- sum and mean

// A matrix that is `factor` in its first n rows (columns) and 0 in the others, one tile wide (high); one tile for whole tiles.
Result<Lowered> ones(OpBuilder& out, const Lowered& x, bool columns, double factor) {
  std::int64_t count = x.shape[columns ? 3 : 2];
  bool whole = graph::fills_tiles(count);
  std::int64_t stored = whole ? graph::kTileSide : count;
  Tensor tensor(columns ? Shape{stored, graph::kTileSide} : Shape{graph::kTileSide, stored},
                std::vector<float>(static_cast<std::size_t>(stored * graph::kTileSide), static_cast<float>(factor)));
  BUDA_ASSIGN(Lowered matrix, out.constant("ones", tensor));
  add_broadcast(matrix, TmDim::z, x.shape[1]);
  if (whole) add_broadcast(matrix, columns ? TmDim::r : TmDim::c, tiles(count));
  matrix.shape = columns ? Shape{1, x.shape[1], count, 1} : Shape{1, x.shape[1], 1, count};
  (columns ? matrix.cols_alike : matrix.rows_alike) = true;
  (columns ? matrix.cols : matrix.rows) = matrix.data;
  return matrix;
}

Result<Lowered> sum_of_columns(OpBuilder& out, std::string_view suffix, const Lowered& given, double factor) {
  BUDA_ASSIGN(Lowered by, ones(out, given, true, factor));
  BUDA_ASSIGN(Lowered x, without_transpose(out, "copy", given));
  Lowered result = after_matmul(x, by);
  BUDA_ASSIGN(result.source, out.op(suffix, "matmul", {x.edge(), by.edge()}));
  // A sum of what is not negative is no less than its largest part; half of that leaves room for rounding.
  double least = x.peak.value_or(0) * factor / 2;
  for (auto [sum, of] : {std::pair(&result.data, &x.data), std::pair(&result.rows, &x.rows)})
    if (of->least >= 0) sum->least = std::max(sum->least, least);
  result.cols = result.data;
  result.corner = result.rows;
  return result;
}

Result<Lowered> sum_of_rows(OpBuilder& out, std::string_view suffix, const Lowered& x, double factor) {
  BUDA_ASSIGN(Lowered by, ones(out, x, false, factor));
  Lowered result = after_matmul(by, x);
  BUDA_ASSIGN(result.source, out.op(suffix, "matmul", {by.edge(), x.edge()}));
  result.rows = result.data;
  result.corner = result.cols;
  return result;
}

Result<Lowered> sum_of_slices(OpBuilder& out, std::string_view suffix, const Lowered& given, std::int64_t group, double factor) {
  std::int64_t size = tiles(given.shape[3]) * graph::kTileSide, z = given.shape[1];
  if (size > kMaxUnitColumns)
    return out.refuse(
        cat("a sum over ", group, " slices needs a unit matrix of ", size, " columns; at most ", kMaxUnitColumns, " are made"),
        "transpose the value in the model so that the sum runs over the last two axes");
  BUDA_ASSIGN(Lowered x, without_transpose(out, "copy", given));
  std::vector<float> elements(static_cast<std::size_t>(size * size), 0.0f);
  for (std::int64_t i = 0; i < size; ++i) elements[static_cast<std::size_t>(i * size + i)] = static_cast<float>(factor);
  BUDA_ASSIGN(Lowered unit, out.constant("unit", Tensor(Shape{size, size}, std::move(elements))));
  unit.tms.push_back(Tm::broadcast(TmDim::z, z));
  Lowered result = x;
  result.tms.clear();
  BUDA_ASSIGN(result.source, out.op(suffix, "matmul", {x.edge(), unit.edge()}, {{"accumulate", true}, {"z", group}}));
  result.shape[1] /= group;
  result.peak.reset();
  double n_times = static_cast<double>(group) * factor;
  for (ValueRange* s : {&result.data, &result.rows, &result.cols, &result.corner}) *s = times(*s, n_times);
  // A row with infinities in its padding would come out as NaN in all its columns.
  if (!x.rows.finite || (x.pads_cols() && !x.corner.finite)) result.rows.finite = result.corner.finite = false;
  return result;
}

// ---- both

// The result with the shape that the model gives it: reduced axes are left out there, or have size 1.
Result<Lowered> without_reduced_axes(OpBuilder& out, Lowered x, const Shape& kept, const Shape& wanted) {
  Rearrangement reshape(kept);
  reshape.reshape(wanted);
  return rearranged(out, std::move(x), reshape);
}

struct Reduction {
  Reduced reduced;
  Shape kept;    // the axes of the result with sizes of 1 where it is reduced
  Shape wanted;  // as the model's result has them

  // Of the op that reduces an axis: the last one has the value of the node.
  std::string suffix(std::size_t i) const {
    if (i + 1 == reduced.axes.size() && kept == wanted) return "";
    return reduced.axes[i] == 3 ? "c" : reduced.axes[i] == 2 ? "r" : "z";
  }
};

Result<Reduction> reduction_of(Reduced reduced, const Lowered& x, const Operands& in, const OpBuilder& out) {
  Shape kept = x.shape;
  for (std::size_t axis : reduced.axes) kept[axis] = axis == 1 ? kept[axis] / reduced.group : 1;
  BUDA_ASSIGN(Shape wanted, out.axes(in.result_type().shape));
  return Reduction{std::move(reduced), std::move(kept), std::move(wanted)};
}

RuleResult lower_maximum(Operands& in, OpBuilder& out) {
  BUDA_ASSIGN(Reduced reduced, reduced_axes(in, out));
  BUDA_ASSIGN(Lowered x, in.value(0));
  BUDA_ASSIGN(Reduction reduction, reduction_of(std::move(reduced), x, in, out));
  const std::vector<std::size_t>& axes = reduction.reduced.axes;
  std::optional<MaximumArgument> argument;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] == 1) {
      BUDA_ASSIGN(x, gathered_slices(out, x, reduction.reduced.slices));
      BUDA_ASSIGN(x, maximum_of_slices(out, reduction.suffix(i), x, reduction.reduced.group));
      continue;
    }
    BUDA_ASSIGN(Maximum max, maximum(out, reduction.suffix(i), x, axes[i], in.type(0).dtype));
    x = std::move(max.result);
    if (axes.size() == 1 && axes[i] == 3)
      argument = MaximumArgument{out.node().id(), out.node().inputs()[0].source, std::move(max.argument), max.is_masked};
  }
  BUDA_ASSIGN(x, without_reduced_axes(out, std::move(x), reduction.kept, reduction.wanted));
  RuleResult result = std::move(x);
  result.maximum_argument = std::move(argument);
  return result;
}

RuleResult lower_sum(Operands& in, OpBuilder& out) {
  BUDA_ASSIGN(Reduced reduced, reduced_axes(in, out));
  BUDA_ASSIGN(Lowered x, in.value(0));
  BUDA_ASSIGN(Reduction reduction, reduction_of(std::move(reduced), x, in, out));
  const bool is_mean = out.node().op() == "reduce_avg";
  for (std::size_t i = 0; i < reduction.reduced.axes.size(); ++i) {
    const std::size_t axis = reduction.reduced.axes[i];
    std::int64_t count = axis == 1 ? reduction.reduced.group : x.shape[axis];
    double factor = is_mean ? 1.0 / static_cast<double>(count) : 1.0;
    if (axis == 1) {
      BUDA_ASSIGN(x, gathered_slices(out, x, reduction.reduced.slices));
      BUDA_ASSIGN(x, sum_of_slices(out, reduction.suffix(i), x, count, factor));
    } else {
      BUDA_ASSIGN(x, axis == 3 ? sum_of_columns(out, reduction.suffix(i), x, factor) : sum_of_rows(out, reduction.suffix(i), x, factor));
    }
  }
  return without_reduced_axes(out, std::move(x), reduction.kept, reduction.wanted);
}

}  // namespace

const std::vector<LoweringRule>& reduce_rules() {
  static const std::vector<LoweringRule> rules = {{"reduce_max", lower_maximum}, {"reduce_sum", lower_sum}, {"reduce_avg", lower_sum}};
  return rules;
}

}  // namespace buda::passes
