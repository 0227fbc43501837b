// SPDX-License-Identifier: Apache-2.0
// Interval arithmetic: what is known of many numbers at once, and how an operation changes it.
#pragma once

#include <buda/graph/attribute.hpp>

#include <span>

namespace buda::ops {

// All numbers lie in [least, most], an infinite bound standing for "not known". `finite`: none of them is infinite or NaN, provided that
// the model's data are not. Sums leave room for rounding, so that a difference of equal numbers is not taken for a number that is not 0;
// overflow of sums and products is left out of account.
struct ValueRange {
  double least = 0;
  double most = 0;
  bool finite = true;

  static ValueRange exactly(double v) { return {v, v, true}; }
  static ValueRange unknown();
  // Of an op whose result may be infinite or NaN.
  static ValueRange anything();

  bool is(double v) const { return finite && least == v && most == v; }
  friend bool operator==(const ValueRange&, const ValueRange&) = default;
};

// Of both sets together.
ValueRange hull(const ValueRange& a, const ValueRange& b);
// Of sums of n numbers each.
ValueRange times(const ValueRange& a, double n);

// The range of an op's result, given its attributes and those of its operands. Where the result is not finite for all of the operands,
// `finite` is false.
using Ranges = std::span<const ValueRange>;
using RangeRule = ValueRange (*)(const graph::AttrMap& attrs, Ranges in);

// Of a function that never falls.
template <auto f>
ValueRange rising(const graph::AttrMap& /*attrs*/, Ranges in) {
  return {f(in[0].least), f(in[0].most), in[0].finite};
}
ValueRange range_of_exp(const graph::AttrMap& attrs, Ranges in);
ValueRange range_of_log(const graph::AttrMap& attrs, Ranges in);
ValueRange range_of_sqrt(const graph::AttrMap& attrs, Ranges in);
ValueRange range_of_reciprocal(const graph::AttrMap& attrs, Ranges in);
ValueRange range_of_square(const graph::AttrMap& attrs, Ranges in);
ValueRange range_of_abs(const graph::AttrMap& attrs, Ranges in);
ValueRange range_of_gelu(const graph::AttrMap& attrs, Ranges in);
ValueRange range_of_lrelu(const graph::AttrMap& attrs, Ranges in);
ValueRange range_of_power(const graph::AttrMap& attrs, Ranges in);
ValueRange range_of_sum(const graph::AttrMap& attrs, Ranges in);
ValueRange range_of_difference(const graph::AttrMap& attrs, Ranges in);
ValueRange range_of_product(const graph::AttrMap& attrs, Ranges in);
ValueRange range_of_maximum(const graph::AttrMap& attrs, Ranges in);

// What the packer's ReLU makes of a result.
ValueRange after_relu(const graph::AttrMap& attrs, const ValueRange& x);

// e to this power is 0 in fp32.
inline constexpr double kVanishingExponent = -104;

}  // namespace buda::ops
