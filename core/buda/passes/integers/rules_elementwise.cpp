// SPDX-License-Identifier: Apache-2.0
// Rules for integers element by element: arithmetic and selection.
//
// Where operands and result are small the op stays as it is. Larger ones are computed in digits. What neither serves is the host's.
#include <buda/passes/integers/step.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace buda::passes {
namespace {

using graph::ValueRef;

bool both_split(const IntegerStep& s, std::size_t a, std::size_t b) { return s.can_split(a) && s.can_split(b); }

// ---- sums

// An op of a narrow type whose result does not leave the type, in integers that do not wrap around.
Exactness in_i32(IntegerStep& s, const IntegerRange& range) {
  const std::string op = s.node().op();
  const DType type = s.result().dtype;
  if (dtype_size(type) >= 4) return s.stays(range);
  return s.by_value(range, [&](ops::Builder& b) {
    std::vector<graph::Edge> wide;
    for (std::size_t i = 0; i < s.count(); ++i) wide.emplace_back(converted(b, s.in(i), DType::i32));
    const ValueRef y = b.op(op, wide);
    return converted(b, y, type);
  });
}

bool wraps(DType type) { return dtype_size(type) < 4; }

// A result that leaves a narrow type by less than digits hold is wrapped around; `range` is what it is before.
Exactness wrapped(IntegerStep& s, const IntegerRange& range, const std::function<Number(NumberBuilder&)>& make) {
  const DType type = s.result().dtype;
  const IntegerRange held = range_of_type(type);
  const bool fits = range.inside(held);
  if (!range.within(s.limits().whole()) || (!fits && (!wraps(type) || !held.within(s.limits().whole()))))
    return s.host(fits ? range : held);
  return s.by_number(fits ? range : held, [&](NumberBuilder& n) {
    const Number y = make(n);
    return n.wrapped(y, type);
  });
}

template <bool is_difference>
Exactness sum(IntegerStep& s) {
  if (is_float(s.result().dtype)) return Exactness::stays;
  const IntegerRange held = range_of_type(s.result().dtype), range = is_difference ? s.range(0) - s.range(1) : s.range(0) + s.range(1);
  const bool fits = range.inside(held);
  if (fits && s.is_operand(0) && s.is_operand(1) && range.within(s.limits().held())) return in_i32(s, range);
  if (!both_split(s, 0, 1)) return s.host(fits ? range : held);
  return wrapped(s, range, [&](NumberBuilder& n) {
    const Number x = s.number(0, n);
    const Number y = s.number(1, n);
    return is_difference ? n.difference(x, y) : n.sum(x, y);
  });
}

Exactness product(IntegerStep& s) {
  if (is_float(s.result().dtype)) return Exactness::stays;
  const DType type = s.result().dtype;
  const IntegerRange held = range_of_type(type), range = s.range(0) * s.range(1);
  const bool fits = range.inside(held);
  const bool in_order = s.is_moved(0) && s.is_held(1), turned = s.is_moved(1) && s.is_held(0);
  const bool is_read = range.within(s.limits().held()) || (s.ends_here() && range.within(s.limits().result));
  if (fits && is_read && (in_order || turned)) {
    if (!in_order) s.swap_operands();
    return in_i32(s, range);
  }
  if (!both_split(s, 0, 1)) return s.host(fits ? range : held);
  if (fits || !wraps(type)) {
    return wrapped(s, range, [&](NumberBuilder& n) {
      const Number x = s.number(0, n);
      const Number y = s.number(1, n);
      return n.product(x, y);
    });
  }
  if (!held.within(s.limits().whole())) return s.host(held);
  return s.by_number(held, [&](NumberBuilder& n) {
    const Number x = s.number(0, n);
    const Number y = s.number(1, n);
    const Number z = n.wrapped_product(x, y, static_cast<int>(8 * dtype_size(type)));
    return n.wrapped(z, type);
  });
}

Exactness negative(IntegerStep& s) {
  if (is_float(s.result().dtype)) return Exactness::stays;
  const IntegerRange held = range_of_type(s.result().dtype), range = IntegerRange{0, 0} - s.range(0);
  const bool fits = range.inside(held);
  if (fits && s.is_moved(0)) return in_i32(s, range);
  if (!s.can_split(0)) return s.host(fits ? range : held);
  return wrapped(s, range, [&](NumberBuilder& n) {
    const Number zero = n.constant(0);
    const Number x = s.number(0, n);
    return n.difference(zero, x);
  });
}

Exactness absolute(IntegerStep& s) {
  if (is_float(s.result().dtype)) return Exactness::stays;
  const IntegerRange held = range_of_type(s.result().dtype), range = without_sign(s.range(0));
  const bool fits = range.inside(held);
  if (fits && s.is_held(0)) return s.stays(range);
  if (!s.can_split(0)) return s.host(fits ? range : held);
  return wrapped(s, range, [&](NumberBuilder& n) {
    const Number x = s.number(0, n);
    return n.size(x);
  });
}

// ---- bounds and selection

template <bool is_smaller>
Exactness extreme(IntegerStep& s) {
  if (is_float(s.result().dtype)) return Exactness::stays;
  const IntegerRange range = is_smaller ? smaller(s.range(0), s.range(1)) : larger(s.range(0), s.range(1));
  // The smaller of two numbers is computed by way of negatives, which are products.
  const bool direct = is_smaller ? s.is_moved(0) && s.is_moved(1) : s.is_held(0) && s.is_held(1);
  if (direct) return s.stays(range);
  if (!both_split(s, 0, 1)) return s.host(range);
  return s.by_digits(range, [&](ops::Builder& b, DigitBuilder& d) {
    const Digits x = s.split(0, b);
    const Digits y = s.split(1, b);
    return d.larger(x, y, is_smaller);
  });
}

std::int64_t whole_bound(double bound, bool upwards) {
  if (std::isnan(bound)) return 0;
  const double whole = upwards ? std::ceil(bound) : std::floor(bound);
  if (whole <= static_cast<double>(std::numeric_limits<std::int64_t>::min())) return std::numeric_limits<std::int64_t>::min();
  if (whole >= static_cast<double>(std::numeric_limits<std::int64_t>::max())) return std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(whole);
}

// As maxima and minima, which are exact for all operands; a bound that no element reaches is left out.
Exactness bounded(IntegerStep& s, std::int64_t least, std::int64_t most) {
  const IntegerRange given = s.range(0), range = smaller(larger(given, {least, least}), {most, most});
  const bool lower = least > given.least, upper = most < given.most;
  const auto bounds_within = [&](std::int64_t size) {
    return (!lower || IntegerRange{least, least}.within(size)) && (!upper || IntegerRange{most, most}.within(size));
  };
  if (!s.can_split(0) || !bounds_within(s.limits().whole())) return s.host(range);
  if (s.is_factor(0) && bounds_within(s.limits().factor)) {
    const DType type = s.result().dtype;
    return s.by_value(range, [&](ops::Builder& b) {
      ValueRef x = s.in(0);
      if (lower) {
        const ValueRef bound = b.constant(static_cast<double>(least), type);
        x = b.maximum(x, bound);
      }
      if (upper) {
        const ValueRef bound = b.constant(static_cast<double>(most), type);
        x = b.minimum(x, bound);
      }
      return lower || upper ? x : b.identity(x);
    });
  }
  return s.by_digits(range, [&](ops::Builder& b, DigitBuilder& d) {
    Digits x = s.split(0, b);
    if (lower) {
      const Digits bound = d.of_number(least);
      x = d.larger(x, bound, false);
    }
    if (upper) {
      const Digits bound = d.of_number(most);
      x = d.larger(x, bound, true);
    }
    return x;
  });
}

Exactness clip(IntegerStep& s) {
  if (is_float(s.result().dtype)) return Exactness::stays;
  return bounded(s, whole_bound(s.attrs().real("min"), true), whole_bound(s.attrs().real("max"), false));
}

Exactness relu(IntegerStep& s) {
  if (is_float(s.result().dtype)) return Exactness::stays;
  return bounded(s, 0, std::numeric_limits<std::int64_t>::max());
}

Exactness selection(IntegerStep& s) {
  if (is_float(s.result().dtype)) return Exactness::stays;
  const IntegerRange range = hull(s.range(1), s.range(2));
  if (s.is_operand(1) && s.is_operand(2)) return s.stays(range);
  if (!both_split(s, 1, 2)) return s.host(range);
  return s.by_digits(range, [&](ops::Builder& b, DigitBuilder& d) {
    const Digits x = s.split(1, b);
    const Digits y = s.split(2, b);
    return d.chosen(s.in(0), x, y);
  });
}

Exactness truth(IntegerStep& s) { return s.stays({0, 1}); }
Exactness sign(IntegerStep& s) {
  if (is_float(s.result().dtype)) return Exactness::stays;
  return s.has_digits(0) ? s.host({-1, 1}) : s.stays({-1, 1});
}

// Ops of integers that are decomposed to roundings.
Exactness host_arithmetic(IntegerStep& s) {
  if (is_float(s.result().dtype)) return Exactness::stays;
  IntegerRange range = range_of_type(s.result().dtype);
  const std::string& op = s.node().op();
  if (op == "shift_right") {
    const std::int64_t size = without_sign(s.range(0)).most;
    range = intersection(range, {s.range(0).least >= 0 ? 0 : -size, size});
  }
  return s.host(range);
}

}  // namespace

const std::vector<NamedIntegerRule>& elementwise_integer_rules() {
  static const std::vector<NamedIntegerRule> rules = {
      {"add", sum<false>},
      {"subtract", sum<true>},
      {"multiply", product},
      {"negative", negative},
      {"abs", absolute},
      {"maximum", extreme<false>},
      {"minimum", extreme<true>},
      {"clip", clip},
      {"relu", relu},
      {"sign", sign},
      {"where", selection},
      {"logical_and", truth},
      {"logical_or", truth},
      {"logical_xor", truth},
      {"logical_not", truth},
      {"is_nan", truth},
      {"is_inf", truth},
      {"power", host_arithmetic},
      {"shift_left", host_arithmetic},
      {"shift_right", host_arithmetic},
      {"bitcast", host_arithmetic},
  };
  return rules;
}

}  // namespace buda::passes
