// Rules for sums and extremes of many integers.
#include <buda/passes/integers/step.hpp>

#include <algorithm>

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

// A sum of numbers of this range that is a product on the device.
Exactness accumulated(IntegerStep& s, const IntegerRange& term, std::int64_t terms, bool small_operands) {
  const IntegerRange held = range_of_type(s.result().dtype), range = sum_of(term, terms);
  // Partial sums may be as large as all terms of one sign together.
  const bool is_read = range.within(s.limits().operand) || (s.ends_here() && range.within(s.limits().result));
  const bool wraps = !range.inside(held);
  // Sums in narrow types are decomposed with a remainder.
  const bool narrow = dtype_size(s.result().dtype) < 4;
  if (!small_operands || !is_read || wraps || narrow) return s.host(wraps ? held : range);
  return s.stays(range);
}

Exactness reduced_sum(IntegerStep& s) {
  if (is_float(s.result().dtype)) return Exactness::stays;
  return accumulated(s, s.range(0), reduced_elements(s), s.is_factor(0));
}

Exactness running_sum(IntegerStep& s) {
  if (is_float(s.result().dtype)) return Exactness::stays;
  const auto axis = s.type(0).shape.axis(s.attrs().integer("dim"));
  return accumulated(s, s.range(0), axis ? s.type(0).shape[*axis] : 1, s.is_factor(0));
}

Exactness matrix_product(IntegerStep& s) {
  if (is_float(s.result().dtype) || !s.is_whole(0) || !s.is_whole(1)) return any_other_op(s);
  const Shape& a = s.type(0).shape;
  return accumulated(s, s.range(0) * s.range(1), a.rank() == 0 ? 1 : a[a.rank() - 1], s.is_factor(0) && s.is_factor(1) && s.count() == 2);
}

Exactness convolution(IntegerStep& s) {
  if (is_float(s.result().dtype) || !s.is_whole(0) || !s.is_whole(1)) return any_other_op(s);
  const Shape& weights = s.type(1).shape;
  const std::int64_t terms = elements_of(weights) / std::max<std::int64_t>(1, weights[0]);
  return accumulated(s, s.range(0) * s.range(1), terms, s.is_factor(0) && s.is_factor(1) && s.count() == 2);
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

// The largest high digit, and the largest low one of those that have it.
template <bool is_smallest>
Exactness reduced_extreme(IntegerStep& s) {
  if (is_float(s.result().dtype)) return Exactness::stays;
  const IntegerRange range = s.range(0);
  if (s.is_factor(0)) return s.stays(range);
  if (!s.can_split(0)) return s.host(range);
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
