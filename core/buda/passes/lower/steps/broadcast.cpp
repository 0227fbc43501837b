// SPDX-License-Identifier: Apache-2.0
// Broadcasts on edges, and what must be replicated before.
#include <buda/passes/lower/steps/broadcast.hpp>

#include <buda/base/text.hpp>
#include <buda/passes/lower/steps/copies.hpp>
#include <buda/passes/lower/steps/gather.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace buda::passes {

using graph::TmDim;

namespace {

// With more than four axes the leading ones are one axis on the device, along which NumPy's rule cannot be followed piece by piece.
bool leading_axes_broadcast(const Shape& target, const Shape& four) { return four[0] != 1 && four[0] != target[0]; }

Shape leading_axes(const Shape& shape) {
  return Shape(
      std::vector<std::int64_t>(shape.begin(), shape.end() - std::min<std::ptrdiff_t>(2, static_cast<std::ptrdiff_t>(shape.rank()))));
}

// Which copies of a known value serve. A single number fills its tile for nothing, so that what it meets in the padding is what it meets in
// the data: a layernorm's epsilon keeps the copies of its variance away from 0.
Copies copies_for(const Shape& shape, bool rows, bool cols) {
  if (shape.volume() == 1 || (rows && cols)) return Copies::both;
  return rows ? Copies::rows : cols ? Copies::columns : Copies::none;
}

// The leading axes of an operand as NumPy aligns them with those of the result.
std::vector<std::int64_t> aligned(const Shape& from, const Shape& to) {
  std::vector<std::int64_t> axes(to.rank() - from.rank(), 1);
  axes.insert(axes.end(), from.begin(), from.end());
  return axes;
}

// Whether such axes repeat all slices, one run after the other: ones come first, and the others have the sizes of the result.
bool repeats_all(const std::vector<std::int64_t>& axes, const Shape& to) {
  const auto first = std::find_if(axes.begin(), axes.end(), [](std::int64_t size) { return size != 1; });
  return std::equal(first, axes.end(), to.begin() + (first - axes.begin()));
}

// Whole tiles repeated along z, r and c.
Lowered repeated_on_edge(Lowered x, const Shape& target, bool rows, bool cols) {
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

}  // namespace

Result<Lowered> broadcast_operand(Operands& in, std::size_t operand, const Shape& target, OpBuilder& out) {
  const Shape& model = in.type(operand).shape;
  Lowered x;
  const bool is_known = in.known(operand) != nullptr;
  if (is_known) {
    BUDA_ASSIGN(x.shape, out.axes(model));
  } else {
    BUDA_ASSIGN(x, in.value(operand));
  }
  const bool rows = x.shape[2] == 1 && target[2] > 1, cols = x.shape[3] == 1 && target[3] > 1;
  if (leading_axes_broadcast(target, x.shape))
    return out.refuse(cat("an input of shape ", model.text(), " is broadcast along some of its leading axes and not along others"),
                      "give its leading axes all their sizes, or all 1, in the model");
  const bool joins = out.joins_batch() && x.shape[1] != 1 && x.shape[1] != target[1];
  const Shape slices = leading_axes(model), wanted_slices = leading_axes(in.result_type().shape);
  if (is_known) {
    // A gather of slices takes their rows of data alone, without the copies.
    const bool gathers = joins && !repeats_all(aligned(slices, wanted_slices), wanted_slices);
    BUDA_ASSIGN(x, in.known_with_copies(operand, gathers ? Copies::none : copies_for(x.shape, rows, cols)));
  }
  if (joins) {
    BUDA_ASSIGN(x, broadcast_slices(out, x, slices, wanted_slices));
  }
  if (cols && !x.cols_alike) {
    BUDA_ASSIGN(x, with_columns_alike(out, x));
  }
  if (rows && !x.rows_alike) {
    BUDA_ASSIGN(x, with_rows_alike(out, x));
  }
  return repeated_on_edge(std::move(x), target, rows, cols);
}

Result<Lowered> broadcast_slices(OpBuilder& out, const Lowered& x, const Shape& from, const Shape& to) {
  const std::vector<std::int64_t> axes = aligned(from, to);
  if (repeats_all(axes, to)) {
    Lowered repeated = x;
    repeated.tms.push_back(graph::Tm::broadcast(TmDim::z, *to.volume() / x.shape[1]));
    repeated.shape[1] = *to.volume();
    return repeated;
  }
  std::vector<std::int64_t> strides = Shape(axes).strides(), slices{0};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::vector<std::int64_t> next;
    for (std::int64_t outer : slices)
      for (std::int64_t k = 0; k < to[i]; ++k) next.push_back(outer + (axes[i] == 1 ? 0 : k * strides[i]));
    slices = std::move(next);
  }
  return gathered_slices(out, x, slices);
}

}  // namespace buda::passes
