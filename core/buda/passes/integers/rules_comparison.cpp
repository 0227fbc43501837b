// SPDX-License-Identifier: Apache-2.0
// Rules for comparisons of integers, and of floats that are integers' equals.
//
// Where one operand is small the op stays as it is; larger ones are compared digit by digit. Floats that were integers are compared as what
// they were, since the device's formats have fewer bits than the type: with each other, or with a constant.
#include <buda/passes/integers/step.hpp>

#include <buda/ops/table/registry.hpp>
#include <buda/passes/simplify/constant_value.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

namespace buda::passes {
namespace {

using graph::ValueRef;

// A number that is read with fewer bits is on the same side of any operand that is smaller than the largest.
bool compares_as_single(const IntegerStep& s) {
  if (s.is_operand(0) && s.is_operand(1)) return true;
  const std::int64_t inner = (s.is_spread(0) || s.is_spread(1) ? s.limits().factor : s.limits().operand) - 1;
  return !s.has_digits(0) && !s.has_digits(1) && (s.range(0).within(inner) || s.range(1).within(inner));
}

using Comparison = ValueRef (*)(ops::Builder& b, DigitBuilder& d, const Digits& x, const Digits& y);

// ---- floats that were integers

// Whether the operand is a conversion of integers, which only is moved on the way.
bool is_converted(const IntegerStep& s, std::size_t i) {
  const graph::Node* n = &s.graph().node(s.in(i).node);
  while (n->is_op() && n->inputs().size() == 1) {
    const ValueRef from = n->inputs()[0].source;
    if (!is_float(s.graph().type(from)->dtype)) return n->op() == "cast" || n->op() == "exact_cast";
    const ops::OpDef* def = ops::standard_ops().find(graph::Level::tensor, n->op());
    if (def == nullptr || def->family != "movement") return false;
    n = &s.graph().node(from.node);
  }
  return false;
}

const Tensor* constant(const IntegerStep& s, std::size_t i) { return value_of(s.graph(), s.node().inputs()[i]); }

// The integers for which the comparison with those of `range` comes out as with the constant, which is the operand `i`.
std::optional<Tensor> whole_bounds(const Tensor& bounds, std::string_view op, std::size_t i, const IntegerRange& range) {
  const bool turned = i == 0, is_equality = op == "equal";
  const bool upwards = (op == "less" || op == "greater_equal") != turned;
  std::vector<std::int64_t> out;
  for (const float bound : bounds.to_f32()) {
    if (std::isnan(bound)) return std::nullopt;
    const double whole = upwards ? std::ceil(bound) : std::floor(bound);
    const double least = static_cast<double>(range.least) - 1, most = static_cast<double>(range.most) + 1;
    out.push_back(static_cast<std::int64_t>(is_equality && whole != bound ? most : std::clamp(whole, least, most)));
  }
  return Tensor(bounds.shape(), std::move(out));
}

// A float operand as the integer that it is equal to.
std::optional<EqualInteger> integer_behind(const IntegerStep& s, std::size_t i) {
  const EqualInteger* whole = s.equal(i);
  if (whole == nullptr || !whole->range.within(s.limits().whole() - 1)) return std::nullopt;
  const bool is_there = s.graph().contains(whole->value.node) && whole->range.within(s.limits().operand);
  if (!whole->digits && !is_there) return std::nullopt;
  return *whole;
}

Number number_of(NumberBuilder& n, const EqualInteger& whole) {
  if (whole.digits) return n.of_digits(*whole.digits, whole.range);
  if (n.builder().graph().type(whole.value)->dtype == DType::boolean)
    return n.single(n.digit_builder().as_number(whole.value), whole.range);
  return n.single(converted(n.builder(), whole.value, DType::i32), whole.range);
}

Exactness comparison_of_floats(IntegerStep& s, Comparison compare) {
  const IntegerRange truth{0, 1};
  if (!is_float(s.type(0).dtype) || !is_float(s.type(1).dtype)) return s.stays(truth);
  const bool converted_first = is_converted(s, 0), converted_second = is_converted(s, 1);
  const Tensor* constants[] = {constant(s, 0), constant(s, 1)};
  const bool is_whole = (converted_first || constants[0] != nullptr) && (converted_second || constants[1] != nullptr);
  if (!is_whole || (constants[0] != nullptr && constants[1] != nullptr)) return s.stays(truth);
  std::optional<EqualInteger> numbers[2];
  std::optional<Tensor> bounds[2];
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
    if (constants[i] == nullptr) numbers[i] = integer_behind(s, i);
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
    if (constants[i] != nullptr && numbers[1 - i]) bounds[i] = whole_bounds(*constants[i], s.node().op(), i, numbers[1 - i]->range);
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
    if (!numbers[i] && !bounds[i]) return s.host(truth);
  const std::string op = s.node().op();
  const bool is_spread = s.is_spread(0) || s.is_spread(1);
  const std::int64_t most = is_spread ? s.limits().factor : s.limits().operand;
  return s.by_value(truth, [&](ops::Builder& b) {
    NumberBuilder n(b, s.limits());
    auto number = [&](std::size_t i) {
      if (numbers[i]) return number_of(n, *numbers[i]);
      const IntegerRange range = range_of_integers(*bounds[i]);
      if (!range.within(most)) return n.of_digits(n.digit_builder().of_constant(*bounds[i]), range);
      return n.single(b.constant(bounds[i]->cast(DType::i32)), range);
    };
    const Number x = number(0);
    const Number y = number(1);
    if (!x.digits && !y.digits && x.range.within(most) && y.range.within(most)) return b.op(op, {x.single, y.single});
    const Digits first = n.digits(x);
    const Digits second = n.digits(y);
    return compare(b, n.digit_builder(), first, second);
  });
}

// ---- integers

template <Comparison compare>
Exactness comparison(IntegerStep& s) {
  const IntegerRange truth{0, 1};
  if (!s.is_integer_input(0)) return comparison_of_floats(s, compare);
  if (compares_as_single(s)) return s.stays(truth);
  if (!s.can_split(0) || !s.can_split(1)) return s.host(truth);
  return s.by_value(truth, [&](ops::Builder& b) {
    DigitBuilder d(b, s.limits().base);
    const Digits x = s.split(0, b);
    const Digits y = s.split(1, b);
    return compare(b, d, x, y);
  });
}

ValueRef is_equal(ops::Builder&, DigitBuilder& d, const Digits& x, const Digits& y) { return d.equal(x, y); }
ValueRef is_less(ops::Builder&, DigitBuilder& d, const Digits& x, const Digits& y) { return d.less(x, y); }
ValueRef is_greater(ops::Builder&, DigitBuilder& d, const Digits& x, const Digits& y) { return d.less(y, x); }
ValueRef is_not_greater(ops::Builder& b, DigitBuilder& d, const Digits& x, const Digits& y) {
  const ValueRef greater = d.less(y, x);
  return b.op("logical_not", {greater});
}
ValueRef is_not_less(ops::Builder& b, DigitBuilder& d, const Digits& x, const Digits& y) {
  const ValueRef less = d.less(x, y);
  return b.op("logical_not", {less});
}

}  // namespace

bool is_comparison(const graph::Node& n) {
  const auto& rules = comparison_integer_rules();
  return std::any_of(rules.begin(), rules.end(), [&](const NamedIntegerRule& named) { return named.op == n.op(); });
}

const std::vector<NamedIntegerRule>& comparison_integer_rules() {
  static const std::vector<NamedIntegerRule> rules = {
      {"equal", comparison<is_equal>},
      {"less", comparison<is_less>},
      {"greater", comparison<is_greater>},
      {"less_equal", comparison<is_not_greater>},
      {"greater_equal", comparison<is_not_less>},
  };
  return rules;
}

}  // namespace buda::passes
