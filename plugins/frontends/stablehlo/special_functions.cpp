// SPDX-License-Identifier: Apache-2.0
// The functions of CHLO. Those that ours have no op for are computed in fp64, as series and continued steps that are exact to fp32.
#include "formulas.hpp"
#include "op_call.hpp"

#include <buda/base/text.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace buda::stablehlo {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kPi = std::numbers::pi;

// ln Γ(z + 1) by Lanczos' approximation with g = 7; below 1/2 by reflection.
Number log_gamma(Number x) {
  static constexpr double kBase = 0.99999999999980993;
  static constexpr std::array<double, 8> kTerms{676.5203681218851,  -1259.1392167224028,  771.32342877765313,    -176.61502916214059,
                                                12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7};
  const Number small = x < 0.5, shifted = x - 1.0, z = where(small, -x, shifted);
  Number sum = x.constant(kBase);
  for (std::size_t i = 0; i < kTerms.size(); ++i) {
    const Number below = z + static_cast<double>(i + 1);
    const Number term = kTerms[i] / below;
    sum = sum + term;
  }
  const Number t = z + 7.5, log_t = logarithm(t), half = z + 0.5, product = half * log_t, power = product - t, log_sum = logarithm(sum);
  const Number direct = power + log_sum, value = direct + 0.5 * std::log(2 * kPi);
  const Number size = apply("abs", x), floor = apply("floor", size), fraction = size - floor, sine = apply("sine", fraction * kPi);
  const Number log_sine = logarithm(sine), from = std::log(kPi) - log_sine, reflected = from - value, out = where(small, reflected, value);
  const Number infinite = equal(size, kInfinity);
  return where(infinite, size, out);
}

// The derivative of ln Γ: eight steps up, then its asymptotic series.
Number digamma(Number x) {
  const Number small = x < 0.5, turned = 1.0 - x;
  Number z = where(small, turned, x), sum = x.constant(0);
  for (int i = 0; i < 8; ++i) {
    const Number step = 1.0 / z;
    sum = sum - step;
    z = z + 1.0;
  }
  static constexpr std::array<double, 7> kSeries{-1.0 / 12, 691.0 / 32760, -1.0 / 132, 1.0 / 240, -1.0 / 252, 1.0 / 120, -1.0 / 12};
  const Number inverse = 1.0 / z, squared = apply("square", inverse), series = polynomial(squared, kSeries) * squared, log = logarithm(z);
  const Number halved = inverse * 0.5, start = log - halved, tail = start + series, value = tail + sum;
  // Minus π / tan πx; poles are at the integers.
  const Number floor = apply("floor", x), fraction = x - floor, tangent = apply("tan", fraction * kPi), cotangent = kPi / tangent;
  const Number reflected = value - cotangent, pole = equal(fraction, 0.0), nan = x.constant(std::numeric_limits<double>::quiet_NaN());
  const Number left = where(pole, nan, reflected);
  return where(small, left, value);
}

// Winitzki's approximation, then Newton's method on erf, or on its complement where that has more digits.
Number erf_inverse(Number x) {
  constexpr double kA = 0.147;
  const Number size = apply("abs", x), square = apply("square", size), rest = 1.0 - square, log = logarithm(rest);
  const Number half = log * 0.5, b = half + 2 / (kPi * kA), b2 = apply("square", b), c = log / kA, inner = b2 - c,
               root = square_root(inner);
  Number y = square_root(root - b);
  const Number complement = 1.0 - size, near = size < 0.5;
  for (int i = 0; i < 4; ++i) {
    const Number erf = apply("erf", y), erfc = erf_complement(y), low = erf - size, high = complement - erfc,
                 error = where(near, low, high);
    const Number y2 = apply("square", y), slope = exponential(-y2) * (2 / std::sqrt(kPi)), step = error / slope;
    y = y - step;
  }
  const Number one = equal(size, 1.0), value = where(one, x.constant(kInfinity), y), negative = x < 0.0, opposite = -value,
               zero = equal(size, 0.0);
  const Number out = where(negative, opposite, value);
  return where(zero, x, out);
}

// e^-|x| I1(x): the series of positive terms, and the asymptotic one for large numbers.
Number scaled_bessel(Number x) {
  constexpr int kTerms = 60;
  std::vector<double> series(kTerms), far(14);
  double factor = 1;
  for (int k = 0; k < kTerms; ++k) {
    series[static_cast<std::size_t>(kTerms - 1 - k)] = factor;
    factor /= static_cast<double>(k + 1) * (k + 2);
  }
  double term = 1;
  for (std::size_t k = 0; k < far.size(); ++k) {
    far[far.size() - 1 - k] = term;
    const double odd = 2.0 * static_cast<double>(k) + 1;
    term *= -(4 - odd * odd) / (8 * static_cast<double>(k + 1));
  }
  const Number size = apply("abs", x), is_near = size < 25.0, bounded = apply("minimum", size, size.constant(25)), half = bounded * 0.5;
  const Number squared = apply("square", half), sum = polynomial(squared, series) * half, near = sum * exponential(-bounded);
  const Number large = apply("maximum", size, size.constant(25)), inverse = 1.0 / large, tail = polynomial(inverse, far),
               root = square_root(large * (2 * kPi));
  const Number distant = tail / root, value = where(is_near, near, distant), negative = x < 0.0, opposite = -value;
  return where(negative, opposite, value);
}

struct SpecialFunction {
  std::string_view name;
  Number (*function)(Number);
};

constexpr SpecialFunction kSpecialFunctions[] = {
    {"chlo.bessel_i1e", scaled_bessel}, {"chlo.digamma", digamma},     {"chlo.erf_inv", erf_inverse},
    {"chlo.lgamma", log_gamma},         {"chlo.erfc", erf_complement},
};

Result<void> in_double(OpCall& n) {
  BUDA_TRY(n.expect_inputs(1, 1));
  const DType dtype = n.dtype(0);
  if (!is_float(dtype) || n.is_complex(0)) return n.refuse("takes real floating-point numbers");
  for (const SpecialFunction& f : kSpecialFunctions)
    if (f.name == n.importer().name) n.output(n.cast(f.function({&n, n.cast(n.real(0), DType::f64)}).ref, dtype));
  return success();
}

// ---- complex functions: Kahan's formulas, which are exact at the branch cuts

struct Roots {
  Complex below, above;  // √(1 - z) and √(1 + z)
};

Roots roots_around(Complex z) {
  const Complex turned = negated(z), below = square_root(Complex{turned.re + 1.0, turned.im});
  return {below, square_root(Complex{z.re + 1.0, z.im})};
}

Complex arc_sine(Complex z) {
  const Roots r = roots_around(z);
  const Complex product = r.below * r.above, skew = conjugated(r.below) * r.above;
  const Number re = angle(z.re, product.re), im = apply("asinh", skew.im);
  return {re, im};
}

Complex arc_cosine(Complex z) {
  const Roots r = roots_around(z);
  const Complex skew = conjugated(r.above) * r.below;
  const Number half = angle(r.below.re, r.above.re), im = apply("asinh", skew.im);
  return {half * 2.0, im};
}

Complex hyperbolic_arc_cosine(Complex z) {
  const Complex below = square_root(Complex{z.re - 1.0, z.im}), above = square_root(Complex{z.re + 1.0, z.im}),
                skew = conjugated(below) * above;
  const Number re = apply("asinh", skew.re), half = angle(below.im, above.re);
  return {re, half * 2.0};
}

Complex hyperbolic_arc_tangent(Complex z) {
  const Number left = 1.0 - z.re, right = z.re + 1.0, left2 = apply("square", left), y2 = apply("square", z.im), size = left2 + y2;
  const Number ratio = (z.re * 4.0) / size, re = log_plus_one(ratio) * 0.25, product = left * right, real = product - y2;
  const Number im = angle(z.im * 2.0, real) * 0.5;
  return {re, im};
}

Complex hyperbolic_cosine(Complex z) {
  const Number ch = apply("cosh", z.re), sh = apply("sinh", z.re), c = apply("cosine", z.im), s = apply("sine", z.im);
  const Number re = ch * c, im = sh * s;
  return {re, im};
}

Complex hyperbolic_sine(Complex z) {
  const Number ch = apply("cosh", z.re), sh = apply("sinh", z.re), c = apply("cosine", z.im), s = apply("sine", z.im);
  const Number re = sh * c, im = ch * s;
  return {re, im};
}

// f(z) = -i g(iz)
template <Complex (*kFunction)(Complex)>
Complex turned(Complex z) {
  const Complex out = kFunction(times_i(z));
  return {out.im, -out.re};
}

struct ComplexFunction {
  std::string_view name;
  Complex (*function)(Complex);
};

constexpr ComplexFunction kComplexFunctions[] = {
    {"chlo.acos", arc_cosine},
    {"chlo.acosh", hyperbolic_arc_cosine},
    {"chlo.asin", arc_sine},
    {"chlo.asinh", turned<arc_sine>},
    {"chlo.atan", turned<hyperbolic_arc_tangent>},
    {"chlo.atanh", hyperbolic_arc_tangent},
    {"chlo.cosh", hyperbolic_cosine},
    {"chlo.sinh", hyperbolic_sine},
};

Result<void> with_op(OpCall& n) {
  BUDA_TRY(n.expect_inputs(1, 1));
  if (!n.is_complex(0)) {
    n.output(n.op(n.importer().op, {n.real(0)}));
    return success();
  }
  for (const ComplexFunction& f : kComplexFunctions)
    if (f.name == n.importer().name) {
      const Complex z = f.function({{&n, n.real(0)}, {&n, n.imaginary(0)}});
      n.output(z.re.ref, z.im.ref, 0);
      return success();
    }
  return n.refuse("is not read for complex numbers");
}

// The number next to x in the direction of y: its bits as an integer, one up or down.
Result<void> next_after(OpCall& n) {
  BUDA_TRY(n.expect_inputs(2, 2));
  const DType dtype = n.dtype(0);
  if (!is_float(dtype)) return n.refuse("takes floating-point numbers");
  const DType bits = dtype_size(dtype) == 8 ? DType::i64 : dtype_size(dtype) == 4 ? DType::i32 : DType::i16;
  auto as = [&](Number v, DType to) { return v.with(n.op("bitcast", {v.ref}, {{"dtype", std::string(dtype_name(to))}})); };
  const Number x{&n, n.real(0)}, y{&n, n.real(1)}, up = x<y, positive = x> 0.0, grows = equal(up, positive), number = as(x, bits);
  const Number larger = number + 1.0, smaller = number - 1.0, next = as(where(grows, larger, smaller), dtype);
  const Number smallest = as(number.constant(1), dtype), opposite = -smallest, from_zero = where(up, smallest, opposite);
  const Number zero = equal(x, 0.0), same = equal(x, y), moved = where(zero, from_zero, next), out = where(same, y, moved);
  const Number x_number = equal(x, x), y_number = equal(y, y), numbers = apply("logical_and", x_number, y_number), sum = x + y;
  n.output(where(numbers, out, sum).ref);
  return success();
}

constexpr OpImporter kSpecialFunctionOps[] = {
    {"chlo.acos", with_op, Scope::elementwise, "acos"}, {"chlo.acosh", with_op, Scope::elementwise, "acosh"},
    {"chlo.asin", with_op, Scope::elementwise, "asin"}, {"chlo.asinh", with_op, Scope::elementwise, "asinh"},
    {"chlo.atan", with_op, Scope::elementwise, "atan"}, {"chlo.atanh", with_op, Scope::elementwise, "atanh"},
    {"chlo.bessel_i1e", in_double, Scope::elementwise}, {"chlo.cosh", with_op, Scope::elementwise, "cosh"},
    {"chlo.digamma", in_double, Scope::elementwise},    {"chlo.erf", with_op, Scope::elementwise, "erf"},
    {"chlo.erf_inv", in_double, Scope::elementwise},    {"chlo.erfc", in_double, Scope::elementwise},
    {"chlo.lgamma", in_double, Scope::elementwise},     {"chlo.next_after", next_after, Scope::elementwise},
    {"chlo.sinh", with_op, Scope::elementwise, "sinh"},
};

}  // namespace

std::span<const OpImporter> special_function_ops() { return kSpecialFunctionOps; }

}  // namespace buda::stablehlo
