// Rules for divisions of integers that are small enough, as on paper in base 2.
//
//   r = |a|, q = 0; for i = k - 1 … 0:  fits = |b| 2^i <= r;  r -= fits |b| 2^i;  q += fits 2^i
//
// with as many steps as the largest quotient has bits. All numbers are operands, or operands times a power of two, which has no more bits.
// A multiple that is no operand any more is larger than the dividend, and is not compared with it: the sum of the two would be rounded
// (exact_limits.hpp). Whether it is one is seen by the divisor.
#include <buda/passes/integers/step.hpp>

#include <algorithm>
#include <bit>

namespace buda::passes {
namespace {

using graph::ValueRef;

struct Quotient {
  ValueRef quotient, rest;  // of the sizes of both numbers
};

class Division {
 public:
  Division(ops::Builder& b, IntegerStep& s) : b_(b), d_(b, s.limits().base), s_(s) {}

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
      if (const std::int64_t most = s_.limits().operand >> i; largest_divisor > most) {
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

  ValueRef number(std::size_t input) {
    const ValueRef x = s_.in(input);
    return b_.op("exact_cast", {x}, {{"dtype", std::string(dtype_name(DType::i32))}});
  }
  ValueRef size_of(ValueRef x, const IntegerRange& range) { return range.least >= 0 ? x : b_.abs(x); }
  // 1 where it is true.
  ValueRef is_negative(ValueRef x) {
    const ValueRef zero = d_.number(0);
    return d_.as_number(b_.op("less", {x, zero}));
  }
  ValueRef is_not_zero(ValueRef x) {
    const ValueRef zero = d_.number(0);
    const ValueRef is_zero = b_.op("equal", {x, zero});
    return d_.as_number(b_.op("logical_not", {is_zero}));
  }
  // x with the sign of another number, x not being negative.
  ValueRef signed_as(ValueRef x, ValueRef like, const IntegerRange& range) {
    return range.least >= 0 ? x : b_.multiply(b_.op("sign", {like}), x);
  }

  ops::Builder& b_;
  DigitBuilder d_;

 private:
  IntegerStep& s_;
};

// What is computed of a quotient and a rest.
enum class Wanted { quotient, remainder, modulo };

ValueRef division(ops::Builder& b, IntegerStep& s, Wanted wanted) {
  Division by(b, s);
  const IntegerRange of_a = s.range(0), of_b = s.range(1);
  const Shape& shape = s.result().shape;
  const ValueRef given = by.number(0);
  // Where no quotient has a bit, nothing else brings the operands to one shape.
  const ValueRef x = s.type(0).shape == shape ? given : b.broadcast(given, shape);
  const ValueRef y = by.number(1);
  const ValueRef size = by.size_of(x, of_a);
  const ValueRef divisor = by.size_of(y, of_b);
  const std::int64_t least = without_sign(of_b).least;
  const Quotient parts = by.divided(size, divisor, without_sign(of_b).most, without_sign(of_a).most / std::max<std::int64_t>(least, 1));
  ValueRef out;
  if (wanted == Wanted::quotient) {
    out = by.signed_as(parts.quotient, x, of_a);
    out = by.signed_as(out, y, of_b);
  } else {
    out = by.signed_as(parts.rest, x, of_a);
    if (wanted == Wanted::modulo && (of_a.least < 0 || of_b.least < 0)) {
      // A rest that has the other sign than the divisor moves by the divisor.
      const ValueRef below = by.is_negative(out);
      const ValueRef other = of_b.least >= 0 ? below : b.abs(b.subtract(below, by.is_negative(y)));
      const ValueRef moves = b.multiply(other, by.is_not_zero(out));
      const ValueRef step = b.multiply(moves, y);
      out = b.add(out, step);
    }
  }
  // What is divided by 0 gives 0, and leaves 0.
  if (of_b.least <= 0 && of_b.most >= 0) out = b.multiply(by.is_not_zero(y), out);
  return b.op("exact_cast", {out}, {{"dtype", std::string(dtype_name(s.result().dtype))}});
}

bool divides_exactly(const IntegerStep& s) { return s.is_integer_input(0) && s.is_operand(0) && s.is_operand(1); }

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
  return s.by_value(range, [&](ops::Builder& b) { return division(b, s, wanted); });
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
