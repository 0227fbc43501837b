// Lowering of products with pickers, and of depthwise products.
//
// A picker becomes a constant of whole numbers, one row for each term and slice, one column for each row of the result, and the product a
// matmul with `identity`. How its numbers are laid out for the chip's kernel depends on the cores that share the work: that is the
// balancer's part.
#include <buda/base/text.hpp>
#include <buda/ops/elements/copy.hpp>
#include <buda/ops/table/device_op.hpp>
#include <buda/passes/lower/lowering_rules.hpp>

#include <algorithm>
#include <cmath>

namespace buda::passes {
namespace {

using graph::AttrMap;
using graph::Edge;
using graph::Node;

// What is known of sums of `terms` products with weights between the bounds.
ValueRange sum_of_picked(const ValueRange& x, double terms, double least_weight, double most_weight) {
  ValueRange out = times(x, terms * std::max(std::abs(least_weight), std::abs(most_weight)));
  if (least_weight < 0) out = hull(out, {-out.most, -out.least, out.finite});
  return hull(out, ValueRange::exactly(0));
}

// [terms, slices, rows] with the slices of each term repeated.
Result<Tensor> repeated_slices(const Tensor& t, std::int64_t times) {
  const Shape& s = t.shape();
  BUDA_ASSIGN(Tensor all, ops::gathered(t, {s[0], times, s[1], s[2]}, 0, {s[1] * s[2], 0, s[2], 1}));
  return all.reshaped({s[0], times * s[1], s[2]});
}

// A picker for the rows of samples that stand below one another, each with its own slices or with one, in steps of so many rows.
Result<Tensor> picks_for_samples(const Tensor& picks, std::int64_t samples, std::int64_t slices_of_x, std::int64_t below) {
  BUDA_ASSIGN(Tensor all, repeated_slices(picks.cast(DType::i32), samples));
  std::int64_t slices = picks.shape()[1], rows = picks.shape()[2];
  std::vector<std::int32_t> numbers(all.as<std::int32_t>().begin(), all.as<std::int32_t>().end());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::int64_t slice = static_cast<std::int64_t>(i) / rows % (samples * slices);
    std::int64_t matrix = slice / slices * slices_of_x + (slices_of_x == 1 ? 0 : slice % slices);
    if (numbers[i] != 0) numbers[i] += static_cast<std::int32_t>(matrix * below);
  }
  return Tensor(all.shape(), std::move(numbers));
}

Result<Lowered> lower_sparse_matmul(Lowering& l, const Node& n) {
  const Tensor* picks = l.known(n.inputs()[0]);
  const Tensor* weights = n.inputs().size() > 2 ? l.known(n.inputs()[2]) : nullptr;
  if (picks == nullptr || (n.inputs().size() > 2 && weights == nullptr))
    return l.refuse(n, "its picker or its weights are known only when the model runs", "let them depend on parameters and constants alone");
  BUDA_ASSIGN(Lowered x, l.value(n.inputs()[1]));
  const Shape& model = l.type(n.inputs()[1]).shape;
  std::int64_t slices_of_x = model.rank() < 3 ? 1 : model[model.rank() - 3], slices = picks->shape()[1];
  if (slices == 1 || x.shape[1] == slices_of_x) return l.picked(n, "", x, *picks, weights);
  // Samples joined with slices: the picker is repeated for each, and reads all samples below one another.
  std::int64_t samples = x.shape[1] / slices_of_x, below = tiles(x.shape[2]) * graph::kTileSide;
  BUDA_ASSIGN(Tensor all, picks_for_samples(*picks, samples, slices_of_x, below));
  if (weights == nullptr) return l.picked(n, "", Lowering::stacked(x), all, nullptr);
  BUDA_ASSIGN(Tensor factors, repeated_slices(*weights, samples));
  return l.picked(n, "", Lowering::stacked(x), all, &factors);
}

// Columns at the end of a matrix that hold nothing but zeros.
std::int64_t zero_columns(const Tensor& matrix) {
  const Shape& shape = matrix.shape();
  Tensor t = matrix.cast(DType::f32);
  auto columns = static_cast<std::size_t>(shape[shape.rank() - 1]);
  std::size_t used = 0;
  std::span<const float> v = t.as<float>();
  for (std::size_t i = 0; i < v.size(); ++i)
    if (v[i] != 0) used = std::max(used, i % columns + 1);
  return static_cast<std::int64_t>(columns - used);
}

Result<Lowered> lower_depthwise(Lowering& l, const Node& n) {
  std::int64_t width = l.attrs(n).integer("width");
  BUDA_ASSIGN(Lowered x, l.value(n.inputs()[0]));
  BUDA_ASSIGN(Lowered w, l.value(n.inputs()[1]));
  if (width != graph::kTileSide || x.pads_cols() || w.pads_cols() || w.pads_rows())
    return l.refuse(n, cat("its blocks of ", width, " columns are no tiles"), "give it blocks of 32 columns");
  BUDA_ASSIGN(x, l.without_transpose(n, "copy", x));
  Lowered out;
  out.shape = {x.shape[0], x.shape[1], x.shape[2], w.shape[3]};
  auto terms = static_cast<double>(w.shape[2]);
  out.data = times(ops::range_after("multiply", {}, x.data, w.data), terms);
  out.data.finite = true;
  out.rows = times(ops::range_after("multiply", {}, x.rows, w.data), terms);
  out.rows_alike = x.rows_alike;
  if (const Tensor* weights = l.known(n.inputs()[1])) out.zero_cols = zero_columns(*weights);
  BUDA_ASSIGN(out.source, l.emit(n, "", "depthwise", {x.edge(), w.edge()}));
  return out;
}

}  // namespace

Result<Lowered> Lowering::picked(const Node& n, std::string_view suffix, const Lowered& x, const Tensor& picker, const Tensor* weights) {
  const Shape& s = picker.shape();
  if (x.pads_rows() && !x.rows.finite)
    return internal_error(cat("node '", n.name(), "': rows are picked from a value whose padding may hold NaN or infinities"));
  auto as_matrix = [&](const Tensor& t) { return t.reshaped({s[0] * s[1], s[2]}); };
  BUDA_ASSIGN(Tensor matrix, as_matrix(picker.cast(DType::i32)));
  BUDA_ASSIGN(Lowered picks, constant_as_is(n, "picks", matrix));
  std::vector<Edge> inputs{picks.edge(), x.edge()};
  double terms = static_cast<double>(s[0]), least = 1, most = 1;
  if (weights != nullptr) {
    BUDA_ASSIGN(Tensor factors, as_matrix(*weights));
    BUDA_ASSIGN(Lowered placed, constant_as_is(n, "factors", factors));
    least = placed.data.least;
    most = placed.data.most;
    inputs.push_back(placed.edge());
  }
  Lowered out;
  out.shape = {x.shape[0], std::max(s[1], x.shape[1]), s[2], x.shape[3]};
  out.data = sum_of_picked(x.data, terms, least, most);
  out.data.finite = true;
  out.cols = sum_of_picked(x.cols, terms, least, most);
  auto entries = matrix.as<std::int32_t>();
  if (s[0] == 1 && weights == nullptr && std::find(entries.begin(), entries.end(), 0) == entries.end()) {
    out.data = x.data;
    out.cols = x.cols;
  }
  out.zero_cols = x.zero_cols;
  out.cols_alike = x.cols_alike;
  BUDA_ASSIGN(out.source, emit(n, suffix, "matmul", std::move(inputs), {{"identity", true}, {"slices", s[1]}}));
  return out;
}

const std::vector<LoweringRule>& sparse_rules() {
  static const std::vector<LoweringRule> rules = {{"sparse_matmul", lower_sparse_matmul, true}, {"depthwise", lower_depthwise}};
  return rules;
}

}  // namespace buda::passes
