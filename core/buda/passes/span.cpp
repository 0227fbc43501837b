// Interval arithmetic on the device's elementwise operations.
#include <buda/passes/span.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace buda::passes {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// exp stays below the largest fp32 (and bf16) number up to 88.7.
constexpr double kMostExponent = 80;
// Nearer to zero than this a reciprocal leaves fp32.
constexpr double kLeastDivisor = 1e-30;
// Of bf16, the coarsest format in which the device adds.
constexpr double kRounding = 1.0 / 128;

Span reciprocal(const Span& x) {
  if (!x.finite || (x.least < kLeastDivisor && x.most > -kLeastDivisor)) return {-kInfinity, kInfinity, false};
  return {1 / x.most, 1 / x.least, true};
}

template <class F>
Span rising(const Span& x, F f) {
  return {f(x.least), f(x.most), x.finite};
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// x Φ(x) falls to -0.17 at x = -0.75 and rises on both sides of it.
Span gelu(const Span& x) { return {x.least >= 0 ? 0 : -0.17, std::max(x.most, 0.0), x.finite}; }

Span square(const Span& x) {
  double a = x.least * x.least, b = x.most * x.most;
  bool through_zero = x.least <= 0 && x.most >= 0;
  return {through_zero ? 0 : std::min(a, b), std::max(a, b), x.finite};
}

Span power(const graph::AttrMap& attrs, const Span& x) {
  auto it = attrs.find("exp");
  const auto* exponent = it == attrs.end() ? nullptr : std::get_if<std::int64_t>(&it->second);
  if (exponent == nullptr) return {-kInfinity, kInfinity, false};
  if (*exponent < 0 && !reciprocal(x).finite) return {-kInfinity, kInfinity, false};
  return {*exponent % 2 == 0 ? 0 : -kInfinity, kInfinity, x.finite};
}

Span leaky(const graph::AttrMap& attrs, const Span& x) {
  auto it = attrs.find("slope");
  const auto* slope = it == attrs.end() ? nullptr : std::get_if<double>(&it->second);
  double k = slope == nullptr ? 0.01 : *slope;
  auto f = [k](double v) { return v < 0 ? (k == 0 ? 0 : k * v) : v; };
  double a = f(x.least), b = f(x.most);
  return {x.least <= 0 && x.most >= 0 ? std::min({a, b, 0.0}) : std::min(a, b), std::max(a, b), x.finite};
}

// 0 times an unknown number is 0 here: the number is finite.
double product(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

// An infinite bound less another is no bound.
Span bounded(const Span& x) { return std::isnan(x.least) || std::isnan(x.most) ? Span{-kInfinity, kInfinity, x.finite} : x; }

// The ends of a sum, with room for the rounding of what is added: where numbers cancel, nothing but that is left of them.
double sum_below(double a, double b) { return a + b - kRounding * (std::abs(a) + std::abs(b)); }
double sum_above(double a, double b) { return a + b + kRounding * (std::abs(a) + std::abs(b)); }

double threshold_of(const graph::AttrMap& attrs) {
  auto it = attrs.find("relu_threshold");
  const auto* value = it == attrs.end() ? nullptr : std::get_if<double>(&it->second);
  return value == nullptr ? 0 : *value;
}

}  // namespace

Span Span::unknown() { return {-kInfinity, kInfinity, true}; }

Span hull(const Span& a, const Span& b) { return {std::min(a.least, b.least), std::max(a.most, b.most), a.finite && b.finite}; }

Span times(const Span& a, double n) { return {product(a.least, n), product(a.most, n), a.finite}; }

Span after_unary(std::string_view op, const graph::AttrMap& attrs, const Span& x) {
  if (op == "nop" || op == "datacopy") return x;
  if (op == "exp") {
    double most = x.most <= kVanishingExponent ? 0 : std::exp(x.most);
    return {std::min(most, std::exp(x.least)), most, x.finite && x.most <= kMostExponent};
  }
  if (op == "log")
    return x.finite && x.least >= kLeastDivisor ? rising(x, [](double v) { return std::log(v); }) : Span{-kInfinity, kInfinity, false};
  if (op == "sqrt") return x.finite && x.least >= 0 ? rising(x, [](double v) { return std::sqrt(v); }) : Span{-kInfinity, kInfinity, false};
  if (op == "reciprocal") return reciprocal(x);
  if (op == "square") return square(x);
  if (op == "abs") {
    Span s = square(x);
    return {std::sqrt(s.least), std::sqrt(s.most), x.finite};
  }
  if (op == "sigmoid") return rising(x, sigmoid);
  if (op == "tanh") return rising(x, [](double v) { return std::tanh(v); });
  if (op == "gelu") return gelu(x);
  if (op == "gelu_derivative") return {-0.13, 1.13, x.finite};
  if (op == "sine" || op == "cosine") return {-1, 1, x.finite};
  if (op == "lrelu") return leaky(attrs, x);
  if (op == "power") return power(attrs, x);
  return {-kInfinity, kInfinity, false};
}

Span after_binary(std::string_view op, const Span& a, const Span& b) {
  bool finite = a.finite && b.finite;
  if (op == "add") return bounded({sum_below(a.least, b.least), sum_above(a.most, b.most), finite});
  if (op == "subtract") return bounded({sum_below(a.least, -b.most), sum_above(a.most, -b.least), finite});
  if (op == "maximum") return {std::max(a.least, b.least), std::max(a.most, b.most), finite};
  if (op == "multiply") {
    auto [least, most] =
        std::minmax({product(a.least, b.least), product(a.least, b.most), product(a.most, b.least), product(a.most, b.most)});
    return {least, most, finite};
  }
  return {-kInfinity, kInfinity, false};
}

Span after_relu(const graph::AttrMap& attrs, const Span& x) {
  auto enabled = attrs.find("relu_en");
  if (enabled == attrs.end() || enabled->second != graph::Attr(true)) return x;
  auto mode = attrs.find("relu_mode");
  double limit = threshold_of(attrs);
  if (mode != attrs.end() && mode->second == graph::Attr(std::string("max")))
    return {std::clamp(x.least, 0.0, limit), std::clamp(x.most, 0.0, limit), x.finite};
  return {std::max(x.least, 0.0), std::max(x.most, 0.0), x.finite};
}

double harmless_argument(std::string_view op) { return op == "exp" ? 0 : 1; }

}  // namespace buda::passes
