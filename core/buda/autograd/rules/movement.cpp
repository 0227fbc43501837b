// SPDX-License-Identifier: Apache-2.0
// Gradients of movements: the inverse movement, and sums where elements were repeated.
#include <buda/autograd/rules/axis_map.hpp>
#include <buda/autograd/rules/rules.hpp>

#include <buda/ops/spatial/resize.hpp>

#include <algorithm>
#include <limits>

namespace buda::autograd {
namespace {

void back_to_shape(Backward& b) { b.give(0, b.g().reshape(b.in(0).shape())); }

void transpose(Backward& b) {
  const Dims& perm = b.attrs().integers("perm");
  Dims inverse(perm.size());
  const auto rank = static_cast<std::int64_t>(perm.size());
  for (std::size_t i = 0; i < perm.size(); ++i)
    inverse[static_cast<std::size_t>(perm[i] < 0 ? perm[i] + rank : perm[i])] = static_cast<std::int64_t>(i);
  b.give(0, b.g().transpose(std::move(inverse)));
}

// The engine sums what was broadcast.
void broadcast(Backward& b) { b.give(0, b.g()); }

void concatenate(Backward& b) {
  const auto axis = static_cast<std::size_t>(b.axis("dim"));
  std::int64_t start = 0;
  for (std::size_t i = 0; i < b.count(); ++i) {
    const std::int64_t size = b.in(i).shape()[axis];
    if (b.wants(i) && size > 0)
      b.give(i, {b.builder(), b.builder().slice(b.g().value(), static_cast<std::int64_t>(axis), start, start + size)});
    start += size;
  }
}

void pad(Backward& b) {
  const Dims& before = b.attrs().integers("before");
  const Shape shape = b.in(0).shape(), padded = b.g().shape();
  // Negative borders cut: what was cut is zeros in the gradient.
  Dims dims, starts, stops, added_before(before.size(), 0), added_after(before.size(), 0);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const std::int64_t first = before[i], last = first + shape[i];
    dims.push_back(static_cast<std::int64_t>(i));
    starts.push_back(std::max<std::int64_t>(first, 0));
    stops.push_back(std::min(last, padded[i]));
    added_before[i] = std::max<std::int64_t>(-first, 0);
    added_after[i] = std::max<std::int64_t>(last - padded[i], 0);
  }
  Term g = b.g().op("slice", {{"dims", dims}, {"starts", starts}, {"stops", stops}});
  if (g.shape() != shape) g = g.op("pad", {{"before", added_before}, {"after", added_after}});
  b.give(0, g);
}

// What a slice of one axis leaves out is zeros: elements with steps between them get zeros behind each by an axis of their own.
Term unsliced(const Term& g, std::int64_t axis, std::int64_t start, std::int64_t step, std::int64_t size) {
  Term x = g;
  const auto at = static_cast<std::size_t>(axis);
  if (step < 0) {
    const Dims dims{axis}, starts{-1}, stops{std::numeric_limits<std::int64_t>::min()}, steps{-1};
    x = x.op("slice", {{"dims", dims}, {"starts", starts}, {"stops", stops}, {"steps", steps}});
    start += step * (g.shape()[at] - 1);
    step = -step;
  }
  Shape shape = x.shape();
  if (step > 1) {
    Dims apart = shape.dims(), before(shape.rank() + 1, 0), after(shape.rank() + 1, 0), joined = shape.dims();
    apart.insert(apart.begin() + axis + 1, 1);
    after[at + 1] = step - 1;
    joined[at] *= step;
    x = x.reshape(Shape(apart)).op("pad", {{"before", before}, {"after", after}}).reshape(Shape(joined));
    // The last element needs no zeros behind it where the axis ends before.
    if (const std::int64_t room = size - start; joined[at] > room) {
      const Dims dims{axis}, starts{0}, stops{room};
      x = x.op("slice", {{"dims", dims}, {"starts", starts}, {"stops", stops}});
    }
    shape = x.shape();
  }
  if (shape.rank() == 0 || shape[at] == size) return x;
  Dims before(shape.rank(), 0), after(shape.rank(), 0);
  before[at] = start;
  after[at] = size - start - shape[at];
  return x.op("pad", {{"before", before}, {"after", after}});
}

void slice(Backward& b) {
  const Shape shape = b.in(0).shape();
  const Dims &dims = b.attrs().integers("dims"), &starts = b.attrs().integers("starts"), &steps = b.attrs().integers("steps");
  Term g = b.g();
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::int64_t axis = dims[i] < 0 ? dims[i] + static_cast<std::int64_t>(shape.rank()) : dims[i];
    const std::int64_t size = shape[static_cast<std::size_t>(axis)], step = steps.empty() ? 1 : steps[i];
    std::int64_t start = starts[i] < 0 ? starts[i] + size : starts[i];
    start = step > 0 ? std::clamp<std::int64_t>(start, 0, size) : std::clamp<std::int64_t>(start, -1, size - 1);
    g = unsliced(g, axis, start, step, size);
  }
  b.give(0, g);
}

void tile(Backward& b) {
  const Dims& repeats = b.attrs().integers("repeats");
  const Shape shape = b.in(0).shape();
  Dims split, summed;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    summed.push_back(static_cast<std::int64_t>(split.size()));
    split.push_back(repeats[i]);
    split.push_back(shape[i]);
  }
  b.give(0, b.g().reshape(Shape(split)).sum(summed).reshape(shape));
}

// Of a border that continues an axis: which element each one is.
AxisMap continued(std::int64_t size, std::int64_t before, std::int64_t after, const std::string& mode) {
  AxisMap out{size, before + size + after, 1, {}, {}};
  const std::int64_t period = mode == "reflect" ? 2 * std::max<std::int64_t>(size - 1, 1) : size;
  for (std::int64_t i = -before; i < size + after; ++i) {
    const std::int64_t in_period = ((i % period) + period) % period;
    out.places.push_back(mode == "edge" ? std::clamp<std::int64_t>(i, 0, size - 1) : in_period < size ? in_period : period - in_period);
    out.weights.push_back(1);
  }
  return out;
}

void pad_continued(Backward& b) {
  const Dims &before = b.attrs().integers("before"), &after = b.attrs().integers("after");
  const Shape shape = b.in(0).shape();
  Term g = b.g();
  for (std::size_t i = 0; i < shape.rank(); ++i)
    if (before[i] != 0 || after[i] != 0) g = mapped(g, i, transposed(continued(shape[i], before[i], after[i], b.attrs().text("mode"))));
  b.give(0, g);
}

// What lies outside x has the extrapolation value, whatever x is.
void resize(Backward& b) {
  const Shape shape = b.in(0).shape(), result = b.g().shape();
  auto taps = ops::resize_taps(shape, b.attrs());
  if (!taps) return b.refuse(taps.failure());
  Term g = b.g();
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    ops::ResizeTaps& axis = (*taps)[i];
    for (std::size_t o = 0; o < axis.outside.size(); ++o)
      if (axis.outside[o] != 0)
        for (std::size_t k = 0; k < axis.per_element; ++k) axis.weights[o * axis.per_element + k] = 0;
    if (axis.is_identity(shape[i])) continue;
    g = mapped(g, i, transposed({shape[i], result[i], axis.per_element, std::move(axis.places), std::move(axis.weights)}));
  }
  b.give(0, g);
}

void triangle(Backward& b) { b.give(0, b.g().op("triangle", b.node().attrs)); }

constexpr GradientRule kMovementRules[] = {{"broadcast", broadcast},
                                           {"concatenate", concatenate},
                                           {"pad", pad},
                                           {"pad_continued", pad_continued},
                                           {"reshape", back_to_shape},
                                           {"resize", resize},
                                           {"slice", slice},
                                           {"squeeze", back_to_shape},
                                           {"tile", tile},
                                           {"transpose", transpose},
                                           {"triangle", triangle},
                                           {"unsqueeze", back_to_shape}};

}  // namespace

std::span<const GradientRule> movement_rules() { return kMovementRules; }

}  // namespace buda::autograd
