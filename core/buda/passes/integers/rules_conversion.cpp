// SPDX-License-Identifier: Apache-2.0
// Rules for conversions of integers, and for roundings.
//
// Rounding is the host's (lower/rules/eltwise.cpp), and so is what is decomposed to it: the comparisons that would correct a rounded number
// read too few of its bits. A float that is an integer's equal needs no rounding, and converted back it is that integer.
#include <buda/passes/integers/step.hpp>

#include <buda/graph/tags/placement.hpp>

#include <vector>

namespace buda::passes {
namespace {

using graph::ValueRef;

Exactness to_boolean(IntegerStep& s) {
  if (!s.is_whole(0) || !s.has_digits(0)) return s.stays({0, 1});
  return s.by_value({0, 1}, [&](ops::Builder& b) {
    DigitBuilder d(b, s.limits().base);
    const Digits x = s.split(0, b);
    const Digits zero = d.of_number(0);
    const ValueRef is_zero = d.equal(x, zero);
    return b.op("logical_not", {is_zero});
  });
}

// All integers up to this size are numbers of the type.
std::int64_t exact_size(DType type) {
  switch (type) {
    case DType::f64:
      return std::int64_t{1} << 53;
    case DType::f32:
      return std::int64_t{1} << 24;
    case DType::f16:
      return std::int64_t{1} << 11;
    default:
      return std::int64_t{1} << 8;
  }
}

// Whether arithmetic with the float ends in a rounding, which must not read what the device makes of it.
bool is_rounded_later(const IntegerStep& s, bool is_whole) {
  struct Value {
    graph::NodeId node;
    bool is_whole;
  };
  std::vector<Value> met{{s.node().id(), is_whole}};
  for (std::size_t i = 0; i < met.size() && met.size() <= kMaxArgumentOps; ++i) {
    const Value from = met[i];
    for (const graph::Use& use : s.graph().users(from.node)) {
      const graph::Node& n = s.graph().node(use.node);
      if (!n.is_op()) continue;
      const bool rounds = is_rounding(n), ends = n.op() == "cast" && is_integer(n.outputs[0].dtype);
      if ((rounds || ends) && !from.is_whole) return true;
      if (rounds || (!ends && is_elementwise(n) && is_float(n.outputs[0].dtype))) met.push_back({use.node, from.is_whole && rounds});
    }
  }
  return false;
}

Exactness to_float(IntegerStep& s) {
  if (!s.is_whole(0)) return Exactness::stays;
  const DType type = s.result().dtype;
  const bool is_equal = s.range(0).within(exact_size(type));
  if (is_equal) s.note_equal({s.node().id(), 0}, s.integer(0));
  if (!s.has_digits(0)) return Exactness::stays;
  if (s.ends_here() || is_rounded_later(s, is_equal)) return Exactness::host;  // as the digits are put together there, too
  const EqualInteger whole = s.integer(0);
  return s.by_value({}, [&](ops::Builder& b) {
    auto cast = [&](ValueRef x) { return b.op("cast", {x}, {{"dtype", std::string(dtype_name(type))}}); };
    const Digits x = s.split(0, b);
    const ValueRef high = cast(x.high);
    const ValueRef low = cast(x.low);
    const ValueRef base = b.constant(static_cast<double>(s.limits().base), type);
    const ValueRef upper = b.multiply(high, base);
    const ValueRef y = b.add(upper, low);
    if (is_equal && y.valid()) s.note_equal(y, whole);
    return y;
  });
}

Exactness from_float(IntegerStep& s) {
  const DType type = s.result().dtype;
  const IntegerRange held = range_of_type(type);
  const EqualInteger* whole = s.equal(0);
  // Numbers beyond a type are its bounds when they come from floats, and wrap around when they come from integers.
  if (whole == nullptr || !whole->range.inside(held)) return s.host(held);
  const EqualInteger given = *whole;
  if (given.digits) return s.by_digits(given.range, [&](ops::Builder&, DigitBuilder&) { return *given.digits; });
  if (!given.range.within(s.limits().operand)) return s.host(given.range);
  const bool is_truth = s.graph().type(given.value)->dtype == DType::boolean;
  return s.by_value(given.range, [&](ops::Builder& b) {
    return is_truth ? b.op("cast", {given.value}, {{"dtype", std::string(dtype_name(type))}}) : converted(b, given.value, type);
  });
}

Exactness to_integer(IntegerStep& s) {
  const DType type = s.result().dtype;
  const IntegerRange held = range_of_type(type);
  if (!s.is_whole(0)) return from_float(s);
  const IntegerRange range = s.range(0);
  if (!range.inside(held)) {
    const bool wraps = dtype_size(type) < 4 && s.can_split(0) && range.within(s.limits().whole()) && held.within(s.limits().whole());
    if (!wraps) return s.host(held);
    return s.by_number(held, [&](NumberBuilder& n) {
      const Number x = s.number(0, n);
      return n.wrapped(x, type);
    });
  }
  if (s.has_digits(0)) return s.by_digits(range, [&](ops::Builder& b, DigitBuilder&) { return s.split(0, b); });
  if (s.type(0).dtype == DType::boolean) return s.stays(range);
  if (!s.is_operand(0))
    return s.can_split(0) ? s.by_digits(range, [&](ops::Builder& b, DigitBuilder&) { return s.split(0, b); }) : s.host(range);
  // A type that holds all elements of the value, if not those of its type.
  return s.by_value(range, [&](ops::Builder& b) { return converted(b, s.in(0), type); });
}

Exactness conversion(IntegerStep& s) {
  if (s.result().dtype == DType::boolean) return to_boolean(s);
  return is_float(s.result().dtype) ? to_float(s) : to_integer(s);
}

Exactness exact_conversion(IntegerStep& s) {
  if (!s.is_whole(0)) return is_float(s.result().dtype) ? Exactness::stays : s.stays(range_of_type(s.result().dtype));
  if (is_float(s.result().dtype)) return to_float(s);
  return s.is_operand(0) ? s.stays(s.range(0)) : to_integer(s);
}

Exactness rounding(IntegerStep& s) {
  if (!is_float(s.result().dtype)) return s.host(range_of_type(s.result().dtype));
  if (s.equal(0) == nullptr) return Exactness::host;
  return s.by_value({}, [&](ops::Builder& b) {
    const EqualInteger whole = *s.equal(0);
    const ValueRef y = b.identity(s.in(0));
    if (y.valid()) s.note_equal(y, whole);
    return y;
  });
}

}  // namespace

const std::vector<NamedIntegerRule>& conversion_integer_rules() {
  static const std::vector<NamedIntegerRule> rules = {
      {"cast", conversion}, {"exact_cast", exact_conversion}, {"floor", rounding}, {"ceil", rounding}, {"round", rounding},
  };
  return rules;
}

}  // namespace buda::passes
