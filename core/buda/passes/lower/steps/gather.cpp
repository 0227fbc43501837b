// SPDX-License-Identifier: Apache-2.0
// Gathers as matmuls with `identity`.
//
// A selection matrix becomes a constant of integers, one row for each term and slice, one column for each row of the result. How its
// numbers are laid out for the chip's kernel depends on the cores that share the work, so the balancer does that.
#include <buda/passes/lower/steps/gather.hpp>

#include <buda/base/text.hpp>
#include <buda/passes/lower/steps/spare_tiles.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace buda::passes {
namespace {

// Selection matrices of more rows than this are refused.
constexpr std::int64_t kMaxGatheredRows = std::int64_t{1} << 24;

// The range of sums of `terms` products with weights between the bounds.
ValueRange sum_of_gathered(const ValueRange& x, double terms, double min_weight, double max_weight) {
  ValueRange range = times(x, terms * std::max(std::abs(min_weight), std::abs(max_weight)));
  if (min_weight < 0) range = hull(range, {-range.most, -range.least, range.finite});
  return hull(range, ValueRange::exactly(0));
}

}  // namespace

Places all_places(std::int64_t size) {
  Places places(static_cast<std::size_t>(size));
  std::iota(places.begin(), places.end(), 0);
  return places;
}

bool keeps_all(const Places& places, std::int64_t size) {
  if (static_cast<std::int64_t>(places.size()) != size) return false;
  for (std::int64_t i = 0; i < size; ++i)
    if (places[static_cast<std::size_t>(i)] != i) return false;
  return true;
}

Lowered stacked_slices(Lowered x) {
  if (x.shape[1] == 1) return x;
  // Padding between the slices counts as data now.
  if (x.pads_rows()) {
    x.data = hull(x.data, x.rows);
    x.cols = hull(x.cols, x.corner);
  }
  x.rows = x.corner = ValueRange::exactly(0);  // there are none
  x.tms.push_back(graph::Tm::vstack(x.shape[1]));
  x.shape = {x.shape[0], 1, x.shape[1] * tiles(x.shape[2]) * graph::kTileSide, x.shape[3]};
  x.rows_alike = false;
  return x;
}

Result<Lowered> gathered_rows(OpBuilder& out, std::string_view suffix, const Lowered& given, const Tensor& selection,
                              const Tensor* weights) {
  const Lowered x = before_spare_rows(out, given);
  const Shape& s = selection.shape();
  if (x.pads_rows() && !x.rows.finite)
    return internal_error(cat("node '", out.node().name(), "': rows are gathered from a value whose padding may hold NaN or infinities"));
  auto as_matrix = [&](const Tensor& t) { return t.reshaped({s[0] * s[1], s[2]}); };
  BUDA_ASSIGN(Tensor matrix, as_matrix(selection.cast(DType::i32)));
  BUDA_ASSIGN(Lowered picks, out.constant_as_is("picks", matrix));
  std::vector<graph::Edge> inputs{picks.edge(), x.edge()};
  double terms = static_cast<double>(s[0]), min_weight = 1, max_weight = 1;
  if (weights != nullptr) {
    BUDA_ASSIGN(Tensor factors, as_matrix(*weights));
    BUDA_ASSIGN(Lowered placed, out.constant_as_is("factors", factors));
    min_weight = placed.data.least;
    max_weight = placed.data.most;
    inputs.push_back(placed.edge());
  }
  Lowered result;
  result.shape = {x.shape[0], std::max(s[1], x.shape[1]), s[2], x.shape[3]};
  result.data = sum_of_gathered(x.data, terms, min_weight, max_weight);
  result.data.finite = true;
  result.cols = sum_of_gathered(x.cols, terms, min_weight, max_weight);
  auto entries = matrix.as<std::int32_t>();
  if (s[0] == 1 && weights == nullptr && std::find(entries.begin(), entries.end(), 0) == entries.end()) {
    result.data = x.data;
    result.cols = x.cols;
  }
  result.zero_cols = x.zero_cols;
  result.cols_alike = x.cols_alike;
  BUDA_ASSIGN(result.source, out.op(suffix, "matmul", std::move(inputs), {{"identity", true}, {"slices", s[1]}}));
  return result;
}

Result<Lowered> gathered_places(OpBuilder& out, const Lowered& given, const Places& z, const Places& r) {
  auto slices = static_cast<std::int64_t>(z.size()), rows = static_cast<std::int64_t>(r.size());
  if (slices * rows > kMaxGatheredRows) return out.refuse(cat("it moves ", slices * rows, " rows, each by itself"), "");
  bool slices_stay = keeps_all(z, given.shape[1]);
  std::int64_t below = tiles(given.shape[2]) * graph::kTileSide;
  Lowered x = slices_stay ? given : stacked_slices(given);
  std::vector<std::int32_t> picks;
  for (std::int64_t slice : slices_stay ? Places{0} : z)
    for (std::int64_t row : r) picks.push_back(slice == kNone || row == kNone ? 0 : static_cast<std::int32_t>(slice * below + row + 1));
  return gathered_rows(out, "picked", x, Tensor(Shape{1, slices_stay ? 1 : slices, rows}, std::move(picks)), nullptr);
}

Result<Lowered> gathered_slices(OpBuilder& out, const Lowered& x, const Places& slices) {
  return keeps_all(slices, x.shape[1]) ? Result<Lowered>(x) : gathered_places(out, x, slices, all_places(x.shape[2]));
}

}  // namespace buda::passes
