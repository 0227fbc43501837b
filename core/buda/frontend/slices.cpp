// SPDX-License-Identifier: Apache-2.0
// Parts of values, and borders around them.
#include <buda/frontend/slices.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <limits>

namespace buda::frontend {
namespace {

using Ref = graph::ValueRef;

// What a slice does along the axes of its input; with what becomes of axes afterwards.
struct Plan {
  Dims axes, starts, stops, steps;
  Shape sliced;       // with all axes of the input
  Dims result;        // with new axes and without those that are only an index
  bool whole = true;  // does it leave everything?
};

// One axis, with borders that may be open. The size along it.
std::int64_t add_axis(Plan& plan, std::size_t axis, std::int64_t begin, std::int64_t end, std::int64_t step, bool open_begin,
                      bool open_end) {
  std::int64_t size = plan.sliced[axis], least = step > 0 ? 0 : -1, most = step > 0 ? size : size - 1;
  auto place = [&](std::int64_t at) { return std::clamp(at < 0 ? at + size : at, least, most); };
  std::int64_t first = open_begin ? (step > 0 ? 0 : size - 1) : place(begin);
  std::int64_t last = open_end ? (step > 0 ? size : -1) : place(end);
  std::int64_t count = std::max<std::int64_t>(0, step > 0 ? (last - first + step - 1) / step : (first - last - step - 1) / -step);
  if (count == 0) last = first;
  plan.whole = plan.whole && first == 0 && last == size && step == 1;
  plan.axes.push_back(static_cast<std::int64_t>(axis));
  plan.starts.push_back(first);
  // Counted from the end, "before the first" is one more than the size.
  plan.stops.push_back(last < 0 ? -size - 1 : last);
  plan.steps.push_back(step);
  plan.sliced[axis] = count;
  return count;
}

bool bit(std::uint32_t mask, std::size_t i) { return (mask >> i & 1u) != 0; }

Result<Plan> plan_of(const OpImport& op, const Shape& x, const StridedSlice& s) {
  std::size_t count = s.begin.size(), named = 0;
  if (count > 32 || s.end.size() != count || s.steps.size() != count)
    return op.refuse(
        cat("its begin ", list_text(s.begin), ", end ", list_text(s.end), " and strides ", list_text(s.steps), " are incompatible"));
  for (std::size_t i = 0; i < count; ++i) named += !bit(s.ellipsis, i) && !bit(s.new_axis, i) ? 1 : 0;
  if (named > x.rank()) return op.refuse(cat("it slices ", named, " axes of its input ", x.text()));
  Plan out;
  out.sliced = x;
  std::size_t axis = 0;
  auto keep = [&](std::size_t axes) {
    for (std::size_t k = 0; k < axes; ++k, ++axis) out.result.push_back(x[axis]);
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (bit(s.ellipsis, i)) {
      keep(x.rank() - named);
      named = x.rank();  // a second ellipsis stands for nothing
      continue;
    }
    if (bit(s.new_axis, i)) {
      out.result.push_back(1);
      continue;
    }
    if (s.steps[i] == 0 || s.steps[i] < -kLargestBorder || s.steps[i] > kLargestBorder)
      return op.refuse(cat("its strides ", list_text(s.steps), " have ", s.steps[i]));
    std::int64_t size = x[axis];
    if (bit(s.only_index, i)) {
      std::int64_t at = s.begin[i] < 0 ? s.begin[i] + size : s.begin[i];
      if (at < 0 || at >= size) return op.refuse(cat("its index ", s.begin[i], " lies outside axis ", axis, " of its input ", x.text()));
      add_axis(out, axis, at, at + 1, 1, false, false);
    } else {
      out.result.push_back(add_axis(out, axis, s.begin[i], s.end[i], s.steps[i], bit(s.open_begin, i), bit(s.open_end, i)));
    }
    ++axis;
  }
  keep(x.rank() - axis);
  return out;
}

// Elements of an axis in reverse order, from `first` down to `last`, which is left out.
Ref reversed(OpImport& op, Ref x, std::int64_t axis, std::int64_t size, std::int64_t first, std::int64_t last, std::string_view step) {
  return op.step(cat(step, axis))
      .op("slice", {x}, {{"dims", Dims{axis}}, {"starts", Dims{first}}, {"stops", Dims{last < 0 ? -size - 1 : last}}, {"steps", Dims{-1}}});
}

}  // namespace

Result<Ref> strided_slice(OpImport& op, Ref x, const Shape& shape, const StridedSlice& slice) {
  BUDA_ASSIGN(Plan plan, plan_of(op, shape, slice));
  Shape result(plan.result);
  if (!plan.whole)
    x = (result == plan.sliced ? op.result() : op.step("sliced"))
            .op("slice", {x}, {{"dims", plan.axes}, {"starts", plan.starts}, {"stops", plan.stops}, {"steps", plan.steps}});
  return result == plan.sliced ? x : op.result().reshape(x, result);
}

Result<Ref> sized_slice(OpImport& op, Ref x, const Shape& shape, const Dims& begin, const Dims& size) {
  if (begin.size() != shape.rank() || size.size() != shape.rank())
    return op.refuse(cat("its begin ", list_text(begin), " and size ", list_text(size), " do not fit its input ", shape.text()));
  Dims axes, stops;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (begin[i] < 0 || begin[i] > shape[i] || size[i] < -1 || size[i] > shape[i] - begin[i])
      return op.refuse(cat("its begin ", list_text(begin), " and size ", list_text(size), " lead out of its input ", shape.text()));
    axes.push_back(static_cast<std::int64_t>(i));
    stops.push_back(size[i] == -1 ? shape[i] : begin[i] + size[i]);
  }
  return op.result().op("slice", {x}, {{"dims", axes}, {"starts", begin}, {"stops", stops}});
}

Result<Borders> borders_of(const OpImport& op, const Dims& pairs, std::size_t rank) {
  if (pairs.size() != 2 * rank) return op.refuse(cat("its paddings have ", pairs.size(), " numbers; ", 2 * rank, " are needed"));
  Borders out;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i] < 0 || pairs[i] > kLargestBorder) return op.refuse(cat("its paddings ", list_text(pairs), " have ", pairs[i]));
    (i % 2 == 0 ? out.before : out.after).push_back(pairs[i]);
  }
  return out;
}

graph::ValueRef padded(OpImport& op, Layouts& layouts, graph::ValueRef x, const Borders& borders, double number) {
  auto first = layouts.channels_first(x);
  if (!first) return op.result().pad(x, borders.before, borders.after, number);
  auto in_its_order = [](const Dims& d) { return Dims{d[0], d[3], d[1], d[2]}; };
  Ref y = op.result().pad(*first, in_its_order(borders.before), in_its_order(borders.after), number);
  return layouts.channels_last(op.step("last"), y);
}

graph::ValueRef reversed(OpImport& op, graph::ValueRef x, const Dims& axes) {
  // From the last element to the one before the first.
  Dims starts(axes.size(), -1), stops(axes.size(), std::numeric_limits<std::int64_t>::min()), steps(axes.size(), -1);
  return op.result().op("slice", {x},
                        {{"dims", axes}, {"starts", std::move(starts)}, {"stops", std::move(stops)}, {"steps", std::move(steps)}});
}

Result<Ref> mirrored(OpImport& op, Ref x, const Shape& shape, const Borders& borders, bool repeats) {
  if (!repeats)
    return op.result().op("pad_continued", {x}, {{"before", borders.before}, {"after", borders.after}, {"mode", std::string("reflect")}});
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    std::int64_t before = borders.before[i], after = borders.after[i], size = shape[i];
    if (before > size || after > size) return op.refuse(cat("its paddings are larger than axis ", i, " of its input ", shape.text()));
    if (before == 0 && after == 0) continue;
    auto axis = static_cast<std::int64_t>(i);
    std::vector<graph::Edge> parts;
    if (before > 0) parts.emplace_back(reversed(op, x, axis, size, before - 1, -1, "before"));
    parts.emplace_back(x);
    if (after > 0) parts.emplace_back(reversed(op, x, axis, size, size - 1, size - 1 - after, "after"));
    x = op.step(cat("axis", axis)).concatenate(std::move(parts), axis);
  }
  return op.result().identity(x);
}

}  // namespace buda::frontend
