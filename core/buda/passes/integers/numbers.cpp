// SPDX-License-Identifier: Apache-2.0
// Sums, products and remainders of numbers of one or two digits.
//
// Products are those of half digits (base 32, 8), so that sums of a few are operands again: x0 y0 + 32 (x0 y1 + x1 y0) + 1024 (…), with
// what the first two columns carry.
#include <buda/passes/integers/numbers.hpp>

#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <bit>

namespace buda::passes {

using graph::ValueRef;

namespace {

std::int64_t quotient_below(std::int64_t value, std::int64_t divisor) {
  return value >= 0 ? value / divisor : -((-value + divisor - 1) / divisor);
}

}  // namespace

Number NumberBuilder::constant(std::int64_t value) { return single(d_.number(value), {value, value}); }

Digits NumberBuilder::digits(const Number& x) {
  if (x.digits) return *x.digits;
  return d_.of_operand(x.single, x.range, b_.graph().type(x.single)->shape);
}

ValueRef NumberBuilder::operand(const Number& x) { return x.digits ? d_.on_device(*x.digits, x.range, DType::i32) : x.single; }

Number NumberBuilder::sum(const Number& a, const Number& b) {
  const IntegerRange range = a.range + b.range;
  if (!a.digits && !b.digits && range.within(limits_.operand)) return single(b_.add(a.single, b.single), range);
  const Digits x = digits(a);
  const Digits y = digits(b);
  return of_digits(d_.sum(x, y), range);
}

Number NumberBuilder::difference(const Number& a, const Number& b) {
  const IntegerRange range = a.range - b.range;
  if (!a.digits && !b.digits && range.within(limits_.operand)) return single(b_.subtract(a.single, b.single), range);
  const Digits x = digits(a);
  const Digits y = digits(b);
  return of_digits(d_.difference(x, y), range);
}

ValueRef NumberBuilder::is_negative(const Number& x) {
  if (x.digits) return d_.is_negative(*x.digits);
  const ValueRef zero = d_.number(0);
  return b_.op("less", {x.single, zero});
}

Number NumberBuilder::size(const Number& x) {
  if (x.range.least >= 0) return x;
  const IntegerRange range = without_sign(x.range);
  if (!x.digits) return single(b_.abs(x.single), range);
  const ValueRef below = is_negative(x);
  const Digits zero = d_.of_number(0);
  const Digits turned = d_.difference(zero, *x.digits);
  return of_digits(d_.chosen(below, turned, *x.digits), range);
}

Number NumberBuilder::chosen(ValueRef condition, const Number& a, const Number& b) {
  const IntegerRange range = hull(a.range, b.range);
  if (!a.digits && !b.digits) return single(b_.op("where", {condition, a.single, b.single}), range);
  const Digits x = digits(a);
  const Digits y = digits(b);
  return of_digits(d_.chosen(condition, x, y), range);
}

Number NumberBuilder::larger(const Number& a, const Number& b, bool is_smaller) {
  const IntegerRange range = is_smaller ? smaller(a.range, b.range) : passes::larger(a.range, b.range);
  if (!a.digits && !b.digits && range.within(limits_.factor))
    return single(is_smaller ? b_.minimum(a.single, b.single) : b_.maximum(a.single, b.single), range);
  const Digits x = digits(a);
  const Digits y = digits(b);
  return of_digits(d_.larger(x, y, is_smaller), range);
}

Number NumberBuilder::movable(const Number& x) { return x.digits || x.range.within(limits_.moved()) ? x : of_digits(digits(x), x.range); }

Number NumberBuilder::moved(const Number& x, const std::function<ValueRef(ValueRef)>& move) {
  if (!x.digits && x.range.within(limits_.moved())) return single(move(x.single), x.range);
  const Digits d = digits(x);
  const ValueRef high = move(d.high);
  return of_digits({high, move(d.low)}, x.range);
}

ValueRef NumberBuilder::reaches(ValueRef value, std::int64_t bound) {
  const ValueRef constant = d_.number(bound);
  return d_.as_number(b_.op("greater_equal", {value, constant}));
}

std::pair<ValueRef, ValueRef> NumberBuilder::parted(ValueRef value, std::int64_t most, std::int64_t divisor) {
  ValueRef quotient, rest = value;
  for (auto step = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(most, 1)))); step >= divisor;
       step /= 2) {
    const ValueRef fits = reaches(rest, step);
    const ValueRef size = d_.number(step);
    const ValueRef part = b_.multiply(fits, size);
    rest = b_.subtract(rest, part);
    const ValueRef place = d_.number(step / divisor);
    const ValueRef digit = b_.multiply(fits, place);
    quotient = quotient.valid() ? b_.add(quotient, digit) : digit;
  }
  return {quotient.valid() ? quotient : d_.number(0), rest};
}

ValueRef NumberBuilder::modulo(ValueRef value, IntegerRange range, std::int64_t divisor) {
  const auto top = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(limits_.operand)));
  while (range.least < 0) {
    std::int64_t step = divisor;
    while (step < -range.least && step < top) step *= 2;
    const ValueRef size = d_.number(step);
    if (range.most + step <= limits_.operand) {
      value = b_.add(value, size);
      range = {range.least + step, range.most + step};
      continue;
    }
    const ValueRef zero = d_.number(0);
    const ValueRef below = d_.as_number(b_.op("less", {value, zero}));
    const ValueRef more = b_.multiply(below, size);
    value = b_.add(value, more);
    range = {std::min<std::int64_t>(range.least + step, 0), std::max(range.most, step - 1)};
  }
  std::int64_t step = divisor;
  while (2 * step <= range.most) step *= 2;
  for (; step >= divisor && range.most >= divisor; step /= 2) {
    const ValueRef fits = reaches(value, step);
    const ValueRef size = d_.number(step);
    const ValueRef part = b_.multiply(fits, size);
    value = b_.subtract(value, part);
  }
  return value;
}

Number NumberBuilder::wrapped(const Number& x, DType type) {
  const IntegerRange held = range_of_type(type);
  if (x.range.inside(held) || dtype_size(type) >= 4) return x;
  const std::int64_t period = std::int64_t{1} << (8 * dtype_size(type)), base = limits_.base;
  const Digits d = digits(x);
  const IntegerRange high_range{quotient_below(x.range.least, base), quotient_below(x.range.most, base)};
  const bool in_low = period <= base;
  const std::int64_t turn = in_low ? period / 2 : period / base / 2;
  const ValueRef top = in_low ? modulo(d.low, {0, base - 1}, period) : modulo(d.high, high_range, period / base);
  if (!is_signed(type)) return in_low ? single(top, held) : of_digits({top, d.low}, held);
  const ValueRef is_below = reaches(top, turn);
  const ValueRef size = d_.number(2 * turn);
  const ValueRef less = b_.multiply(is_below, size);
  const ValueRef turned = b_.subtract(top, less);
  return in_low ? single(turned, held) : of_digits({turned, d.low}, held);
}

Number NumberBuilder::partial_sum(const Number& a, const Number& b, DType type) {
  const Number y = sum(a, b);
  return (y.range + y.range).within(limits_.whole()) ? y : wrapped(y, type);
}

// ---- products

// Half digits, the lowest first; x is not negative.
std::vector<NumberBuilder::Term> NumberBuilder::halves(const Number& x) {
  const std::int64_t base = limits_.base, half = std::int64_t{1} << (std::countr_zero(static_cast<std::uint64_t>(base)) / 2);
  if (!x.digits && x.range.most < half) return {{x.single, x.range.most}};
  std::vector<Term> out;
  auto append = [&](ValueRef digit, std::int64_t most) {
    if (most < half) {
      out.push_back({digit, most});
      return;
    }
    const auto [upper, lower] = parted(digit, most, half);
    out.push_back({lower, half - 1});
    out.push_back({upper, most / half});
  };
  if (!x.digits && x.range.most < base) {
    append(x.single, x.range.most);
    return out;
  }
  const Digits d = digits(x);
  append(d.low, base - 1);
  append(d.high, x.range.most / base);
  return out;
}

void NumberBuilder::add(Term& sum, const Term& term) {
  sum = sum.value.valid() ? Term{b_.add(sum.value, term.value), sum.most + term.most} : term;
}

ValueRef NumberBuilder::wrapped_high(const std::vector<std::vector<Term>>& columns, Term carry, std::int64_t modulus) {
  const std::int64_t half = std::int64_t{1} << (std::countr_zero(static_cast<std::uint64_t>(limits_.base)) / 2);
  Term sum = carry;
  std::int64_t weight = 1;
  for (std::size_t k = 2; k < columns.size() && weight < modulus; ++k, weight *= half)
    for (const Term& term : columns[k]) {
      Term part{modulo(term.value, {0, term.most}, modulus / weight), std::min(term.most, modulus / weight - 1) * weight};
      if (weight > 1) {
        const ValueRef factor = d_.number(weight);
        part.value = b_.multiply(part.value, factor);
      }
      if (sum.value.valid() && sum.most + part.most > limits_.operand) sum = {modulo(sum.value, {0, sum.most}, modulus), modulus - 1};
      add(sum, part);
    }
  return sum.value.valid() ? modulo(sum.value, {0, sum.most}, modulus) : ValueRef{};
}

Number NumberBuilder::size_of_product(const Number& a, const Number& b, std::optional<int> bits) {
  const std::int64_t base = limits_.base, half = std::int64_t{1} << (std::countr_zero(static_cast<std::uint64_t>(base)) / 2);
  const std::vector<Term> x = halves(a);
  const std::vector<Term> y = halves(b);
  std::vector<std::vector<Term>> columns(x.size() + y.size() - 1);
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t k = 0; k < y.size(); ++k) columns[i + k].push_back({b_.multiply(x[i].value, y[k].value), x[i].most * y[k].most});
  ValueRef low;
  Term carry;
  for (std::size_t k = 0; k < std::min<std::size_t>(2, columns.size()); ++k) {
    Term sum = std::exchange(carry, {});
    for (const Term& term : columns[k]) {
      if (sum.value.valid() && sum.most + term.most > limits_.operand) {
        const auto [more, rest] = parted(sum.value, sum.most, half);
        add(carry, {more, sum.most / half});
        sum = {rest, half - 1};
      }
      add(sum, term);
    }
    ValueRef digit = sum.value;
    if (sum.most >= half) {
      const auto [more, rest] = parted(sum.value, sum.most, half);
      add(carry, {more, sum.most / half});
      digit = rest;
    }
    if (k == 1) {
      const ValueRef place = d_.number(half);
      digit = b_.multiply(digit, place);
    }
    low = low.valid() ? b_.add(low, digit) : digit;
    // What the only column carries has the place of the second one.
    if (columns.size() == 1 && carry.value.valid()) {
      const ValueRef place = d_.number(half);
      const ValueRef upper = b_.multiply(carry.value, place);
      low = b_.add(low, upper);
      carry = {};
    }
  }
  if (bits) {
    const std::int64_t period = std::int64_t{1} << *bits;
    if (period <= base) return single(modulo(low, {0, base - 1}, period), {0, period - 1});
    const ValueRef top = wrapped_high(columns, carry, period / base);
    return top.valid() ? of_digits({top, low}, {0, period - 1}) : single(low, {0, base - 1});
  }
  ValueRef high = carry.value;
  std::int64_t weight = 1;
  for (std::size_t k = 2; k < columns.size(); ++k, weight *= half)
    for (const Term& term : columns[k]) {
      ValueRef part = term.value;
      if (weight > 1) {
        const ValueRef factor = d_.number(weight);
        part = b_.multiply(part, factor);
      }
      high = high.valid() ? b_.add(high, part) : part;
    }
  const IntegerRange range{0, (a.range * b.range).most};
  return high.valid() ? of_digits({high, low}, range) : single(low, range);
}

Number NumberBuilder::signed_as_product(Number size, const Number& a, const Number& b) {
  if (a.range.least >= 0 && b.range.least >= 0) return size;
  ValueRef turns;
  for (const Number* x : {&a, &b}) {
    if (x->range.least >= 0) continue;
    const ValueRef below = is_negative(*x);
    turns = turns.valid() ? b_.op("logical_xor", {turns, below}) : below;
  }
  const Number zero = constant(0);
  const Number turned = difference(zero, size);
  return chosen(turns, turned, size);
}

Number NumberBuilder::product(const Number& a, const Number& b) {
  const IntegerRange range = a.range * b.range;
  const auto is_factor = [&](const Number& x) { return x.range.within(limits_.factor); };
  if (!a.digits && !b.digits && range.within(limits_.operand)) {
    if (is_factor(a)) return single(b_.multiply(a.single, b.single), range);
    if (is_factor(b)) return single(b_.multiply(b.single, a.single), range);
  }
  const Number x = size(a);
  const Number y = size(b);
  const Number z = size_of_product(x, y, std::nullopt);
  Number out = signed_as_product(z, a, b);
  out.range = range;
  return out;
}

Number NumberBuilder::wrapped_product(const Number& a, const Number& b, int bits) {
  const Number x = size(a);
  const Number y = size(b);
  const Number z = size_of_product(x, y, bits);
  return signed_as_product(z, a, b);
}

}  // namespace buda::passes
