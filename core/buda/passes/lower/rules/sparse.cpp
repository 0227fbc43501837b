// SPDX-License-Identifier: Apache-2.0
// Lowering of products with selection matrices (steps/gather.hpp), and of depthwise products.
#include <buda/base/text.hpp>
#include <buda/ops/elements/copy.hpp>
#include <buda/ops/table/device_op.hpp>
#include <buda/passes/lower/rules/rules.hpp>
#include <buda/passes/lower/steps/copies.hpp>
#include <buda/passes/lower/steps/gather.hpp>
#include <buda/passes/lower/steps/spare_tiles.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace buda::passes {
namespace {

// What netlists can express along a dimension, and what no device has memory for.
constexpr std::int64_t kMaxSlices = std::int64_t{1} << 20, kMaxRepeatedRows = std::int64_t{1} << 26;

// [terms, slices, rows] with the slices of each term repeated.
Result<Tensor> repeated_slices(const Tensor& t, std::int64_t times) {
  const Shape& s = t.shape();
  BUDA_ASSIGN(Tensor all, ops::gathered(t, {s[0], times, s[1], s[2]}, 0, {s[1] * s[2], 0, s[2], 1}));
  return all.reshaped({s[0], times * s[1], s[2]});
}

// A selection matrix for the rows of samples that stand below one another, each with its own slices or with one, in steps of so many rows.
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

RuleResult lower_sparse_matmul(Operands& in, OpBuilder& out) {
  const Tensor* picks = in.known(0);
  const Tensor* weights = in.size() > 2 ? in.known(2) : nullptr;
  if (picks == nullptr || (in.size() > 2 && weights == nullptr))
    return out.refuse("its selection matrix or its weights are known only at run time",
                      "let them depend on parameters and constants alone");
  BUDA_ASSIGN(Lowered x, in.value(1));
  const Shape& model = in.type(1).shape;
  std::int64_t slices_of_x = model.rank() < 3 ? 1 : model[model.rank() - 3], slices = picks->shape()[1];
  if (slices == 1 || x.shape[1] == slices_of_x) return gathered_rows(out, "", x, *picks, weights);
  // Samples joined with slices: the selection matrix is repeated for each, and reads all samples below one another.
  std::int64_t samples = x.shape[1] / slices_of_x, below = tiles(x.shape[2]) * graph::kTileSide;
  const std::int64_t rows = samples * *picks->shape().volume();
  if (samples * slices > kMaxSlices || rows > kMaxRepeatedRows) {
    // The host would be no help: it is the batch that is too large.
    Diagnostic d = out.refuse(cat("for a batch of ", samples, " it would select ", rows, " rows of ", samples * slices,
                                  " matrices; at most ", kMaxRepeatedRows, " of ", kMaxSlices, " are possible"),
                              "compile the model for a smaller batch, and let --microbatch repeat it");
    d.fault = Fault::fit;
    return d;
  }
  BUDA_ASSIGN(Tensor all, picks_for_samples(*picks, samples, slices_of_x, below));
  if (weights == nullptr) return gathered_rows(out, "", stacked_slices(x), all, nullptr);
  BUDA_ASSIGN(Tensor factors, repeated_slices(*weights, samples));
  return gathered_rows(out, "", stacked_slices(x), all, &factors);
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

RuleResult lower_depthwise(Operands& in, OpBuilder& out) {
  std::int64_t width = in.attrs().integer("width");
  BUDA_ASSIGN(Lowered x, in.value(0));
  BUDA_ASSIGN(Lowered w, in.value(1));
  const auto is_whole = [](std::int64_t size) { return size % graph::kTileSide == 0; };
  if (width != graph::kTileSide || !is_whole(x.shape[3]) || !is_whole(w.shape[3]) || !is_whole(w.shape[2]))
    return out.refuse(cat("its blocks of ", width, " columns are not whole tiles"), "give it blocks of 32 columns");
  BUDA_ASSIGN(x, without_spare_tiles(out, std::move(x), {.columns = true}));
  BUDA_ASSIGN(w, without_spare_tiles(out, std::move(w), {.rows = true, .columns = true}));
  BUDA_ASSIGN(x, without_transpose(out, "copy", x));
  BUDA_ASSIGN(w, without_transpose(out, "weights.copy", w));
  Lowered result;
  result.shape = {x.shape[0], x.shape[1], x.shape[2], w.shape[3]};
  auto terms = static_cast<double>(w.shape[2]);
  result.data = times(ops::range_after("multiply", {}, x.data, w.data), terms);
  result.data.finite = true;
  result.rows = times(ops::range_after("multiply", {}, x.rows, w.data), terms);
  result.rows_alike = x.rows_alike;
  if (const Tensor* weights = in.known(1)) result.zero_cols = zero_columns(*weights);
  BUDA_ASSIGN(result.source, out.op("", "depthwise", {x.edge(), w.edge()}));
  return with_spare_tiles(out, std::move(result), {.columns = true});
}

}  // namespace

const std::vector<LoweringRule>& sparse_rules() {
  static const std::vector<LoweringRule> rules = {{"sparse_matmul", lower_sparse_matmul, true}, {"depthwise", lower_depthwise}};
  return rules;
}

}  // namespace buda::passes
