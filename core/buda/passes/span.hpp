// Intervals: what is known of many numbers at once, and how an operation changes it.
#pragma once

#include <buda/graph/attribute.hpp>

#include <cstdint>
#include <string_view>

namespace buda::passes {

// All numbers lie in [least, most], an infinite bound standing for "not known". `finite`: none of them is infinite or NaN, provided that
// the model's data are not. Sums leave room for rounding, so that a difference of equal numbers is not taken for a number that is not 0;
// overflow of sums and products is left out of account.
struct Span {
  double least = 0;
  double most = 0;
  bool finite = true;

  static Span exactly(double v) { return {v, v, true}; }
  static Span unknown();

  bool is(double v) const { return finite && least == v && most == v; }
  friend bool operator==(const Span&, const Span&) = default;
};

// Of both sets together.
Span hull(const Span& a, const Span& b);
// Of sums of n numbers each.
Span times(const Span& a, double n);

// A device op of one input, with its attributes (relu_en and its like are not considered here). Where the op has no finite result for
// all of the span, `finite` is false.
Span after_unary(std::string_view op, const graph::AttrMap& attrs, const Span& x);
// add, subtract, multiply, maximum.
Span after_binary(std::string_view op, const Span& a, const Span& b);
// What the packer's ReLU makes of a result.
Span after_relu(const graph::AttrMap& attrs, const Span& x);

// e to this power is 0 in fp32.
inline constexpr double kVanishingExponent = -104;

// A number for which the op certainly has a finite result: what padding is set to where it may not stay as it is.
double harmless_argument(std::string_view op);

}  // namespace buda::passes
