// SPDX-License-Identifier: Apache-2.0
// Interpolated sigmoid and tanh.
#include "gate_tables.hpp"

#include <array>
#include <cmath>

namespace buda::tflite_frontend {
namespace {

constexpr std::int64_t kKnots = 256;
constexpr double kKnotsPerUnit = 24;

// 2^16 sigmoid(i / 24). A chord between two points of a curve lies to one side of it, by at most h^2/8 times the second derivative. The
// knots are moved by half of that, which leaves the interpolation equal errors to both sides. The last knot stands for all that is beyond.
std::array<std::int64_t, kKnots> knots() {
  std::array<std::int64_t, kKnots> out{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    double s = 1 / (1 + std::exp(-static_cast<double>(i) / kKnotsPerUnit));
    double second_derivative = s * (1 - s) * (1 - 2 * s);
    out[i] = std::llround(65536 * (s - second_derivative / (kKnotsPerUnit * kKnotsPerUnit * 16)));
  }
  out.back() = 65535;
  return out;
}

// Between knots, with `bits` bits behind the number of a knot.
std::int64_t interpolated(const std::array<std::int64_t, kKnots>& knots, std::int64_t at, int bits, std::int64_t beyond) {
  std::int64_t knot = at >> bits;
  if (knot >= kKnots - 1) return beyond;
  auto i = static_cast<std::size_t>(knot);
  std::int64_t rest = at & ((std::int64_t{1} << bits) - 1);
  return (knots[i] << bits) + rest * (knots[i + 1] - knots[i]);
}

}  // namespace

std::vector<std::int32_t> sigmoid_table() {
  const auto k = knots();
  std::vector<std::int32_t> out;
  for (std::int64_t x = -kGateTableOffset; x < kGateTableOffset; ++x) {
    // 24 knots a unit of 2^12, each with 9 bits behind it, are a factor of 3.
    std::int64_t y = interpolated(k, std::abs(3 * x), 9, std::int64_t{0x7fff} << 10);
    y = x >= 0 ? y + (1 << 9) : (1 << 25) - y + (1 << 9) - 1;
    out.push_back(static_cast<std::int32_t>(y >> 10));
  }
  return out;
}

// tanh(x) = 2 sigmoid(2 x) - 1.
std::vector<std::int32_t> tanh_table(int log2_scale) {
  const auto k = knots();
  int shift = log2_scale + 12;
  std::vector<std::int32_t> out;
  for (std::int64_t x = -kGateTableOffset; x < kGateTableOffset; ++x) {
    std::int64_t at = shift >= 0 ? 3 * x * (std::int64_t{1} << shift) : (3 * x + (std::int64_t{1} << (-shift - 1))) >> -shift;
    std::int64_t y = interpolated(k, std::abs(at), 8, std::int64_t{0xffff} << 8);
    y = at >= 0 ? y - (1 << 23) + (1 << 7) : -y + (1 << 23) + (1 << 7) - 1;
    out.push_back(static_cast<std::int32_t>(y >> 8));
  }
  return out;
}

}  // namespace buda::tflite_frontend
