// SPDX-License-Identifier: Apache-2.0
// Trigonometric and hyperbolic functions, their inverses, and the error function.
//
//   tan        sin / cos
//   sinh, cosh (e^x ∓ e^-x) / 2
//   asinh      sign(x) ln(|x| + √(x² + 1))
//   acosh      ln(x + √((x - 1)(x + 1)))
//   atanh      ln((1 + x) / (1 - x)) / 2
//   atan       the angle is halved twice by t = x / (1 + √(1 + x²)), so that |t| <= tan(π/8); then the Taylor series up to t^15
//   asin, acos 2 atan(x / (1 + √((1 - x)(1 + x)))), and π/2 less that
//   erf        1 - (a1 t + … + a5 t^5) e^(-x²), t = 1 / (1 + p |x|), with the sign of x: formula 7.1.26 of Abramowitz and Stegun
//
// Errors, beside the rounding of each op in the format that it computes in: the series of atan 3e-7, erf 1.5e-7 (absolute). What is a
// logarithm near 1 or a difference of nearly equal numbers (asinh, atanh, sinh near 0) has the absolute error of the format at 1.
#include "rules.hpp"

#include <array>

namespace buda::math {
namespace {

using namespace plugin;

constexpr double kPi = 3.14159265358979323846;

Term tangent(Rewrite& r) {
  Term x = r.in(0);
  Term sine = r.op("sine", {x});
  return sine * reciprocal(r.op("cosine", {x}));
}
Term hyperbolic_sine(Rewrite& r) {
  Term e = exp(r.in(0));
  return (e - reciprocal(e)) * 0.5;
}
Term hyperbolic_cosine(Rewrite& r) {
  Term e = exp(r.in(0));
  return (e + reciprocal(e)) * 0.5;
}
Term area_sine(Rewrite& r) {
  Term x = r.in(0);
  Term size = abs(x);
  Term root = sqrt(square(x) + 1);
  Term logarithm = log(size + root);
  return logarithm * sign_of(x);
}
Term area_cosine(Rewrite& r) {
  Term x = r.in(0);
  Term less = x - 1;
  Term root = sqrt(less * (x + 1));
  return log(x + root);
}
Term area_tangent(Rewrite& r) {
  Term x = r.in(0);
  Term more = 1 + x;
  return log(more * reciprocal(1 - x)) * 0.5;
}

// tan(a / 2) for tan(a).
Term half_angle(const Term& t) { return t * reciprocal(1 + sqrt(1 + square(t))); }

// 4 atan(t) for |t| <= tan(π/8).
Term four_angles(const Term& t) {
  Term s = square(t);
  Term y = s * (-1.0 / 15) + 1.0 / 13;
  for (int n : {-11, 9, -7, 5, -3, 1}) y = s * y + 1.0 / n;
  return (t * y) * 4;
}

Term arc_tangent(Rewrite& r) { return four_angles(half_angle(half_angle(r.in(0)))); }
Term arc_sine_of(Rewrite& r) {
  Term x = r.in(0);
  Term less = 1 - x;
  Term cosine = sqrt(less * (1 + x));
  return four_angles(half_angle(x * reciprocal(1 + cosine)));
}
Term arc_sine(Rewrite& r) { return arc_sine_of(r); }
Term arc_cosine(Rewrite& r) { return kPi / 2 - arc_sine_of(r); }

Term error_function(Rewrite& r) {
  constexpr double kP = 0.3275911;
  constexpr std::array kA = {1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592};  // from the fifth
  Term x = r.in(0);
  Term size = abs(x);
  Term t = reciprocal(1 + size * kP);
  Term sum = t * kA[0];
  for (std::size_t i = 1; i < kA.size(); ++i) sum = (sum + kA[i]) * t;
  Term tail = sum * exp(-square(x));
  Term magnitude = 1 - tail;
  return magnitude * sign_of(x);
}

RuleSpec spec(std::string op, std::string summary, Term (*build)(Rewrite&)) {
  return {.name = op,
          .summary = std::move(summary),
          .consumes = {op},
          .produces = {"sine", "cosine", "exp", "log", "sqrt", "square", "reciprocal", "abs", "negative", "add", "subtract", "multiply",
                       "clip"},
          .build = build};
}

}  // namespace

std::vector<RuleSpec> trigonometry_rules() {
  return {
      spec("tan", "sine times the reciprocal of cosine", tangent),
      spec("sinh", "through exp", hyperbolic_sine),
      spec("cosh", "through exp", hyperbolic_cosine),
      spec("asinh", "through log and sqrt", area_sine),
      spec("acosh", "through log and sqrt", area_cosine),
      spec("atanh", "through log", area_tangent),
      spec("atan", "a series of the halved angle", arc_tangent),
      spec("asin", "through the series of atan", arc_sine),
      spec("acos", "through the series of atan", arc_cosine),
      spec("erf", "a polynomial times e^(-x^2)", error_function),
  };
}

}  // namespace buda::math
