// SPDX-License-Identifier: Apache-2.0
// Computed in double and rounded once: the results of different mathematical libraries differ there in bits that do not reach a float.
#include <buda/arith/sfpu.hpp>

#include <buda/base/rng.hpp>

#include <cmath>
#include <numbers>

namespace buda::arith::sfpu {
namespace {

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }
double normal_pdf(double x) { return std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi); }

}  // namespace

float exp(float x) { return static_cast<float>(std::exp(static_cast<double>(x))); }
float log(float x) { return static_cast<float>(std::log(static_cast<double>(x))); }
float sqrt(float x) { return std::sqrt(x); }
float gelu(float x) {
  // The far ends are 0 and x; the product would be NaN for infinities.
  if (x < -14.0f) return 0.0f;
  return static_cast<float>(static_cast<double>(x) * normal_cdf(static_cast<double>(x)));
}
float gelu_derivative(float x) {
  if (x < -14.0f) return 0.0f;
  if (x > 14.0f) return 1.0f;
  auto d = static_cast<double>(x);
  return static_cast<float>(normal_cdf(d) + d * normal_pdf(d));
}
float reciprocal(float x) { return 1.0f / x; }
float sigmoid(float x) { return static_cast<float>(1.0 / (1.0 + std::exp(-static_cast<double>(x)))); }
float tanh(float x) { return static_cast<float>(std::tanh(static_cast<double>(x))); }
float sine(float x) { return static_cast<float>(std::sin(static_cast<double>(x))); }
float cosine(float x) { return static_cast<float>(std::cos(static_cast<double>(x))); }

float power(float x, std::int32_t exponent) {
  double base = static_cast<double>(x), result = 1.0;
  for (auto e = static_cast<std::uint32_t>(exponent < 0 ? 0 : exponent); e != 0; e >>= 1) {
    if ((e & 1) != 0) result *= base;
    base *= base;
  }
  return static_cast<float>(exponent < 0 ? std::pow(static_cast<double>(x), exponent) : result);
}

bool dropout_keeps(std::int32_t seed, double p, std::uint64_t index) {
  return Rng(static_cast<std::uint64_t>(static_cast<std::uint32_t>(seed)) << 32 ^ index * 0x9e3779b97f4a7c15ULL).uniform() >= p;
}

}  // namespace buda::arith::sfpu
