// SPDX-License-Identifier: Apache-2.0
// Selections of lines.
#include <buda/passes/integers/lines.hpp>

#include <buda/passes/integers/digits.hpp>

#include <utility>
#include <vector>

namespace buda::passes {
namespace {

using graph::ValueRef;

std::size_t axis_of(const IntegerStep& s) { return *s.type(0).shape.axis(s.attrs().integer("dim")); }

// Where the index is the place, counted from the front or, where it may be negative, from the end.
ValueRef is_place(ops::Builder& b, ValueRef index, ValueRef place, ValueRef from_end, bool may_be_negative) {
  const ValueRef hit = b.op("equal", {index, place});
  if (!may_be_negative) return hit;
  const ValueRef other = b.op("equal", {index, from_end});
  return b.op("logical_or", {hit, other});
}

// The part of x that the index speaks of, along all axes but that of the places.
ValueRef part_of(ops::Builder& b, ValueRef x, const Shape& index, std::size_t axis) {
  const Shape shape = b.graph().type(x)->shape;
  for (std::size_t i = 0; i < shape.rank(); ++i)
    if (i != axis && shape[i] != index[i]) x = b.slice(x, static_cast<std::int64_t>(i), 0, index[i]);
  return x;
}

// With `border` behind, up to the shape along all axes but that of the places.
ValueRef padded_to(ops::Builder& b, ValueRef x, const Shape& shape, std::size_t axis, std::int64_t border) {
  const Shape from = b.graph().type(x)->shape;
  const std::vector<std::int64_t> before(from.rank(), 0);
  std::vector<std::int64_t> after(from.rank(), 0);
  bool grows = false;
  for (std::size_t i = 0; i < from.rank(); ++i) {
    if (i == axis) continue;
    after[i] = shape[i] - from[i];
    grows = grows || after[i] > 0;
  }
  if (!grows) return x;
  return b.op("pad", {x}, {{"before", before}, {"after", after}, {"value", static_cast<double>(border)}});
}

}  // namespace

bool selects_lines(const IntegerStep& s) {
  return s.type(0).shape.axis(s.attrs().integer("dim")) && s.type(0).shape[axis_of(s)] <= s.limits().factor && !s.has_digits(1);
}

Exactness gathered_by_place(IntegerStep& s) {
  const std::size_t axis = axis_of(s);
  const auto dim = static_cast<std::int64_t>(axis);
  const std::int64_t size = s.type(0).shape[axis];
  if (!selects_lines(s) || size > kMaxSelections || !s.can_split(0)) return s.host(s.range(0), kNoRoomForLines);
  const bool may_be_negative = s.range(1).least < 0;
  return s.by_number(s.range(0), [&](NumberBuilder& n) {
    ops::Builder& b = n.builder();
    const ValueRef index = converted(b, s.in(1), DType::i32);
    const Shape shape = b.graph().type(index)->shape;
    const Number x = n.movable(s.number(0, n));
    Number y = n.constant(0);
    for (std::int64_t place = 0; place < size; ++place) {
      const Number line = n.moved(x, [&](ValueRef digit) { return part_of(b, b.slice(digit, dim, place, place + 1), shape, axis); });
      const ValueRef from_front = n.digit_builder().number(place);
      const ValueRef from_end = n.digit_builder().number(place - size);
      y = n.chosen(is_place(b, index, from_front, from_end, may_be_negative), line, y);
    }
    return y;
  });
}

ValueRef put_in_lines(ops::Builder& b, const IntegerStep& s, ValueRef at, ValueRef target, ValueRef source) {
  const std::size_t axis = axis_of(s);
  const Shape& shape = s.type(0).shape;
  std::vector<std::int64_t> sizes(shape.rank(), 1);
  sizes[axis] = shape[axis];
  std::vector<std::int32_t> front, end;
  for (std::int64_t place = 0; place < shape[axis]; ++place) {
    front.push_back(static_cast<std::int32_t>(place));
    end.push_back(static_cast<std::int32_t>(place - shape[axis]));
  }
  const ValueRef from_front = b.constant(Shape(sizes), std::move(front));
  const ValueRef from_end = b.constant(Shape(sizes), std::move(end));
  // No place is the size of the axis.
  const ValueRef index = padded_to(b, converted(b, at, DType::i32), shape, axis, shape[axis]);
  const ValueRef update = padded_to(b, source, shape, axis, 0);
  return b.op("where", {is_place(b, index, from_front, from_end, s.range(1).least < 0), update, target});
}

}  // namespace buda::passes
