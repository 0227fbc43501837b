// SPDX-License-Identifier: Apache-2.0
// Rules for sums and extremes of many integers.
#include <buda/passes/integers/lines.hpp>
#include <buda/passes/integers/room.hpp>
#include <buda/passes/integers/step.hpp>

#include <algorithm>
#include <bit>
#include <vector>

namespace buda::passes {
namespace {

using graph::ValueRef;

std::int64_t reduced_elements(const IntegerStep& s) {
  const Shape& shape = s.type(0).shape;
  const auto& dims = s.attrs().integers("dims");
  std::int64_t n = 1;
  if (dims.empty()) return elements_of(shape);
  for (const std::int64_t d : dims)
    if (const auto axis = shape.axis(d)) n *= shape[*axis];
  return n;
}

// The op on integers that do not wrap around, where all sums fit the type.
Exactness in_wide(IntegerStep& s, const IntegerRange& range) {
  const DType type = s.result().dtype;
  if (dtype_size(type) >= 4) return s.stays(range);
  const std::string op = s.node().op();
  const graph::AttrMap attrs = s.node().attrs;
  return s.by_value(range, [&](ops::Builder& b) {
    std::vector<graph::Edge> wide;
    for (std::size_t i = 0; i < s.count(); ++i) wide.emplace_back(converted(b, s.in(i), DType::i32));
    const ValueRef y = b.op(op, wide, attrs);
    return converted(b, y, type);
  });
}

// Axes that a sum is over, one after the other.
std::int64_t reduced_axes(const IntegerStep& s) {
  const Shape& shape = s.type(0).shape;
  const auto& dims = s.attrs().integers("dims");
  if (dims.empty()) return std::count_if(shape.begin(), shape.end(), [](std::int64_t size) { return size > 1; });
  return std::count_if(dims.begin(), dims.end(), [&](std::int64_t d) {
    const auto axis = shape.axis(d);
    return axis && shape[*axis] > 1;
  });
}

// Whether a sum of numbers of this range can be a product on the device. Partial sums may be as large as all terms of one sign together.
bool accumulates(const IntegerStep& s, const IntegerRange& range, bool small_operands) {
  const bool is_read = range.within(s.limits().held()) || (s.ends_here() && range.within(s.limits().result));
  return small_operands && is_read && range.inside(range_of_type(s.result().dtype));
}

Exactness accumulated(IntegerStep& s, const IntegerRange& term, std::int64_t terms, bool small_operands) {
  const IntegerRange held = range_of_type(s.result().dtype), range = sum_of(term, terms);
  if (!accumulates(s, range, small_operands)) return s.host(range.inside(held) ? range : held);
  return in_wide(s, range);
}

// ---- sums in digits

// Sums of this range are exact in digits, or are wrapped around before they leave them.
bool sums_in_digits(const IntegerStep& s, const IntegerRange& range) {
  const IntegerRange held = range_of_type(s.result().dtype);
  if (!s.can_split(0)) return false;
  if (range.inside(held)) return range.within(s.limits().whole());
  return dtype_size(s.result().dtype) < 4 && (held + held).within(s.limits().whole()) &&
         (s.range(0) + s.range(0)).within(s.limits().whole());
}

// Along an axis of `size`, half of the elements and the other half at a time.
Number summed_along(NumberBuilder& n, Number x, std::int64_t axis, std::int64_t size, DType type) {
  std::vector<Number> odd;
  while (size > 1) {
    const std::int64_t half = size / 2;
    const Number whole = n.movable(x);
    auto part = [&](std::int64_t from, std::int64_t to) {
      return n.moved(whole, [&](ValueRef digit) { return n.builder().slice(digit, axis, from, to); });
    };
    const Number first = part(0, half);
    const Number second = part(half, 2 * half);
    if (size % 2 != 0) odd.push_back(part(2 * half, size));
    x = n.partial_sum(first, second, type);
    size = half;
  }
  for (const Number& other : odd) x = n.partial_sum(x, other, type);
  return x;
}

Number summed(NumberBuilder& n, IntegerStep& s) {
  Number x = s.number(0, n);
  const Shape& shape = s.type(0).shape;
  std::vector<std::int64_t> dims = s.attrs().integers("dims");
  if (dims.empty())
    for (std::size_t i = 0; i < shape.rank(); ++i) dims.push_back(static_cast<std::int64_t>(i));
  for (const std::int64_t dim : dims)
    if (const auto axis = shape.axis(dim)) x = summed_along(n, x, static_cast<std::int64_t>(*axis), shape[*axis], s.result().dtype);
  const Shape result = s.result().shape;
  const ValueRef any = x.digits ? x.digits->low : x.single;
  if (n.builder().graph().type(any)->shape == result) return n.wrapped(x, s.result().dtype);
  x = n.moved(n.movable(x), [&](ValueRef digit) { return n.builder().reshape(digit, result); });
  return n.wrapped(x, s.result().dtype);
}

Exactness reduced_sum(IntegerStep& s) {
  if (is_float(s.result().dtype)) return Exactness::stays;
  const IntegerRange held = range_of_type(s.result().dtype), range = sum_of(s.range(0), reduced_elements(s));
  const bool is_empty = s.type(0).shape.volume() == 0;
  // The sum over one axis is an operand of the sum over the next.
  const bool is_summed = s.is_moved(0) && (reduced_axes(s) < 2 || range.within(s.limits().held()));
  if (is_empty || accumulates(s, range, is_summed) || !sums_in_digits(s, range))
    return accumulated(s, s.range(0), reduced_elements(s), is_summed);
  return s.by_number(range.inside(held) ? range : held, [&](NumberBuilder& n) { return summed(n, s); });
}

// In as many steps as the size of the axis has bits: after each the sums are of twice as many elements.
Number running(NumberBuilder& n, IntegerStep& s, std::int64_t axis) {
  const Shape& shape = s.type(0).shape;
  const std::int64_t size = shape[static_cast<std::size_t>(axis)];
  const bool reverse = s.attrs().boolean("reverse");
  const IntegerRange term = s.range(0);
  const DType type = s.result().dtype;
  auto shifted = [&](const Number& x, std::int64_t by) {
    Number y = n.moved(x, [&](ValueRef digit) {
      std::vector<std::int64_t> before(shape.rank(), 0), after(shape.rank(), 0);
      (reverse ? after : before)[static_cast<std::size_t>(axis)] = by;
      const ValueRef kept = reverse ? n.builder().slice(digit, axis, by, size) : n.builder().slice(digit, axis, 0, size - by);
      return n.builder().pad(kept, before, after);
    });
    y.range = hull(y.range, {0, 0});
    return y;
  };
  Number x = n.movable(s.number(0, n));
  if (s.attrs().boolean("exclusive")) x = shifted(x, 1);
  for (std::int64_t step = 1; step < size; step *= 2) {
    x = n.movable(x);
    const Number other = shifted(x, step);
    const bool is_whole = x.range.inside(sum_of(term, step));
    x = n.partial_sum(x, other, type);
    if (is_whole && sum_of(term, 2 * step).inside(x.range)) x.range = sum_of(term, std::min(2 * step, size));
  }
  return n.wrapped(x, s.result().dtype);
}

Exactness running_sum(IntegerStep& s) {
  if (is_float(s.result().dtype)) return Exactness::stays;
  const auto axis = s.type(0).shape.axis(s.attrs().integer("dim"));
  const std::int64_t size = axis ? s.type(0).shape[*axis] : 1;
  const IntegerRange held = range_of_type(s.result().dtype), range = sum_of(s.range(0), size);
  // Of one element each.
  if (size == 1 && !s.attrs().boolean("exclusive")) return s.by_value(s.range(0), [&](ops::Builder&) { return s.in(0); });
  if (size < 2 || accumulates(s, range, s.is_moved(0)) || !sums_in_digits(s, range)) return accumulated(s, s.range(0), size, s.is_moved(0));
  return s.by_number(range.inside(held) ? range : held, [&](NumberBuilder& n) { return running(n, s, static_cast<std::int64_t>(*axis)); });
}

// ---- products of matrices
//
// The matrix unit aligns products that it adds up to the largest of a group of eight (ExactLimits::exponent). Where factors have too many
// bits for that, one of them is cut into parts, which follow each other along the inner axis, each from a multiple of eight on:
//
//   x w = [x, x] [w mod 2^k; w - w mod 2^k]
//
// All products with one part are multiples of its place.

constexpr std::int64_t kAligned = 8;

int exponent_of(const IntegerRange& range) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(without_sign(range).most, 1)))) - 1;
}

bool aligns(const IntegerStep& s) { return exponent_of(s.range(0)) + exponent_of(s.range(1)) <= s.limits().exponent; }

// Of `bits` bits each, in their places.
std::vector<ValueRef> parts_of(NumberBuilder& n, ValueRef x, IntegerRange range, int bits) {
  ops::Builder& b = n.builder();
  DigitBuilder& d = n.digit_builder();
  const std::int64_t step = std::int64_t{1} << bits;
  std::vector<ValueRef> out;
  auto append = [&](ValueRef part, std::int64_t place) {
    if (place == 1) return out.push_back(part);
    const ValueRef weight = d.number(place);
    out.push_back(b.multiply(part, weight));
  };
  std::int64_t place = 1;
  for (; !range.within(step - 1); place *= step) {
    // Parts are taken of numbers that are not negative.
    const std::int64_t offset = (std::max<std::int64_t>(-range.least, 0) + step - 1) / step * step;
    if (offset > 0) x = b.add(x, d.number(offset));
    const auto [high, low] = n.parted(x, std::max(range.most + offset, step), step);
    append(low, place);
    x = offset > 0 ? b.subtract(high, d.number(offset / step)) : high;
    range = {(range.least + offset) / step - offset / step, (range.most + offset) / step - offset / step};
  }
  append(x, place);
  return out;
}

// One below the other along the axis, each with zeros up to a multiple of eight.
ValueRef joined_aligned(ops::Builder& b, const std::vector<ValueRef>& parts, const Shape& shape, std::size_t axis) {
  const std::int64_t more = (kAligned - shape[axis] % kAligned) % kAligned;
  std::vector<graph::Edge> all;
  for (const ValueRef part : parts) {
    std::vector<std::int64_t> before(shape.rank(), 0), after(shape.rank(), 0);
    after[axis] = more;
    all.emplace_back(more == 0 ? part : b.pad(part, before, after));
  }
  return b.concatenate(std::move(all), static_cast<std::int64_t>(axis));
}

Exactness product_of_parts(IntegerStep& s, const IntegerRange& range) {
  // What is known is cut while compiling.
  const std::size_t cut = s.is_known(0) && !s.is_known(1) ? 0 : 1, whole = 1 - cut;
  const int bits = s.limits().exponent + 1 - exponent_of(s.range(whole));
  const DType type = s.result().dtype;
  return s.by_value(range, [&](ops::Builder& b) {
    NumberBuilder n(b, s.limits());
    ValueRef operands[2];
    operands[cut] = converted(b, s.in(cut), DType::i32);
    operands[whole] = converted(b, s.in(whole), DType::i32);
    const std::vector<ValueRef> parts = parts_of(n, operands[cut], s.range(cut), bits);
    const std::vector<ValueRef> copies(parts.size(), operands[whole]);
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      const Shape& shape = s.type(i).shape;
      const std::size_t axis = i == 0 || shape.rank() == 1 ? shape.rank() - 1 : shape.rank() - 2;
      operands[i] = joined_aligned(b, i == cut ? parts : copies, shape, axis);
    }
    return converted(b, b.matmul(operands[0], operands[1]), type);
  });
}

Exactness matrix_product(IntegerStep& s) {
  if (is_float(s.result().dtype) || !s.is_whole(0) || !s.is_whole(1)) return any_other_op(s);
  const Shape& a = s.type(0).shape;
  const IntegerRange term = s.range(0) * s.range(1);
  const std::int64_t terms = a.rank() == 0 ? 1 : a[a.rank() - 1];
  const bool small = s.is_factor(0) && s.is_factor(1) && s.count() == 2;
  if (small && !aligns(s) && accumulates(s, sum_of(term, terms), small)) return product_of_parts(s, sum_of(term, terms));
  return accumulated(s, term, terms, small);
}

Exactness convolution(IntegerStep& s) {
  if (is_float(s.result().dtype) || !s.is_whole(0) || !s.is_whole(1)) return any_other_op(s);
  const Shape& weights = s.type(1).shape;
  const std::int64_t terms = elements_of(weights) / std::max<std::int64_t>(1, weights[0]);
  return accumulated(s, s.range(0) * s.range(1), terms, s.is_factor(0) && s.is_factor(1) && s.count() == 2 && aligns(s));
}

Exactness reduced_product(IntegerStep& s) {
  if (is_float(s.result().dtype)) return Exactness::stays;
  const IntegerRange held = range_of_type(s.result().dtype), factor = s.range(0);
  IntegerRange range = hull(factor, {1, 1});
  // Zeros and ones stay what they are; larger numbers leave the factors after a few.
  const std::int64_t factors = without_sign(factor).most > 1 ? reduced_elements(s) : 1;
  for (std::int64_t i = 1; i < factors && range.within(s.limits().factor); ++i) range = hull(range, range * factor);
  if (!s.is_factor(0) || !range.within(s.limits().factor) || !range.inside(held)) return s.host(held);
  return s.stays(range);
}

// Along an axis in front of the last two each matrix is moved by itself, as a whole of Float32.
bool has_room_for_matrices(const IntegerStep& s) {
  const Shape& shape = s.type(0).shape;
  if (shape.rank() < 3) return true;
  std::int64_t matrices = 1;
  for (std::size_t i = 0; i + 2 < shape.rank(); ++i) matrices *= shape[i];
  const auto& dims = s.attrs().integers("dims");
  const bool is_along_them = std::any_of(dims.begin(), dims.end(), [&](std::int64_t d) {
    const auto axis = shape.axis(d);
    return axis && *axis + 2 < shape.rank();
  });
  return !is_along_them || have_room(matrices);
}

// The largest high digit, and the largest low one of those that have it.
template <bool is_smallest>
Exactness reduced_extreme(IntegerStep& s) {
  if (is_float(s.result().dtype)) return Exactness::stays;
  const IntegerRange range = s.range(0);
  if (s.is_moved(0)) return s.stays(range);
  if (!s.can_split(0)) return s.host(range);
  if (!has_room_for_matrices(s)) return s.host(range, kNoRoomForLines);
  const std::vector<std::int64_t> dims = s.attrs().integers("dims");
  const Shape shape = s.result().shape;
  return s.by_digits(range, [&](ops::Builder& b, DigitBuilder& d) {
    auto reduce = [&](ValueRef x) { return is_smallest ? b.reduce_min(x, dims) : b.reduce_max(x, dims); };
    const Digits x = s.split(0, b);
    const ValueRef high = reduce(x.high);
    const ValueRef has_it = b.op("equal", {x.high, high});
    const ValueRef other = d.number(is_smallest ? s.limits().base - 1 : 0);
    const ValueRef candidates = b.op("where", {has_it, x.low, other});
    const ValueRef low = reduce(candidates);
    if (b.graph().type(high)->shape == shape) return Digits{high, low};
    const ValueRef top = b.reshape(high, shape);
    return Digits{top, b.reshape(low, shape)};
  });
}

}  // namespace

Exactness any_other_op(IntegerStep& s) {
  bool small = true;
  for (std::size_t i = 0; i < s.count(); ++i) small = small && (!s.is_whole(i) || s.is_factor(i));
  for (std::uint32_t port = 0; port < s.node().outputs.size(); ++port)
    if (!is_float(s.node().outputs[port].dtype)) s.say(range_of_type(s.node().outputs[port].dtype), port);
  // Of an op that computes integers nothing is known: products of many, sums that a formula hides.
  const bool computes = is_integer(s.node().outputs[0].dtype) && s.node().op() != "resize";
  return small && !computes ? Exactness::stays : Exactness::host;
}

const std::vector<NamedIntegerRule>& reduction_integer_rules() {
  static const std::vector<NamedIntegerRule> rules = {
      {"reduce_sum", reduced_sum},
      {"reduce_prod", reduced_product},
      {"cumsum", running_sum},
      {"matmul", matrix_product},
      {"conv1d", convolution},
      {"conv2d", convolution},
      {"conv3d", convolution},
      {"reduce_max", reduced_extreme<false>},
      {"reduce_min", reduced_extreme<true>},
  };
  return rules;
}

}  // namespace buda::passes
