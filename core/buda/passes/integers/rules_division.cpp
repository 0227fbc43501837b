// SPDX-License-Identifier: Apache-2.0
// Rules for divisions of integers, as on paper in base 2.
//
//   r = |a|, q = 0; for i = k - 1 … 0:  fits = |b| 2^i <= r;  r -= fits |b| 2^i;  q += fits 2^i
//
// with as many steps as the largest quotient has bits. All numbers are operands, or operands times a power of two, which has no more bits.
// A multiple that is no operand any more is larger than the dividend, and is not compared with it: the sum of the two would be rounded
// (exact_limits.hpp). Whether it is one is seen by the divisor.
//
// A dividend of two digits is divided digit by digit: its high digit so; then the bits of the low one are brought down one by one,
//
//   r = 2 r + bit;  fits = |b| <= r;  r -= fits |b|;  q += fits 2^i
#include <buda/passes/integers/step.hpp>

#include <algorithm>
#include <bit>

namespace buda::passes {
namespace {

using graph::ValueRef;

struct Quotient {
  ValueRef quotient, rest;  // of the sizes of both numbers
};

struct NumberQuotient {
  Number quotient, rest;
};

class Division {
 public:
  Division(NumberBuilder& n, const ExactLimits& limits) : n_(n), b_(n.builder()), d_(n.digit_builder()), limits_(limits) {}

  // Of the divisor's size in numbers other than 0; 0 where the divisor may be 0 counts as 1, with which nothing is wrong that is not 0
  // later.
  Quotient divided(ValueRef dividend, ValueRef divisor, std::int64_t largest_divisor, std::int64_t largest_quotient) {
    const ValueRef zero = d_.number(0);
    Quotient out{b_.multiply(zero, dividend), dividend};
    const auto bits = std::bit_width(static_cast<std::uint64_t>(largest_quotient));
    for (int i = bits - 1; i >= 0; --i) {
      const ValueRef place = d_.number(std::int64_t{1} << i);
      const ValueRef multiple = b_.multiply(place, divisor);
      ValueRef is_fitting = b_.op("less_equal", {multiple, out.rest});
      if (const std::int64_t most = limits_.operand >> i; largest_divisor > most) {
        const ValueRef bound = d_.number(most);
        const ValueRef is_operand = b_.op("less_equal", {divisor, bound});
        is_fitting = b_.op("logical_and", {is_fitting, is_operand});
      }
      const ValueRef fits = d_.as_number(is_fitting);
      const ValueRef part = b_.multiply(fits, multiple);
      out.rest = b_.subtract(out.rest, part);
      const ValueRef digit = b_.multiply(fits, place);
      out.quotient = b_.add(out.quotient, digit);
    }
    return out;
  }

  // Of sizes.
  NumberQuotient divided(const Number& dividend, const Number& divisor) {
    const std::int64_t most = dividend.range.most, least = std::max<std::int64_t>(divisor.range.least, 1);
    const IntegerRange quotients{0, most / least}, rests{0, std::min(most, std::max<std::int64_t>(divisor.range.most - 1, 0))};
    if (most <= limits_.held() && divisor.range.most <= limits_.held()) {
      const Quotient q = of_held(dividend, divisor);
      return {n_.single(q.quotient, quotients), n_.single(q.rest, rests)};
    }
    return of_digits(dividend, divisor, quotients, rests);
  }

  ValueRef is_zero(const Number& x) {
    const Number zero = n_.constant(0);
    if (!x.digits) return b_.op("equal", {x.single, zero.single});
    const Digits zeros = n_.digits(zero);
    return d_.equal(*x.digits, zeros);
  }

 private:
  // A number beyond all operands as one less, and whether it was it.
  struct Held {
    ValueRef value, is_beyond;  // no is_beyond: it cannot be
  };
  Held as_operand(const Number& x) {
    if (x.range.most <= limits_.operand) return {n_.operand(x), {}};
    const Digits d = n_.digits(x);
    const ValueRef beyond = n_.reaches(d.high, limits_.held() / limits_.base);
    const ValueRef high = b_.subtract(d.high, beyond);
    const ValueRef most = d_.number(limits_.base - 1);
    const ValueRef step = b_.multiply(beyond, most);
    const ValueRef low = b_.add(d.low, step);
    return {d_.on_device({high, low}, {0, limits_.operand}, DType::i32), beyond};
  }

  // Of operands, or numbers one larger.
  Quotient of_held(const Number& dividend, const Number& divisor) {
    const Held a = as_operand(dividend);
    const Held b = as_operand(divisor);
    Quotient out = divided(a.value, b.value, divisor.range.most, dividend.range.most / std::max<std::int64_t>(divisor.range.least, 1));
    if (a.is_beyond.valid()) {
      const ValueRef more = b_.add(out.rest, a.is_beyond);
      const ValueRef is_full = d_.as_number(b_.op("equal", {more, b.value}));
      out.quotient = b_.add(out.quotient, is_full);
      const ValueRef part = b_.multiply(is_full, b.value);
      out.rest = b_.subtract(more, part);
    }
    if (!b.is_beyond.valid()) return out;
    // By the number beyond itself: 1 if it is the dividend, too.
    const ValueRef zero = d_.number(0);
    const ValueRef is_it = b_.op("greater", {b.is_beyond, zero});
    if (!a.is_beyond.valid()) return {b_.op("where", {is_it, zero, out.quotient}), b_.op("where", {is_it, a.value, out.rest})};
    const ValueRef part = b_.multiply(a.is_beyond, a.value);
    const ValueRef rest = b_.subtract(a.value, part);
    const ValueRef quotient = b_.op("where", {is_it, a.is_beyond, out.quotient});
    return {quotient, b_.op("where", {is_it, rest, out.rest})};
  }

  // What a high digit is divided by, where the divisor may be too large to be an operand.
  struct TopDivisor {
    ValueRef value;
    std::int64_t most = 0;
  };
  // The divisor itself where it is no larger than a high digit can be, else a number that is larger than those. High digits may be larger
  // than the base (exact_limits.hpp).
  TopDivisor divisor_of_top(const Digits& divisor, std::int64_t high_most) {
    if (high_most < limits_.base) {
      const ValueRef zero = d_.number(0);
      const ValueRef is_small = b_.op("equal", {divisor.high, zero});
      const ValueRef larger = d_.number(limits_.base);
      return {b_.op("where", {is_small, divisor.low, larger}), limits_.base};
    }
    const ValueRef beyond = d_.number(limits_.held() / limits_.base);
    const ValueRef is_small = b_.op("less", {divisor.high, beyond});
    const ValueRef value = d_.on_device(divisor, {0, limits_.operand}, DType::i32);
    const ValueRef larger = d_.number(limits_.operand);
    return {b_.op("where", {is_small, value, larger}), limits_.operand};
  }

  NumberQuotient of_digits(const Number& dividend, const Number& divisor, const IntegerRange& quotients, const IntegerRange& rests) {
    const Digits a = n_.digits(dividend);
    const std::int64_t base = limits_.base, high_most = dividend.range.most / base, least = std::max<std::int64_t>(divisor.range.least, 1);
    // 2 r + 1 is an operand.
    const bool is_short = 2 * divisor.range.most - 1 <= limits_.operand;
    Digits long_divisor;
    TopDivisor top_divisor;
    if (is_short) {
      top_divisor = {n_.operand(divisor), divisor.range.most};
    } else {
      long_divisor = n_.digits(divisor);
      top_divisor = divisor_of_top(long_divisor, high_most);
    }
    const ValueRef b = top_divisor.value;
    const Quotient top = divided(a.high, b, std::min(divisor.range.most, top_divisor.most), high_most / least);
    ValueRef low = a.low, quotient;
    Number rest = n_.single(top.rest, {0, std::min(high_most, rests.most)});
    for (std::int64_t place = base / 2; place > 0; place /= 2) {
      const ValueRef bit = n_.reaches(low, place);
      const ValueRef weight = d_.number(place);
      const ValueRef part = b_.multiply(bit, weight);
      low = b_.subtract(low, part);
      rest = n_.sum(rest, rest);
      rest = n_.sum(rest, n_.single(bit, {0, 1}));
      ValueRef fits;
      if (is_short) {
        fits = d_.as_number(b_.op("less_equal", {b, rest.single}));
        const ValueRef multiple = b_.multiply(fits, b);
        rest = n_.single(b_.subtract(rest.single, multiple), {0, rests.most});
      } else {
        const Digits r = n_.digits(rest);
        const ValueRef is_less = d_.less(r, long_divisor);
        const ValueRef is_fitting = b_.op("logical_not", {is_less});
        fits = d_.as_number(is_fitting);
        const ValueRef high = b_.multiply(fits, long_divisor.high);
        const ValueRef multiple = b_.multiply(fits, long_divisor.low);
        rest = n_.of_digits(d_.difference(r, {high, multiple}), {0, rests.most});
      }
      const ValueRef digit = b_.multiply(fits, weight);
      quotient = quotient.valid() ? b_.add(quotient, digit) : digit;
    }
    return {n_.of_digits({top.quotient, quotient}, quotients), rest};
  }

  NumberBuilder& n_;
  ops::Builder& b_;
  DigitBuilder& d_;
  ExactLimits limits_;
};

// What is computed of a quotient and a rest.
enum class Wanted { quotient, remainder, modulo };

Number division(NumberBuilder& n, IntegerStep& s, Wanted wanted) {
  Division by(n, s.limits());
  const Shape& shape = s.result().shape;
  // Where no quotient has a bit, nothing else brings the operands to one shape.
  auto operand = [&](std::size_t i) {
    const Number x = s.number(i, n);
    if (s.type(i).shape == shape || (i == 1 && !s.is_spread(1))) return x;
    return n.moved(n.movable(x), [&](ValueRef digit) { return n.builder().broadcast(digit, shape); });
  };
  const Number x = operand(0);
  const Number y = operand(1);
  const Number dividend = n.size(x);
  const Number divisor = n.size(y);
  const NumberQuotient parts = by.divided(dividend, divisor);
  Number out;
  if (wanted == Wanted::quotient) {
    out = n.signed_as_product(parts.quotient, x, y);
  } else {
    out = n.signed_as_product(parts.rest, x, n.constant(1));
    if (wanted == Wanted::modulo && (x.range.least < 0 || y.range.least < 0)) {
      // A rest that has the other sign than the divisor moves by the divisor.
      ValueRef moves = n.is_negative(out);
      if (y.range.least < 0) {
        const ValueRef below = n.is_negative(y);
        moves = n.builder().op("logical_xor", {moves, below});
      }
      const ValueRef is_whole = by.is_zero(out);
      const ValueRef is_not_whole = n.builder().op("logical_not", {is_whole});
      moves = n.builder().op("logical_and", {moves, is_not_whole});
      const Number moved = n.sum(out, y);
      out = n.chosen(moves, moved, out);
    }
  }
  // What is divided by 0 gives 0, and leaves 0.
  if (y.range.least > 0 || y.range.most < 0) return out;
  const ValueRef is_zero = by.is_zero(y);
  const Number zero = n.constant(0);
  return n.chosen(is_zero, zero, out);
}

bool divides_exactly(const IntegerStep& s) {
  auto is_known = [&](std::size_t i) { return s.can_split(i) && s.range(i).within(s.limits().whole()); };
  if (!s.is_integer_input(0) || !is_known(0) || !is_known(1)) return false;
  // Of digits twice the rest is a number, too, and a high digit is no larger than an operand that stands for all larger divisors.
  const std::int64_t size = without_sign(s.range(1)).most, dividend = without_sign(s.range(0)).most;
  if (size <= s.limits().held() && dividend <= s.limits().held()) return true;
  return 2 * size <= s.limits().whole() && (2 * size - 1 <= s.limits().operand || dividend / s.limits().base < s.limits().operand);
}

IntegerRange range_of_division(const IntegerStep& s, Wanted wanted) {
  const IntegerRange a = s.range(0), b = s.range(1), held = range_of_type(s.result().dtype);
  const std::int64_t size_a = without_sign(a).most, size_b = without_sign(b).most;
  if (wanted == Wanted::quotient) {
    const std::int64_t most = size_a / std::max<std::int64_t>(without_sign(b).least, 1);
    return intersection(held, {a.least >= 0 && b.least >= 0 ? 0 : -most, most});
  }
  const std::int64_t most = wanted == Wanted::remainder ? std::min(size_a, size_b) : size_b;
  const bool is_positive = wanted == Wanted::remainder ? a.least >= 0 : b.least >= 0;
  return intersection(held, {is_positive ? 0 : -most, most});
}

template <Wanted wanted>
Exactness division_rule(IntegerStep& s) {
  if (is_float(s.result().dtype)) return Exactness::stays;
  const IntegerRange range = range_of_division(s, wanted);
  if (!divides_exactly(s)) return s.host(range);
  const DType type = s.result().dtype;
  return s.by_number(range, [&](NumberBuilder& n) {
    const Number y = division(n, s, wanted);
    // The smallest number by -1 wraps around.
    return wanted == Wanted::quotient ? n.wrapped(y, type) : y;
  });
}

}  // namespace

const std::vector<NamedIntegerRule>& division_integer_rules() {
  static const std::vector<NamedIntegerRule> rules = {
      {"divide", division_rule<Wanted::quotient>},
      {"remainder", division_rule<Wanted::remainder>},
      {"modulo", division_rule<Wanted::modulo>},
  };
  return rules;
}

}  // namespace buda::passes
