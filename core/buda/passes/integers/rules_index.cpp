// SPDX-License-Identifier: Apache-2.0
// Rules for ops that read or give places: gathers, scatters, one-hot vectors, places of extremes.
//
// The decompositions compare an index with 0, 1, 2, …. Indices that are too large for that get digits, which the decompositions find
// (digit_parts.hpp) and compare one by one. An index counts from the end where it is negative; digits are made of what it is then.
#include <buda/passes/integers/digit_parts.hpp>
#include <buda/passes/integers/lines.hpp>
#include <buda/passes/integers/ranks.hpp>
#include <buda/passes/integers/room.hpp>
#include <buda/passes/integers/step.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace buda::passes {
namespace {

using graph::Edge;
using graph::ValueRef;

// ---- operands that are indices

// Makes an index into `sizes` (of the last axis' coordinates; one: of all) one that the decompositions compare exactly. False: they cannot.
// `in_row`: the decomposition copies the indices, which are columns, for all rows.
bool comparable_index(IntegerStep& s, std::size_t input, const std::vector<std::int64_t>& sizes, bool in_row = false) {
  if (s.is_known(input)) return true;
  const std::int64_t size = *std::max_element(sizes.begin(), sizes.end());
  const IntegerRange told = s.range(input), legal{-size, size - 1}, range = intersection(told, legal);
  // A negative index is added to the size. Whatever the type holds, an index is legal, or the model is wrong.
  if (size <= (in_row ? s.limits().moved() : s.limits().operand) && !s.has_digits(input)) return true;
  if (size > s.limits().whole() || !s.can_split(input, range)) return false;
  if (range.least >= 0 && s.has_digits(input)) return true;
  s.set_digits(input, [&](ops::Builder& b, DigitBuilder& d) {
    const Digits index = s.split(input, b);
    if (range.least >= 0) return index;
    Digits length;
    if (sizes.size() == 1) {
      length = d.of_number(size);
    } else {
      length = d.of_constant(Tensor(Shape{static_cast<std::int64_t>(sizes.size())}, sizes));
    }
    const ValueRef below = d.is_negative(index);
    const Digits from_front = d.sum(index, length);
    return d.chosen(below, from_front, index);
  });
  return true;
}

// Lines of gather_elements and scatter_elements.
bool has_room_for_lines(const IntegerStep& s) {
  const Shape& index = s.type(1).shape;
  const auto axis = index.axis(s.attrs().integer("dim"));
  return have_room(elements_of(index) / (axis ? std::max<std::int64_t>(index[*axis], 1) : 1));
}

// Whether a core that makes matrices of lines has to hold more than their kernel has room for: the tiles of all lines, in Float32. Lines of
// another axis than the last are turned around on the way, by a selection that takes each element from a matrix of its own; devices
// without Float32, whose L1 is smaller, have room for few of those.
bool is_crowded(const IntegerStep& s) {
  constexpr std::int64_t kMaxHeldAtOnce = 280, kMaxTurned = 32, kTile = 32;
  const Shape &index = s.type(1).shape, &x = s.type(0).shape;
  const auto axis = index.axis(s.attrs().integer("dim"));
  if (!axis) return false;
  const std::int64_t lines = elements_of(index) / std::max<std::int64_t>(index[*axis], 1);
  const bool is_small = s.limits().result <= s.limits().operand && *axis + 1 < index.rank();
  return lines * ((x[*axis] + kTile - 1) / kTile) > (is_small ? kMaxTurned : kMaxHeldAtOnce);
}

// The op with each digit of one operand, which it puts into its result as it is.
Exactness by_digits_of(IntegerStep& s, std::size_t input, const IntegerRange& range) {
  const std::string op = s.node().op();
  const graph::AttrMap attrs = s.node().attrs;
  const std::vector<Edge> operands = s.node().inputs();
  return s.by_digits(range, [&](ops::Builder& b, DigitBuilder&) {
    const Digits x = s.split(input, b);
    auto of = [&](ValueRef digit) {
      std::vector<Edge> inputs = operands;
      inputs[input] = digit;
      return b.op(op, inputs, attrs);
    };
    const ValueRef high = of(x.high);
    return Digits{high, of(x.low)};
  });
}

// Numbers that a product with ones and zeros takes: exact integers, or floats.
bool movable(const IntegerStep& s, std::size_t input) { return !s.is_whole(input) || s.is_factor(input); }

Exactness kept(IntegerStep& s, const IntegerRange& range) { return is_float(s.result().dtype) ? Exactness::stays : s.stays(range); }
Exactness given_up(IntegerStep& s, const IntegerRange& range) { return is_float(s.result().dtype) ? Exactness::host : s.host(range); }

// An op that takes elements of x: of each digit of x, where it is large.
// `rows`: so many of the sizes are compared all at once.
Exactness taken(IntegerStep& s, const std::vector<std::int64_t>& sizes, bool in_row = false, std::optional<std::size_t> rows = {}) {
  const IntegerRange range = s.is_whole(0) ? s.range(0) : IntegerRange{};
  // Decompositions leave large tables alone; the device looks rows up by their numbers, or the host does.
  const Shape compared(std::vector<std::int64_t>(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(rows.value_or(sizes.size()))));
  const bool is_large = !s.is_known(1) && elements_of(compared) > kMaxComparedPlaces;
  if (is_large) return movable(s, 0) ? kept(s, range) : s.host(range);
  if (!movable(s, 0) && !s.can_split(0)) return s.host(range);
  if (!comparable_index(s, 1, sizes, in_row)) return given_up(s, range);
  return movable(s, 0) ? kept(s, range) : by_digits_of(s, 0, range);
}

std::int64_t size_along(const IntegerStep& s) {
  const Shape& shape = s.type(0).shape;
  const auto axis = shape.axis(s.attrs().integer("dim"));
  return axis ? shape[*axis] : 1;
}

std::vector<std::int64_t> sizes_of_coordinates(const IntegerStep& s, std::int64_t batch_dims) {
  const Shape &x = s.type(0).shape, &index = s.type(1).shape;
  std::vector<std::int64_t> sizes;
  for (std::int64_t i = 0; i < index[index.rank() - 1]; ++i) sizes.push_back(x[static_cast<std::size_t>(batch_dims + i)]);
  if (sizes.empty()) sizes.push_back(1);
  return sizes;
}

Exactness gather(IntegerStep& s) {
  const Shape& shape = s.type(0).shape;
  const auto axis = shape.axis(s.attrs().integer("dim"));
  // What comes out of the product has the axes behind as columns.
  std::int64_t columns = 1;
  for (std::size_t i = axis.value_or(shape.rank()) + 1; i < shape.rank(); ++i) columns *= shape[i];
  if (s.is_whole(0) && !s.is_known(1) && !has_room_for_row(columns)) return s.host(s.range(0), kNoRoomForRow);
  return taken(s, {size_along(s)}, axis && *axis + 1 == shape.rank());
}
Exactness gather_elements(IntegerStep& s) {
  const bool is_short = size_along(s) <= kMaxSelections && selects_lines(s) && s.can_split(0);
  if (s.is_whole(0) && (!has_room_for_lines(s) || (is_crowded(s) && is_short))) return gathered_by_place(s);
  return taken(s, {size_along(s)}, true);
}
Exactness gather_nd(IntegerStep& s) {
  const std::int64_t batch_dims = s.attrs().integer("batch_dims");
  const std::vector<std::int64_t> sizes = sizes_of_coordinates(s, batch_dims);
  // The decomposition takes a row by all coordinates but the last.
  const bool by_rows = batch_dims == 0 && sizes.size() > 1 && sizes.size() == s.type(0).shape.rank();
  return taken(s, sizes, false, by_rows ? sizes.size() - 1 : sizes.size());
}

// ---- elements put into x

// Updates of one place are put one after the other; more than these are the host's.
constexpr std::int64_t kMaxPuts = 16;

struct Updates {
  std::int64_t count = 0;  // of any place at most
  std::int64_t axis = 0;   // of the index and the updates, on which each is one
  bool in_turn = false;    // compared all at once they have no room
  bool by_lines = false;   // nor have the lines that each is put into
};

IntegerRange range_of_put(const IntegerStep& s, const std::string& reduction, std::int64_t count) {
  const IntegerRange x = s.range(0), update = s.range(2);
  if (reduction == "add") return x + sum_of(update, count);
  IntegerRange range = hull(x, update);
  if (reduction != "mul") return range;
  range = x;
  const std::int64_t factors = without_sign(update).most > 1 ? std::min<std::int64_t>(count, 64) : 1;
  for (std::int64_t i = 0; i < factors; ++i) range = hull(range, range * update);
  return range;
}

// One digit of x after one digit of updates is put at the indices.
using Put = std::function<ValueRef(ValueRef target, ValueRef at, ValueRef source)>;

// By the op itself, of which there is one update for each place, or by selections of lines.
Put put_by(ops::Builder& b, const IntegerStep& s, bool by_lines) {
  if (by_lines) return [&](ValueRef target, ValueRef at, ValueRef source) { return put_in_lines(b, s, at, target, source); };
  graph::AttrMap attrs = s.node().attrs;
  attrs["reduction"] = std::string("none");
  return [&b, &s, attrs](ValueRef target, ValueRef at, ValueRef source) { return b.op(s.node().op(), {target, at, source}, attrs); };
}

// x after the updates, of which each is put into a copy of its own.
Number put_in_turn(NumberBuilder& n, IntegerStep& s, const std::string& reduction, const Updates& updates) {
  const DType type = s.result().dtype;
  const Edge index = s.node().inputs()[1];
  const bool is_sum = reduction == "add", is_product = reduction == "mul";
  const Put put = put_by(n.builder(), s, updates.by_lines);
  Number x = s.number(0, n);
  const Number all = n.movable(s.number(2, n));
  std::optional<Number> plain;
  if (is_sum || is_product) {
    std::vector<std::int32_t> elements(static_cast<std::size_t>(elements_of(s.result().shape)), is_product ? 1 : 0);
    const std::int64_t value = is_product ? 1 : 0;
    plain = n.single(n.builder().constant(s.result().shape, std::move(elements)), {value, value});
  }
  for (std::int64_t i = 0; i < updates.count; ++i) {
    const ValueRef at = n.builder().slice(index, updates.axis, i, i + 1);
    const Number update = n.moved(all, [&](ValueRef digit) { return n.builder().slice(digit, updates.axis, i, i + 1); });
    Number into = plain ? *plain : n.movable(x);
    Number part = update;
    if (into.digits && !part.digits) part = n.of_digits(n.digits(part), part.range);
    if (part.digits && !into.digits) into = n.of_digits(n.digits(into), into.range);
    Number other;
    if (part.digits) {
      const ValueRef high = put(into.digits->high, at, part.digits->high);
      other = n.of_digits({high, put(into.digits->low, at, part.digits->low)}, {});
    } else {
      other = n.single(put(into.single, at, part.single), {});
    }
    other.range = hull(into.range, part.range);
    if (is_sum) {
      x = n.partial_sum(x, other, type);
    } else if (reduction == "none") {
      x = other;
    } else if (!is_product) {
      x = n.larger(x, other, reduction == "min");
    } else if ((x.range * other.range).within(s.limits().whole())) {
      x = n.product(x, other);
    } else {
      const Number product = n.wrapped_product(x, other, static_cast<int>(8 * dtype_size(type)));
      x = n.wrapped(product, type);
    }
  }
  return n.wrapped(x, type);
}

// Whether that is exact.
bool can_put_in_turn(const IntegerStep& s, const std::vector<std::int64_t>& sizes, const Updates& updates) {
  const IntegerRange range = range_of_put(s, s.attrs().text("reduction"), updates.count), held = range_of_type(s.result().dtype);
  const bool wraps = dtype_size(s.result().dtype) < 4 && (held + held).within(s.limits().whole());
  const bool is_comparable = s.is_known(1) || (*std::max_element(sizes.begin(), sizes.end()) <= s.limits().operand && !s.has_digits(1));
  return s.can_split(0) && s.can_split(2) && is_comparable && updates.count > 0 && updates.count <= kMaxPuts &&
         (range.inside(held) ? range.within(s.limits().whole()) : wraps);
}

// An op that puts elements into x.
Exactness put(IntegerStep& s, const std::vector<std::int64_t>& sizes, const Updates& updates) {
  const std::string reduction = s.attrs().text("reduction");
  const IntegerRange held = range_of_type(s.result().dtype);
  if (is_float(s.result().dtype)) return comparable_index(s, 1, sizes) ? Exactness::stays : Exactness::host;
  const IntegerRange range = range_of_put(s, reduction, updates.count);
  const bool fits = range.inside(held), small = s.is_factor(0) && s.is_factor(2);
  const bool is_sum = !updates.by_lines && reduction == "add" && small && fits && range.within(s.limits().operand);
  const bool is_moved = !updates.by_lines && reduction != "add" && reduction != "mul" &&
                        ((small && !(updates.in_turn && reduction != "none")) || (reduction == "none" && s.can_split(0) && s.can_split(2)));
  if (!is_sum && !is_moved) {
    const bool in_turn = (reduction != "none" || updates.by_lines) && can_put_in_turn(s, sizes, updates);
    if (!in_turn && updates.by_lines) return s.host(fits ? range : held, kNoRoomForLines);
    if (!in_turn) return s.host(fits ? range : held);
    return s.by_number(fits ? range : held, [&](NumberBuilder& n) { return put_in_turn(n, s, reduction, updates); });
  }
  if (!comparable_index(s, 1, sizes)) return s.host(range);
  if (small) return s.stays(range);
  const graph::AttrMap attrs = s.node().attrs;
  const Edge index = s.node().inputs()[1];
  return s.by_digits(range, [&](ops::Builder& b, DigitBuilder&) {
    const Digits x = s.split(0, b);
    const Digits given = s.split(2, b);
    const ValueRef high = b.op(s.node().op(), {x.high, index, given.high}, attrs);
    return Digits{high, b.op(s.node().op(), {x.low, index, given.low}, attrs)};
  });
}

Exactness scatter_elements(IntegerStep& s) {
  const Shape& index = s.type(1).shape;
  const auto axis = index.axis(s.attrs().integer("dim"));
  if (!axis) return put(s, {size_along(s)}, {});
  Updates updates{index[*axis], static_cast<std::int64_t>(*axis)};
  if (!s.is_whole(0)) return put(s, {size_along(s)}, updates);
  const bool has_room = has_room_for_lines(s), is_selected = selects_lines(s);
  if (!has_room && !is_selected) return s.host(range_of_type(s.result().dtype), kNoRoomForLines);
  updates.by_lines = !has_room || (is_crowded(s) && is_selected && can_put_in_turn(s, {size_along(s)}, updates));
  return put(s, {size_along(s)}, updates);
}

Exactness scatter_nd(IntegerStep& s) {
  const Shape& index = s.type(1).shape;
  const bool is_list = index.rank() == 2;  // else the updates are on several axes
  const std::int64_t rows = std::max<std::int64_t>(elements_of(index) / std::max<std::int64_t>(index[index.rank() - 1], 1), 1);
  const std::int64_t columns = std::max<std::int64_t>(elements_of(s.type(2).shape) / rows, 1);
  if (s.is_whole(0) && !has_room_for_row(columns)) return s.host(range_of_type(s.result().dtype), kNoRoomForRow);
  const bool has_room = have_room(columns);
  return put(s, sizes_of_coordinates(s, 0), {is_list ? index[0] : elements_of(index), 0, !has_room});
}

Exactness one_hot(IntegerStep& s) {
  if (!s.is_whole(0)) return Exactness::host;
  const std::int64_t depth = s.attrs().integer("depth");
  const IntegerRange range = s.is_whole(1) ? s.range(1) : IntegerRange{};
  if (!movable(s, 1) && !s.can_split(1)) return s.host(range);
  auto of_values = [&] { return movable(s, 1) ? kept(s, range) : by_digits_of(s, 1, range); };
  // An index beyond the depth gives no hit, so that the sum with the depth must be exact for all of them.
  const bool direct = s.is_operand(0) && (s.range(0) + IntegerRange{depth, depth}).within(s.limits().factor);
  if (direct) return of_values();
  if (!s.can_split(0) || !(s.range(0) + IntegerRange{depth, depth}).within(s.limits().whole())) return given_up(s, range);
  s.set_digits(0, [&](ops::Builder& b, DigitBuilder& d) {
    const Digits index = s.split(0, b);
    if (s.range(0).least >= 0) return index;
    const ValueRef below = d.is_negative(index);
    const Digits length = d.of_number(depth);
    const Digits from_front = d.sum(index, length);
    return d.chosen(below, from_front, index);
  });
  return of_values();
}

Exactness lengths(IntegerStep& s) {
  const std::int64_t steps = *std::max_element(s.type(0).shape.begin(), s.type(0).shape.end());
  const bool fine = movable(s, 0) && 2 * steps <= s.limits().operand && !s.has_digits(1);
  const IntegerRange range = s.is_whole(0) ? s.range(0) : IntegerRange{};
  return fine ? kept(s, range) : given_up(s, range);
}

// Regions of samples, numbered.
Exactness regions(IntegerStep& s) {
  return s.type(0).shape[0] <= s.limits().operand && !s.has_digits(2) ? Exactness::stays : Exactness::host;
}

// Steps of a sequence that are within its length.
Exactness recurrence(IntegerStep& s) {
  return s.type(0).shape[0] <= s.limits().operand && s.type(0).shape[1] <= s.limits().operand ? Exactness::stays : Exactness::host;
}

// Numbers that are compared with those of a pool.
Exactness ngrams(IntegerStep& s) {
  const auto& pool = s.attrs().integers("pool");
  const bool small = std::all_of(pool.begin(), pool.end(), [&](std::int64_t v) { return std::abs(v) < s.limits().operand; });
  return small && !s.has_digits(0) ? Exactness::stays : Exactness::host;
}

// ---- results that are places

// Where x is as large (small) as the largest (smallest) element along an axis.
ValueRef hits_of_extreme(ops::Builder& b, DigitBuilder& d, IntegerStep& s, std::int64_t dim, bool smallest) {
  auto reduce = [&](ValueRef x) { return smallest ? b.reduce_min(x, {dim}) : b.reduce_max(x, {dim}); };
  if (!s.is_whole(0) || s.is_factor(0)) {
    const ValueRef x = s.in(0);
    const ValueRef extreme = reduce(x);
    return b.op(smallest ? "less_equal" : "greater_equal", {x, extreme});
  }
  const Digits x = s.split(0, b);
  const ValueRef high = reduce(x.high);
  const ValueRef has_it = b.op("equal", {x.high, high});
  const ValueRef other = d.number(smallest ? s.limits().base : -1);
  const ValueRef candidates = b.op("where", {has_it, x.low, other});
  const ValueRef low = reduce(candidates);
  return b.op("equal", {candidates, low});
}

// The first (last) place of the largest element by two digits: of all that are as large the first (last) high digit, and of those that
// have it the first (last) low one. A row that is nowhere equal to its maximum (NaN) has place 0.
Digits place_by_digits(ops::Builder& b, DigitBuilder& d, IntegerStep& s, bool smallest) {
  const Shape shape = s.type(0).shape;
  const std::size_t axis = *shape.axis(s.attrs().integer("dim"));
  const auto dim = static_cast<std::int64_t>(axis);
  const bool last = s.attrs().boolean("last");
  const std::int64_t n = shape[axis], base = s.limits().base, rows = (n + base - 1) / base;
  const ValueRef hit = hits_of_extreme(b, d, s, dim, smallest);
  const ValueRef is_hit = d.as_number(hit);

  std::vector<std::int64_t> sizes(shape.rank(), 1);
  sizes[axis] = n;
  // Counted so that the wanted digit is the largest, from 1: a product with 0 is then below all.
  std::vector<std::int32_t> high, low;
  for (std::int64_t i = 0; i < n; ++i) {
    high.push_back(static_cast<std::int32_t>(last ? i / base + 1 : rows - i / base));
    low.push_back(static_cast<std::int32_t>(last ? i % base + 1 : base - i % base));
  }
  auto largest = [&](ValueRef hits, std::vector<std::int32_t> ranks, ValueRef* ranked) {
    const ValueRef constant = b.constant(Shape(sizes), std::move(ranks));
    *ranked = b.multiply(hits, constant);
    return b.reduce_max(*ranked, {dim});
  };
  auto digit = [&](ValueRef rank, std::int64_t count) {
    const ValueRef one = d.number(1);
    const ValueRef some = b.maximum(rank, one);
    const ValueRef from = d.number(last ? 1 : count);
    return last ? b.subtract(some, from) : b.subtract(from, some);
  };
  ValueRef ranked;
  const ValueRef top = largest(is_hit, std::move(high), &ranked);
  const ValueRef none = d.number(0);
  const ValueRef is_found = d.as_number(b.op("greater", {top, none}));
  const ValueRef in_row = b.op("equal", {ranked, top});
  const ValueRef both = d.as_number(b.op("logical_and", {in_row, hit}));
  const ValueRef bottom = largest(both, std::move(low), &ranked);
  ValueRef of_high = digit(top, rows);
  of_high = b.multiply(is_found, of_high);
  ValueRef of_low = digit(bottom, base);
  of_low = b.multiply(is_found, of_low);
  const Shape& result = s.result().shape;
  if (result == b.graph().type(of_high)->shape) return {of_high, of_low};
  const ValueRef high_digit = b.reshape(of_high, result);
  return {high_digit, b.reshape(of_low, result)};
}

Exactness place_of_extreme(IntegerStep& s) {
  const std::int64_t n = size_along(s);
  const IntegerRange range{0, std::max<std::int64_t>(n - 1, 0)};
  const bool is_single = !s.is_whole(0) || s.is_factor(0);
  if (is_single && n <= s.limits().operand) return s.stays(range);
  if (n > s.limits().whole() || (!is_single && !s.can_split(0))) return s.host(range);
  const bool smallest = s.node().op() == "argmin";
  return s.by_digits(range, [&](ops::Builder& b, DigitBuilder& d) { return place_by_digits(b, d, s, smallest); });
}

// The largest (smallest) element of each line, its first place, and the same of what is left, whose first digit is beyond all.
std::pair<Digits, ValueRef> largest_integers(ops::Builder& b, DigitBuilder& d, IntegerStep& s) {
  const Shape shape = s.type(0).shape;
  const std::size_t axis = *shape.axis(s.attrs().integer("dim"));
  const auto dim = static_cast<std::int64_t>(axis);
  const std::int64_t n = shape[axis], k = s.attrs().integer("k");
  const bool smallest = !s.attrs().boolean("largest");
  std::vector<std::int64_t> sizes(shape.rank(), 1);
  sizes[axis] = n;
  std::vector<std::int32_t> ranks, numbers;
  for (std::int64_t i = 0; i < n; ++i) {
    ranks.push_back(static_cast<std::int32_t>(n - i));
    numbers.push_back(static_cast<std::int32_t>(i));
  }
  const ValueRef by_rank = b.constant(Shape(sizes), std::move(ranks));
  const ValueRef by_number = b.constant(Shape(sizes), std::move(numbers));
  const ValueRef count = d.number(n);
  auto reduce = [&](ValueRef x) { return smallest ? b.reduce_min(x, {dim}) : b.reduce_max(x, {dim}); };
  // What is taken has a high digit that none has, and what is no candidate a low one.
  const std::int64_t beyond = s.limits().factor + 1;
  const ValueRef taken = d.number(smallest ? beyond : -beyond);
  const ValueRef no_candidate = d.number(smallest ? s.limits().base : -1);
  Digits x = s.split(0, b);
  std::vector<Edge> high, low, places;
  for (std::int64_t i = 0; i < k; ++i) {
    const ValueRef top = reduce(x.high);
    const ValueRef has_it = b.op("equal", {x.high, top});
    const ValueRef candidates = b.op("where", {has_it, x.low, no_candidate});
    const ValueRef bottom = reduce(candidates);
    const ValueRef hit = d.as_number(b.op("equal", {candidates, bottom}));
    const ValueRef ranked = b.multiply(hit, by_rank);
    const ValueRef first = b.reduce_max(ranked, {dim});
    const ValueRef place = b.subtract(count, first);
    high.emplace_back(top);
    low.emplace_back(bottom);
    places.emplace_back(place);
    if (i + 1 == k) break;
    const ValueRef is_taken = b.op("equal", {by_number, place});
    x.high = b.op("where", {is_taken, taken, x.high});
  }
  auto joined = [&](std::vector<Edge> parts) { return k == 1 ? parts[0].source : b.concatenate(std::move(parts), dim); };
  const ValueRef top = joined(std::move(high));
  const ValueRef bottom = joined(std::move(low));
  const ValueRef all = joined(std::move(places));
  return {{top, bottom}, b.op("exact_cast", {all}, {{"dtype", std::string(dtype_name(DType::i64))}})};
}

// As many as the decomposition of floats takes one after the other (plugin `index`), and where ranks take fewer ops.
constexpr std::int64_t kMaxTop = 32, kMaxTopInTurn = 8;

Exactness topk(IntegerStep& s) {
  const std::int64_t n = size_along(s), k = s.attrs().integer("k");
  const IntegerRange places{0, std::max<std::int64_t>(n - 1, 0)};
  s.say(places, 1);
  const bool is_read = !s.graph().users(ValueRef(s.node().id(), 1)).empty();
  if (!s.is_whole(0)) return is_read && n > s.limits().operand ? Exactness::host : Exactness::stays;
  s.say(s.range(0));
  if (n < 1 || n > s.limits().moved() || k < 1 || !s.can_split(0)) return Exactness::host;
  if (k > kMaxTopInTurn && has_room_for_ranks(s)) return top_by_ranks(s);
  if (k > kMaxTop) return s.host(s.range(0), "since there is no room to compare so many elements with each other");
  return s.by_pair(s.range(0), places, [&](ops::Builder& b, DigitBuilder& d) { return largest_integers(b, d, s); });
}

Exactness pool_with_places(IntegerStep& s) {
  if (s.is_whole(0)) {
    s.say(s.range(0));
    if (!s.is_factor(0)) return Exactness::host;
  }
  if (s.node().outputs.size() < 2) return Exactness::stays;
  const std::int64_t volume = elements_of(s.type(0).shape);
  s.say({0, std::max<std::int64_t>(volume - 1, 0)}, 1);
  const bool is_read = !s.graph().users(ValueRef(s.node().id(), 1)).empty();
  return is_read && volume > s.limits().operand ? Exactness::host : Exactness::stays;
}

Exactness unpool(IntegerStep& s) {
  const bool fine = movable(s, 0) && elements_of(s.result().shape) <= s.limits().operand && !s.has_digits(1);
  const IntegerRange range = s.is_whole(0) ? hull(s.range(0), {0, 0}) : IntegerRange{};
  return fine ? kept(s, range) : given_up(s, range);
}

}  // namespace

const std::vector<NamedIntegerRule>& index_integer_rules() {
  static const std::vector<NamedIntegerRule> rules = {
      {"gather", gather},
      {"gather_elements", gather_elements},
      {"gather_nd", gather_nd},
      {"scatter_elements", scatter_elements},
      {"scatter_nd", scatter_nd},
      {"one_hot", one_hot},
      {"reverse_sequence", lengths},
      {"argmax", place_of_extreme},
      {"argmin", place_of_extreme},
      {"topk", topk},
      {"max_pool1d", pool_with_places},
      {"max_pool2d", pool_with_places},
      {"max_pool3d", pool_with_places},
      {"max_unpool", unpool},
      {"roi_align", regions},
      {"lstm", recurrence},
      {"gru", recurrence},
      {"rnn", recurrence},
      {"ngram_counts", ngrams},
  };
  return rules;
}

}  // namespace buda::passes
