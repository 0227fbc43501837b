// SPDX-License-Identifier: Apache-2.0
// Rules for ops of the bits of integers: bits are compared off from the top, as in a division by powers of two.
//
// A negative number is the one that has the same bits and no sign, 2^k more; of two digits that is a matter of the high one.
#include <buda/passes/integers/step.hpp>

#include <algorithm>
#include <bit>

namespace buda::passes {
namespace {

using graph::ValueRef;

enum class Bits { all, any, one };  // 1 where both, any, or one of two is

// Of values in [0, 2^bits).
ValueRef of_bits(NumberBuilder& n, ValueRef a, ValueRef b, int bits, Bits wanted) {
  ops::Builder& g = n.builder();
  DigitBuilder& d = n.digit_builder();
  ValueRef both, rests[] = {a, b};
  for (int i = bits - 1; i >= 0; --i) {
    const ValueRef place = d.number(std::int64_t{1} << i);
    ValueRef has[2];
    for (int k = 0; k < 2; ++k) {
      has[k] = n.reaches(rests[k], std::int64_t{1} << i);
      if (i == 0) continue;
      const ValueRef part = g.multiply(has[k], place);
      rests[k] = g.subtract(rests[k], part);
    }
    const ValueRef is_common = g.multiply(has[0], has[1]);
    const ValueRef digit = g.multiply(is_common, place);
    both = both.valid() ? g.add(both, digit) : digit;
  }
  if (!both.valid()) {
    const ValueRef sum = g.add(a, b);
    both = g.multiply(d.number(0), sum);
  }
  if (wanted == Bits::all) return both;
  // The sum of the two may have a bit more than an operand has.
  const ValueRef only_first = g.subtract(a, both);
  if (wanted == Bits::any) return g.add(only_first, b);
  const ValueRef only_second = g.subtract(b, both);
  return g.add(only_first, only_second);
}

int bits_of(const IntegerRange& range, bool is_signed) {
  const std::int64_t size = std::max(range.most, range.least < 0 ? -(range.least + 1) : 0);
  return std::bit_width(static_cast<std::uint64_t>(size)) + (is_signed ? 1 : 0);
}

IntegerRange range_of_bits(const IntegerRange& a, const IntegerRange& b, int bits, bool is_signed, Bits wanted) {
  if (is_signed) return {-(std::int64_t{1} << (bits - 1)), (std::int64_t{1} << (bits - 1)) - 1};
  return {0, wanted == Bits::all ? std::min(a.most, b.most) : (std::int64_t{1} << bits) - 1};
}

template <Bits wanted>
Exactness bitwise(IntegerStep& s) {
  const IntegerRange a = s.range(0), b = s.range(1), held = range_of_type(s.result().dtype);
  const std::int64_t base = s.limits().base;
  const int base_bits = std::countr_zero(static_cast<std::uint64_t>(base));
  const bool is_signed = a.least < 0 || b.least < 0;
  const int bits = std::max(bits_of(a, is_signed), bits_of(b, is_signed));
  const IntegerRange smallest = !is_signed && wanted == Bits::all ? IntegerRange{0, std::min(a.most, b.most)} : held;
  if (!s.is_integer_input(0) || !s.can_split(0) || !s.can_split(1) || !a.within(s.limits().whole()) || !b.within(s.limits().whole()))
    return s.host(smallest);
  const IntegerRange range = range_of_bits(a, b, bits, is_signed, wanted);
  if (!range.within(s.limits().whole())) return s.host(smallest);
  return s.by_number(range, [&](NumberBuilder& n) {
    const Number x = s.number(0, n);
    const Number y = s.number(1, n);
    auto with_sign = [&](ValueRef value, int width) {
      if (!is_signed) return value;
      const ValueRef is_below = n.reaches(value, std::int64_t{1} << (width - 1));
      // Half of the period at a time: the whole may be no operand.
      const ValueRef half = n.digit_builder().number(std::int64_t{1} << (width - 1));
      const ValueRef less = n.builder().multiply(is_below, half);
      const ValueRef rest = n.builder().subtract(value, less);
      return n.builder().subtract(rest, less);
    };
    if (bits <= base_bits && !x.digits && !y.digits) {
      const ValueRef first = n.modulo(x.single, x.range, std::int64_t{1} << bits);
      const ValueRef second = n.modulo(y.single, y.range, std::int64_t{1} << bits);
      return n.single(with_sign(of_bits(n, first, second, bits, wanted), bits), range);
    }
    // The high digits have what is left of the bits, and a sign if there is one.
    const int upper = std::max(bits - base_bits, 1);
    auto high_of = [&](const Number& number, ValueRef high) {
      const std::int64_t least = number.range.least < 0 ? -((-number.range.least + base - 1) / base) : 0;
      return n.modulo(high, {least, number.range.most / base}, std::int64_t{1} << upper);
    };
    const Digits p = n.digits(x);
    const Digits q = n.digits(y);
    const ValueRef first = high_of(x, p.high);
    const ValueRef second = high_of(y, q.high);
    const ValueRef high = with_sign(of_bits(n, first, second, upper, wanted), upper);
    return n.of_digits({high, of_bits(n, p.low, q.low, base_bits, wanted)}, range);
  });
}

// -1 - x, or the largest number of a type without a sign less x.
Exactness inverted(IntegerStep& s) {
  const IntegerRange held = range_of_type(s.result().dtype);
  const std::int64_t all = is_signed(s.result().dtype) ? -1 : held.most;
  const IntegerRange range = IntegerRange{all, all} - s.range(0);
  if (!s.is_integer_input(0)) return s.host(held);
  if (!s.can_split(0) || !range.within(s.limits().whole()) || !IntegerRange{all, all}.within(s.limits().whole())) return s.host(range);
  return s.by_number(range, [&](NumberBuilder& n) {
    const Number ones = all <= s.limits().operand ? n.constant(all) : n.of_digits(n.digit_builder().of_number(all), {all, all});
    const Number x = s.number(0, n);
    return n.difference(ones, x);
  });
}

}  // namespace

const std::vector<NamedIntegerRule>& bit_integer_rules() {
  static const std::vector<NamedIntegerRule> rules = {
      {"bitwise_and", bitwise<Bits::all>},
      {"bitwise_or", bitwise<Bits::any>},
      {"bitwise_xor", bitwise<Bits::one>},
      {"bitwise_not", inverted},
  };
  return rules;
}

}  // namespace buda::passes
