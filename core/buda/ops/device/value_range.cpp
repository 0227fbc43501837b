// SPDX-License-Identifier: Apache-2.0
// Interval arithmetic on the device's elementwise operations.
#include <buda/ops/device/value_range.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace buda::ops {
namespace {

using graph::AttrMap;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// exp stays below the largest fp32 (and bf16) number up to 88.7.
constexpr double kMaxExponent = 80;
// Nearer to zero than this a reciprocal leaves fp32.
constexpr double kMinDivisor = 1e-30;
// Of bf16, the coarsest format in which the device adds.
constexpr double kRounding = 1.0 / 128;

// 0 times an unknown number is 0 here: the number is finite.
double product(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

// An infinite bound less another is no bound.
ValueRange bounded(const ValueRange& x) {
  return std::isnan(x.least) || std::isnan(x.most) ? ValueRange{-kInfinity, kInfinity, x.finite} : x;
}

// The ends of a sum, with room for the rounding of what is added: where numbers cancel, nothing but that is left of them.
double sum_below(double a, double b) { return a + b - kRounding * (std::abs(a) + std::abs(b)); }
double sum_above(double a, double b) { return a + b + kRounding * (std::abs(a) + std::abs(b)); }

double threshold_of(const AttrMap& attrs) {
  auto it = attrs.find("relu_threshold");
  const auto* value = it == attrs.end() ? nullptr : std::get_if<double>(&it->second);
  return value == nullptr ? 0 : *value;
}

}  // namespace

ValueRange ValueRange::unknown() { return {-kInfinity, kInfinity, true}; }
ValueRange ValueRange::anything() { return {-kInfinity, kInfinity, false}; }

ValueRange hull(const ValueRange& a, const ValueRange& b) {
  return {std::min(a.least, b.least), std::max(a.most, b.most), a.finite && b.finite};
}

ValueRange times(const ValueRange& a, double n) { return {product(a.least, n), product(a.most, n), a.finite}; }

ValueRange range_of_exp(const AttrMap& /*attrs*/, Ranges in) {
  const ValueRange& x = in[0];
  double most = x.most <= kVanishingExponent ? 0 : std::exp(x.most);
  return {std::min(most, std::exp(x.least)), most, x.finite && x.most <= kMaxExponent};
}

ValueRange range_of_log(const AttrMap& attrs, Ranges in) {
  return in[0].finite && in[0].least >= kMinDivisor ? rising<[](double v) { return std::log(v); }>(attrs, in) : ValueRange::anything();
}

ValueRange range_of_sqrt(const AttrMap& attrs, Ranges in) {
  return in[0].finite && in[0].least >= 0 ? rising<[](double v) { return std::sqrt(v); }>(attrs, in) : ValueRange::anything();
}

ValueRange range_of_reciprocal(const AttrMap& /*attrs*/, Ranges in) {
  const ValueRange& x = in[0];
  if (!x.finite || (x.least < kMinDivisor && x.most > -kMinDivisor)) return ValueRange::anything();
  return {1 / x.most, 1 / x.least, true};
}

ValueRange range_of_square(const AttrMap& /*attrs*/, Ranges in) {
  const ValueRange& x = in[0];
  double a = x.least * x.least, b = x.most * x.most;
  bool through_zero = x.least <= 0 && x.most >= 0;
  return {through_zero ? 0 : std::min(a, b), std::max(a, b), x.finite};
}

ValueRange range_of_abs(const AttrMap& attrs, Ranges in) {
  ValueRange squared = range_of_square(attrs, in);
  return {std::sqrt(squared.least), std::sqrt(squared.most), squared.finite};
}

// x Φ(x) falls to -0.17 at x = -0.75 and rises on both sides of it.
ValueRange range_of_gelu(const AttrMap& /*attrs*/, Ranges in) {
  return {in[0].least >= 0 ? 0 : -0.17, std::max(in[0].most, 0.0), in[0].finite};
}

ValueRange range_of_lrelu(const AttrMap& attrs, Ranges in) {
  const ValueRange& x = in[0];
  auto it = attrs.find("slope");
  const auto* slope = it == attrs.end() ? nullptr : std::get_if<double>(&it->second);
  double k = slope == nullptr ? 0.01 : *slope;
  auto f = [k](double v) { return v < 0 ? (k == 0 ? 0 : k * v) : v; };
  double a = f(x.least), b = f(x.most);
  return {x.least <= 0 && x.most >= 0 ? std::min({a, b, 0.0}) : std::min(a, b), std::max(a, b), x.finite};
}

ValueRange range_of_power(const AttrMap& attrs, Ranges in) {
  auto it = attrs.find("exp");
  const auto* exponent = it == attrs.end() ? nullptr : std::get_if<std::int64_t>(&it->second);
  if (exponent == nullptr || (*exponent < 0 && !range_of_reciprocal(attrs, in).finite)) return ValueRange::anything();
  return {*exponent % 2 == 0 ? 0 : -kInfinity, kInfinity, in[0].finite};
}

ValueRange range_of_sum(const AttrMap& /*attrs*/, Ranges in) {
  const ValueRange &a = in[0], &b = in[1];
  return bounded({sum_below(a.least, b.least), sum_above(a.most, b.most), a.finite && b.finite});
}

ValueRange range_of_difference(const AttrMap& /*attrs*/, Ranges in) {
  const ValueRange &a = in[0], &b = in[1];
  return bounded({sum_below(a.least, -b.most), sum_above(a.most, -b.least), a.finite && b.finite});
}

ValueRange range_of_product(const AttrMap& /*attrs*/, Ranges in) {
  const ValueRange &a = in[0], &b = in[1];
  auto [least, most] =
      std::minmax({product(a.least, b.least), product(a.least, b.most), product(a.most, b.least), product(a.most, b.most)});
  return {least, most, a.finite && b.finite};
}

ValueRange range_of_maximum(const AttrMap& /*attrs*/, Ranges in) {
  const ValueRange &a = in[0], &b = in[1];
  return {std::max(a.least, b.least), std::max(a.most, b.most), a.finite && b.finite};
}

ValueRange after_relu(const AttrMap& attrs, const ValueRange& x) {
  auto enabled = attrs.find("relu_en");
  if (enabled == attrs.end() || enabled->second != graph::Attr(true)) return x;
  auto mode = attrs.find("relu_mode");
  double limit = threshold_of(attrs);
  if (mode != attrs.end() && mode->second == graph::Attr(std::string("max")))
    return {std::clamp(x.least, 0.0, limit), std::clamp(x.most, 0.0, limit), x.finite};
  return {std::max(x.least, 0.0), std::max(x.most, 0.0), x.finite};
}

}  // namespace buda::ops
