// SPDX-License-Identifier: Apache-2.0
// Reshapes and transposes of device values.
//
// A chain of reshapes and transposes is one rearrangement of axes (layout/rearrangement.hpp). On the way to its user it takes, in this
// order:
//   1. nothing, or manipulations of the edge: slices and stacks of whole tiles, and transposes. So attention heads are cut out by an
//      hslice, and put side by side again by an hstack;
//   2. gathers of rows in any order, among them rows of what a transpose has made of columns:
//        columns stay as they are                                  one gather
//        rows, or parts of z, become the columns                   a gather that brings them to r, a transpose, a gather
//        columns are cut, or come together with rows               the same twice
//   3. where two shapes cut the elements in ways that do not combine ([6, 10] and [10, 6]), both through a third: as many columns as
//      the greatest common divisor of theirs.
// Chains that do not combine into one rearrangement, but together move whole rows, are one gather, too (data_movement.hpp).
// The batch w stays in its place: the device works through it one after the other.
#include <buda/passes/lower/steps/rearrange.hpp>

#include <buda/base/text.hpp>
#include <buda/passes/lower/steps/gather.hpp>
#include <buda/passes/lower/steps/spare_tiles.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace buda::passes {
namespace {

using graph::Tm;
using graph::TmKind;

using Factors = std::vector<int>;
using Sizes = std::vector<std::int64_t>;

// Gathers of more rows than this are refused: something is wrong with the model, or with us.
constexpr std::int64_t kMaxMovedRows = std::int64_t{1} << 24;

bool contains(const Factors& all, int f) { return std::find(all.begin(), all.end(), f) != all.end(); }

Factors without(const Factors& all, const Factors& some) {
  Factors out;
  for (int f : all)
    if (!contains(some, f)) out.push_back(f);
  return out;
}

Factors joined(const Factors& a, const Factors& b) {
  Factors out = a;
  out.insert(out.end(), b.begin(), b.end());
  return out;
}

bool is_among(const Factors& some, const Factors& all) {
  return std::all_of(some.begin(), some.end(), [&](int f) { return contains(all, f); });
}

// The same factors, those of `first` before the others and in its order.
Factors ordered_like(const Factors& factors, const Factors& first) {
  Factors out;
  for (int f : first)
    if (contains(factors, f)) out.push_back(f);
  return joined(out, without(factors, out));
}

Lowered manipulated(Lowered x, const Tm& tm) {
  if (tm.kind == TmKind::transpose) return transposed(std::move(x));
  bool rows = tm.kind == TmKind::vslice || tm.kind == TmKind::vstack, slices = tm.kind == TmKind::vslice || tm.kind == TmKind::hslice;
  std::int64_t& side = x.shape[rows ? 2 : 3];
  if (slices) {
    x.shape[1] *= tm.factor;
    side /= tm.factor;
  } else {
    x.shape[1] /= tm.factor;
    side *= tm.factor;
  }
  (rows ? x.rows_alike : x.cols_alike) = false;
  x.zero_cols = 0;
  x.peak.reset();
  x.tms.push_back(tm);
  return x;
}

// Which sides of a matrix such manipulations slice or stack, as they are before them.
MatrixAxes sides_changed(const std::vector<Tm>& tms) {
  MatrixAxes out;
  bool is_turned = false;
  for (const Tm& tm : tms) {
    if (tm.kind == TmKind::transpose) {
      is_turned = !is_turned;
    } else {
      const bool rows = tm.kind == TmKind::vslice || tm.kind == TmKind::vstack;
      (rows != is_turned ? out.rows : out.columns) = true;
    }
  }
  return out;
}

// Slices and stacks take tiles of data alone.
Result<Lowered> manipulated(OpBuilder& out, Lowered x, const std::vector<Tm>& tms) {
  MatrixAxes changed = sides_changed(tms);
  BUDA_ASSIGN(x, without_spare_tiles(out, std::move(x), changed));
  for (const Tm& tm : tms) {
    x = manipulated(std::move(x), tm);
    if (tm.kind == TmKind::transpose) std::swap(changed.rows, changed.columns);
  }
  return with_spare_tiles(out, std::move(x), changed);
}

// ---- with gathers

// For each place in `to` (z, then r) the row in `from`, all of whose slices stand below one another, in whole tiles.
std::vector<std::int64_t> source_rows(const DeviceAxes& from, const DeviceAxes& to, const Sizes& sizes) {
  Factors order = joined(to.z(), to.r());
  std::vector<std::int64_t> steps;
  for (int f : order) {
    auto step_in = [&](const Factors& axis, std::int64_t whole) {
      auto at = std::find(axis.begin(), axis.end(), f);
      return at == axis.end() ? 0 : whole * size_of(Factors(at + 1, axis.end()), sizes);
    };
    std::int64_t padded_rows = tiles(size_of(from.r(), sizes)) * graph::kTileSide;
    steps.push_back(step_in(from.z(), padded_rows) + step_in(from.r(), 1));
  }
  std::vector<std::int64_t> rows{0};
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::vector<std::int64_t> next;
    next.reserve(rows.size() * static_cast<std::size_t>(sizes[static_cast<std::size_t>(order[i])]));
    for (std::int64_t row : rows)
      for (std::int64_t k = 0; k < sizes[static_cast<std::size_t>(order[i])]; ++k) next.push_back(row + k * steps[i]);
    rows = std::move(next);
  }
  return rows;
}

// A value on its way to another order of its axes.
struct Moving {
  Lowered x;
  DeviceAxes axes;  // of x
};

// Slices of a value on its way: rows of cores share them, so that many in a number without small factors would all be one core's.
std::int64_t shared_slices(std::int64_t z) {
  constexpr std::int64_t kFew = 64, kRowsOfCores = 8;
  return z <= kFew ? z : (z + kRowsOfCores - 1) / kRowsOfCores * kRowsOfCores;
}

// z times r rows of x, all of whose slices stand below one another; zeros where no row is left.
Result<Lowered> gathered_one_by_one(OpBuilder& out, const Lowered& x, const std::vector<std::int64_t>& rows, std::int64_t z,
                                    std::int64_t r) {
  if (z * r > kMaxMovedRows) return out.refuse(cat("it moves ", z * r, " rows, each by itself"), "give the model a smaller input");
  std::vector<std::int32_t> picks;
  for (std::int64_t row : rows) picks.push_back(static_cast<std::int32_t>(row + 1));
  picks.resize(static_cast<std::size_t>(z * r), 0);
  return gathered_rows(out, "picked", stacked_slices(x), Tensor(Shape{1, z, r}, std::move(picks)), nullptr);
}

// The rows of all slices in another order, columns as they are. What is not the end may have more slices.
Result<Moving> gathered_to(OpBuilder& out, Moving at, DeviceAxes to, const Sizes& sizes, bool is_end) {
  const std::int64_t slices = size_of(to.z(), sizes);
  if (at.axes == to && (!is_end || at.x.shape[1] == slices)) return at;
  const std::int64_t z = is_end ? slices : shared_slices(slices);
  BUDA_ASSIGN(at.x, gathered_one_by_one(out, at.x, source_rows(at.axes, to, sizes), z, size_of(to.r(), sizes)));
  at.axes = std::move(to);
  return at;
}

Moving transposed_axes(Moving at) {
  at.x = transposed(std::move(at.x));
  std::swap(at.axes.lists[1], at.axes.lists[2]);
  return at;
}

// Case 2 at the head of this file.
Result<Lowered> moved_by_gathers(OpBuilder& out, Moving at, const DeviceAxes& to, const Sizes& sizes) {
  const Factors movable = joined(at.axes.z(), at.axes.r());
  if (at.axes.c() != to.c() && is_among(to.c(), movable)) {
    DeviceAxes columns_as_rows{{ordered_like(without(movable, to.c()), to.z()), to.c(), at.axes.c()}};
    BUDA_ASSIGN(at, gathered_to(out, std::move(at), std::move(columns_as_rows), sizes, false));
    at = transposed_axes(std::move(at));
  } else if (at.axes.c() != to.c()) {
    // What shall be rows then, waits as columns.
    Factors waiting = without(to.r(), at.axes.c());
    if (waiting.empty()) waiting = without(movable, to.c());
    DeviceAxes first{{ordered_like(without(movable, waiting), to.z()), waiting, at.axes.c()}};
    BUDA_ASSIGN(at, gathered_to(out, std::move(at), std::move(first), sizes, false));
    at = transposed_axes(std::move(at));
    Factors others = without(joined(at.axes.z(), at.axes.r()), to.c());
    DeviceAxes second{{ordered_like(others, to.z()), to.c(), at.axes.c()}};
    BUDA_ASSIGN(at, gathered_to(out, std::move(at), std::move(second), sizes, false));
    at = transposed_axes(std::move(at));
  }
  BUDA_ASSIGN(at, gathered_to(out, std::move(at), to, sizes, true));
  return std::move(at.x);
}

// ---- in several steps

std::string change(const Shape& from, const Shape& to) { return cat("(w, z, r, c) would change from ", from.text(), " to ", to.text()); }

// A rearrangement as two: first the order of axes, then the shape; nothing where that does not help either.
std::optional<std::pair<Rearrangement, Rearrangement>> order_then_shape(const Rearrangement& how, const Shape& from, Batch batch) {
  std::vector<std::int64_t> dims = how.split(), in_order;
  for (std::int64_t axis : how.order()) in_order.push_back(dims[static_cast<std::size_t>(axis)]);
  while (in_order.size() > 3) {
    in_order[1] *= in_order[0];
    in_order.erase(in_order.begin());
  }
  Rearrangement order = how, shape{Shape(in_order)};
  order.reshape(shape.from());
  shape.reshape(how.to());
  if (!order.places(from, axes_of(order.to(), batch))) return std::nullopt;
  return std::pair{order, shape};
}

// A reshape as two, through a shape of as many columns as both have in common (case 3).
std::pair<Rearrangement, Rearrangement> through_common_columns(const Shape& from, const Shape& to) {
  std::int64_t columns = std::gcd(from[3], to[3]);
  Rearrangement narrower(from), wider(Shape{from[0], 1, from[1] * from[2] * from[3] / columns, columns});
  narrower.reshape(wider.from());
  wider.reshape(to);
  return {narrower, wider};
}

Result<Lowered> rearranged_in_steps(OpBuilder& out, Lowered x, const Rearrangement& how, const Shape& to) {
  const Shape from = x.shape;
  std::optional<std::pair<Rearrangement, Rearrangement>> steps;
  if (how.moves_nothing() && from[0] == to[0]) {
    steps = through_common_columns(from, to);
  } else if (!how.moves_nothing() && from[0] == 1 && to[0] == 1) {
    steps = order_then_shape(how, from, out.task().batch);
  }
  if (!steps)
    return out.refuse(cat(change(from, to), " by axes that are split in incompatible ways"),
                      "let the model reshape and transpose in steps whose axes are whole parts of each other");
  BUDA_ASSIGN(x, rearranged(out, std::move(x), steps->first));
  return rearranged(out, std::move(x), steps->second);
}

}  // namespace

Result<Lowered> rearranged(OpBuilder& out, Lowered x, const Rearrangement& how) {
  BUDA_ASSIGN(Shape to, out.axes(how.to()));
  const Shape from = x.shape;
  if (how.moves_nothing() && from == to) return x;
  auto places = how.places(from, to);
  if (!places) return rearranged_in_steps(out, std::move(x), how, to);
  if (places->from[0] != places->to[0])
    return out.refuse(
        cat(change(from, to), ", which moves data between the inputs of a batch; the device processes these one after the other"),
        "keep the first axis, the batch, in its place and as large as it is");
  DeviceAxes source{{places->from[1], places->from[2], places->from[3]}}, target{{places->to[1], places->to[2], places->to[3]}};
  auto tms = manipulations(source, target, places->sizes);
  if (!tms) return moved_by_gathers(out, {std::move(x), std::move(source)}, target, places->sizes);
  return manipulated(out, std::move(x), *tms);
}

Result<Lowered> reordered_rows(OpBuilder& out, const Lowered& x, const std::vector<std::int64_t>& rows, const Shape& to) {
  const std::int64_t in_slice = x.shape[2], below = tiles(in_slice) * graph::kTileSide;
  if (x.shape == to && keeps_all(rows, to[1] * in_slice)) return x;
  std::vector<std::int64_t> places;
  for (std::int64_t row : rows) places.push_back(row / in_slice * below + row % in_slice);
  return gathered_one_by_one(out, x, places, to[1], to[2]);
}

}  // namespace buda::passes
