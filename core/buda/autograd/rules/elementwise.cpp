// SPDX-License-Identifier: Apache-2.0
// Gradients of arithmetic and elementwise mathematics.
//
// g is the gradient of the result y. Where two operands are equal, a maximum or minimum gives half of g to each, as PyTorch does; an
// absolute value has gradient 0 at 0.
#include <buda/autograd/rules/rules.hpp>

#include <cmath>
#include <numbers>

namespace buda::autograd {
namespace {

void pass_on(Backward& b) { b.give(0, b.g()); }

void add(Backward& b) {
  b.give(0, b.g());
  b.give(1, b.g());
}

void subtract(Backward& b) {
  b.give(0, b.g());
  if (b.wants(1)) b.give(1, -b.g());
}

void multiply(Backward& b) {
  if (b.wants(0)) b.give(0, b.g() * b.in(1));
  if (b.wants(1)) b.give(1, b.g() * b.in(0));
}

void divide(Backward& b) {
  const Term quotient = b.g() / b.in(1);
  b.give(0, quotient);
  if (b.wants(1)) b.give(1, -(quotient * b.result()));
}

// g b a^(b-1), and g y ln a, which is 0 where a is 0.
void power(Backward& b) {
  const Term base = b.in(0), exponent = b.in(1);
  if (b.wants(0)) {
    const Term lower = exponent + -1.0;
    const Term slope = exponent * base.op("power", lower);
    b.give(0, b.g() * slope);
  }
  if (b.wants(1)) {
    const Term zero = base.number(0), one = base.number(1);
    const Term positive = base.above(zero);
    const Term logarithm = where(positive, base, one).op("log");
    const Term slope = b.result() * logarithm;
    b.give(1, b.g() * slope);
  }
}

// The operand that is `above` the other has all of g, one that is equal half.
void extreme(Backward& b, bool largest) {
  const Term first = b.in(0), second = b.in(1);
  const Term zero = b.g().number(0), half = b.g().number(0.5), one = b.g().number(1);
  const Term equal = first.op("equal", second), first_above = first.above(second);
  const Term apart = where(first_above, largest ? one : zero, largest ? zero : one);
  const Term share = where(equal, half, apart);
  if (b.wants(0)) b.give(0, b.g() * share);
  if (b.wants(1)) b.give(1, b.g() * (1.0 - share));
}
void maximum(Backward& b) { extreme(b, true); }
void minimum(Backward& b) { extreme(b, false); }

// Between the limits, and on them.
void clip(Backward& b) {
  const Term x = b.in(0), zero = b.g().number(0);
  Term g = b.g();
  if (const double least = b.attrs().real("min"); std::isfinite(least)) {
    const Term below = x.number(least).above(x);
    g = where(below, zero, g);
  }
  if (const double most = b.attrs().real("max"); std::isfinite(most)) {
    const Term beyond = x.above(x.number(most));
    g = where(beyond, zero, g);
  }
  b.give(0, g);
}

void absolute(Backward& b) { b.give(0, b.g() * b.in(0).op("sign")); }
void negative(Backward& b) { b.give(0, -b.g()); }
void square(Backward& b) {
  const Term doubled = b.in(0) * 2.0;
  b.give(0, b.g() * doubled);
}
void exponential(Backward& b) { b.give(0, b.g() * b.result()); }
void logarithm(Backward& b) { b.give(0, b.g() / b.in(0)); }
void square_root(Backward& b) {
  const Term half = b.g() * 0.5;
  b.give(0, half / b.result());
}
void reciprocal(Backward& b) {
  const Term scaled = b.g() * b.result();
  b.give(0, -(scaled * b.result()));
}
void sine(Backward& b) { b.give(0, b.g() * b.in(0).op("cosine")); }
void cosine(Backward& b) {
  const Term slope = b.g() * b.in(0).op("sine");
  b.give(0, -slope);
}
void hyperbolic_sine(Backward& b) { b.give(0, b.g() * b.in(0).op("cosh")); }
void hyperbolic_cosine(Backward& b) { b.give(0, b.g() * b.in(0).op("sinh")); }
void tangent(Backward& b) {
  const Term squared = b.result() * b.result();
  b.give(0, b.g() * (squared + 1.0));
}
void arc_tangent(Backward& b) {
  const Term x = b.in(0);
  const Term squared = x * x;
  b.give(0, b.g() / (squared + 1.0));
}
// 1 / sqrt(1 - x^2).
Term inverse_sine_slope(const Term& x) {
  const Term squared = x * x;
  return (1.0 - squared).op("sqrt").op("reciprocal");
}
void arc_sine(Backward& b) { b.give(0, b.g() * inverse_sine_slope(b.in(0))); }
void arc_cosine(Backward& b) { b.give(0, -(b.g() * inverse_sine_slope(b.in(0)))); }
// 1 / sqrt(x^2 + 1), x^2 - 1 for the hyperbolic cosine's.
void inverse_hyperbolic(Backward& b, double added) {
  const Term x = b.in(0);
  const Term squared = x * x;
  b.give(0, b.g() / (squared + added).op("sqrt"));
}
void inverse_hyperbolic_sine(Backward& b) { inverse_hyperbolic(b, 1); }
void inverse_hyperbolic_cosine(Backward& b) { inverse_hyperbolic(b, -1); }
void inverse_hyperbolic_tangent(Backward& b) {
  const Term x = b.in(0);
  const Term squared = x * x;
  b.give(0, b.g() / (1.0 - squared));
}
// a - b n, n being the quotient as an integer, which changes in steps.
void remainder(Backward& b) {
  b.give(0, b.g());
  if (!b.wants(1)) return;
  const Term taken = b.in(0) - b.result();
  const Term quotient = (taken / b.in(1)).op("round");
  b.give(1, -(b.g() * quotient));
}
// 2/sqrt(pi) e^(-x^2).
void error_function(Backward& b) {
  const Term x = b.in(0);
  const Term exponent = -(x * x);
  const Term slope = exponent.op("exp") * (2 * std::numbers::inv_sqrtpi);
  b.give(0, b.g() * slope);
}

void select(Backward& b) {
  const Term zero = b.g().number(0);
  if (b.wants(1)) b.give(1, where(b.in(0), b.g(), zero));
  if (b.wants(2)) b.give(2, where(b.in(0), zero, b.g()));
}

void cast(Backward& b) { b.give(0, b.g().op("cast", {{"dtype", std::string(dtype_name(b.in(0).dtype()))}})); }

// (x - zero point) * scale: of integers, so that only a scale can learn.
void dequantize(Backward& b) {
  if (!b.wants(1)) return;
  const graph::AttrMap type{{"dtype", std::string(dtype_name(b.g().dtype()))}};
  const Shape shape = b.in(0).shape(), scale = b.in(1).shape();
  Term zero = b.in(2).op("cast", type);
  Dims summed;
  for (std::size_t i = 0; i < shape.rank(); ++i) summed.push_back(static_cast<std::int64_t>(i));
  if (scale.rank() == 1 && shape.rank() > 0) {
    const std::int64_t axis = b.axis("dim");
    Dims beside(shape.rank(), 1);
    beside[static_cast<std::size_t>(axis)] = scale[0];
    zero = zero.reshape(Shape(beside));
    summed.erase(summed.begin() + axis);
  }
  const Term number = b.in(0).op("cast", type) - zero;
  b.give(1, (b.g() * number).sum(std::move(summed), false).reshape(scale));
}

constexpr GradientRule kElementwiseRules[] = {{"abs", absolute},
                                              {"acos", arc_cosine},
                                              {"acosh", inverse_hyperbolic_cosine},
                                              {"add", add},
                                              {"asin", arc_sine},
                                              {"asinh", inverse_hyperbolic_sine},
                                              {"atan", arc_tangent},
                                              {"atanh", inverse_hyperbolic_tangent},
                                              {"buffer", pass_on},
                                              {"cast", cast},
                                              {"clip", clip},
                                              {"cosh", hyperbolic_cosine},
                                              {"cosine", cosine},
                                              {"dequantize", dequantize},
                                              {"divide", divide},
                                              {"erf", error_function},
                                              {"exact_cast", cast},
                                              {"exp", exponential},
                                              {"log", logarithm},
                                              {"maximum", maximum},
                                              {"minimum", minimum},
                                              {"modulo", remainder},
                                              {"multiply", multiply},
                                              {"negative", negative},
                                              {"nop", pass_on},
                                              {"power", power},
                                              {"reciprocal", reciprocal},
                                              {"remainder", remainder},
                                              {"sine", sine},
                                              {"sinh", hyperbolic_sine},
                                              {"sqrt", square_root},
                                              {"square", square},
                                              {"subtract", subtract},
                                              {"tan", tangent},
                                              {"where", select}};

}  // namespace

std::span<const GradientRule> elementwise_rules() { return kElementwiseRules; }

}  // namespace buda::autograd
