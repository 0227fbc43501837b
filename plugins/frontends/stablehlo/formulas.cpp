// SPDX-License-Identifier: Apache-2.0
// Textbook formulas, in forms that keep their digits. Parts that make nodes are computed one after the other, so that the order of nodes
// is the same with every compiler.
#include "formulas.hpp"

#include <cmath>
#include <limits>
#include <numbers>

namespace buda::stablehlo {

Number exponential(Number x) { return apply("exp", x); }
Number logarithm(Number x) { return apply("log", x); }
Number square_root(Number x) { return apply("sqrt", x); }

// With u = e^x as it is rounded, (u - 1) x / ln u makes the rounding good (Kahan); far from 0 there is none to make good.
Number exponential_minus_one(Number x) {
  const Number u = exponential(x), far = u - 1.0, log = logarithm(u), near = far * (x / log);
  const Number size = apply("abs", x), is_near = size < 1.0, same = equal(u, 1.0), out = where(is_near, near, far);
  return where(same, x, out);
}

// With u = 1 + x as it is rounded, ln(u) x / (u - 1) makes the rounding good (Kahan).
Number log_plus_one(Number x) {
  const Number u = x + 1.0, log = logarithm(u), error = u - 1.0;
  const Number corrected = log * (x / error);
  const Number same = equal(error, 0.0), infinite = equal(u, std::numeric_limits<double>::infinity());
  const Number finite = where(infinite, log, corrected);
  return where(same, x, finite);
}

// gelu(y) = y (1 - erf(-y / √2)) / 2 is computed with its digits.
Number erf_complement(Number x) {
  const Number y = x * -std::numbers::sqrt2, gelu = apply("gelu", y), half = gelu / y;
  const Number zero = equal(y, 0.0), doubled = half * 2.0, one = x.constant(1);
  return where(zero, one, doubled);
}

Number polynomial(Number x, std::span<const double> coefficients) {
  Number out = x.constant(coefficients[0]);
  for (double c : coefficients.subspan(1)) {
    out = out * x;
    out = out + c;
  }
  return out;
}

Complex operator+(Complex a, Complex b) {
  const Number re = a.re + b.re, im = a.im + b.im;
  return {re, im};
}

Complex operator-(Complex a, Complex b) {
  const Number re = a.re - b.re, im = a.im - b.im;
  return {re, im};
}

Complex operator*(Complex a, Complex b) {
  const Number rr = a.re * b.re, ii = a.im * b.im, ri = a.re * b.im, ir = a.im * b.re;
  const Number re = rr - ii, im = ri + ir;
  return {re, im};
}

Complex negated(Complex z) {
  const Number re = -z.re;
  return {re, -z.im};
}

Complex conjugated(Complex z) { return {z.re, -z.im}; }
Complex times_i(Complex z) { return {-z.im, z.re}; }

// Divided by the larger part of b first (Smith).
Complex operator/(Complex a, Complex b) {
  const Number re_size = apply("abs", b.re), im_size = apply("abs", b.im), real_larger = re_size >= im_size;
  const Number large = where(real_larger, b.re, b.im), small = where(real_larger, b.im, b.re);
  const Number ratio = small / large, part = small * ratio, divisor = large + part;
  const Number first = where(real_larger, a.re, a.im), second = where(real_larger, a.im, a.re);
  const Number scaled_second = second * ratio, sum = first + scaled_second, re = sum / divisor;
  const Number scaled_first = first * ratio, difference = second - scaled_first, im_of_larger = difference / divisor;
  const Number negative = -im_of_larger, im = where(real_larger, im_of_larger, negative);
  return {re, im};
}

Number magnitude(Complex z) {
  const Number re = apply("abs", z.re), im = apply("abs", z.im);
  const Number large = apply("maximum", re, im), small = apply("minimum", re, im);
  const Number ratio = small / large, squared = apply("square", ratio), root = square_root(squared + 1.0), size = large * root;
  const Number nothing = equal(large, 0.0), same = equal(small, large), diagonal = large * std::numbers::sqrt2;
  const Number out = where(same, diagonal, size);
  return where(nothing, large, out);
}

// The angle of the point (x, y), with the quadrant of its signs; those of zeros count.
Number angle(Number y, Number x) {
  const Number ratio = y / x, inner = apply("atan", ratio);
  const Number reciprocal = 1.0 / x, left = reciprocal < 0.0, negative_x = x < 0.0, x_is_left = apply("logical_or", left, negative_x);
  const Number over_y = 1.0 / y, below_zero = over_y < 0.0, negative_y = y < 0.0, below = apply("logical_or", below_zero, negative_y);
  const Number pi = y.constant(std::numbers::pi), minus_pi = y.constant(-std::numbers::pi), turn = where(below, minus_pi, pi);
  const Number turned = inner + turn, by_quadrant = where(x_is_left, turned, inner);
  const Number y_zero = equal(y, 0.0), no_turn = y, along = where(x_is_left, turn, no_turn), out = where(y_zero, along, by_quadrant);
  // Both infinite: their ratio has no value.
  const double infinity = std::numeric_limits<double>::infinity();
  const Number x_size = apply("abs", x), y_size = apply("abs", y), both = apply("minimum", x_size, y_size),
               infinite = equal(both, infinity);
  const Number quarter = turn * 0.25, three_quarters = turn * 0.75, diagonal = where(x_is_left, three_quarters, quarter);
  return where(infinite, diagonal, out);
}

Complex from_polar(Number radius, Number radians) {
  const Number cosine = apply("cosine", radians), sine = apply("sine", radians), re = radius * cosine, im = radius * sine;
  return {re, im};
}

Complex exponential(Complex z) {
  const Number size = exponential(z.re);
  const Complex turned = from_polar(size, z.im);
  // An imaginary part of 0 stays, also where the size is infinite.
  const Number real = equal(z.im, 0.0), im = where(real, z.im, turned.im);
  return {turned.re, im};
}

// ln |z| near |z| = 1 from |z|² - 1 = (|x| - 1)(|x| + 1) + y².
Complex logarithm(Complex z) {
  const Number re = apply("abs", z.re), im = apply("abs", z.im);
  const Number large = apply("maximum", re, im), small = apply("minimum", re, im);
  const Number below = large - 1.0, above = large + 1.0, squared = apply("square", small), excess = below * above;
  const Number near = log_plus_one(excess + squared) * 0.5;
  const Number size = magnitude(z), far = logarithm(size);
  const Number least = size > 0.5, most = size < 3.0, is_near = apply("logical_and", least, most);
  const Number out = where(is_near, near, far), turn = angle(z.im, z.re);
  return {out, turn};
}

// The root of (|z| + |x|) / 2 is the larger part; the other one is y divided by twice that.
Complex square_root(Complex z) {
  const Number size = magnitude(z), x = apply("abs", z.re), half_size = size * 0.5, half_x = x * 0.5;
  const Number root = square_root(half_size + half_x), other = z.im / (root * 2.0);
  const Number none = equal(root, 0.0), zero = z.im * 0.0, small = where(none, zero, other);
  const Number right = z.re >= 0.0, small_size = apply("abs", small), negative = -root, below = z.im < 0.0,
               signed_root = where(below, negative, root);
  const Number re = where(right, root, small_size), im = where(right, small, signed_root);
  return {re, im};
}

}  // namespace buda::stablehlo
