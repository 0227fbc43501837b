// SPDX-License-Identifier: Apache-2.0
// Decoding and rounding of 8-bit floats.
#include <buda/tensor/formats/float8.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace buda {
namespace {

struct Layout {
  std::string_view name;
  int mantissa_bits;
  int bias;
  double largest;
  bool has_infinity;
  bool unsigned_zero;
};

constexpr std::array<Layout, 4> kLayouts{{
    {"E4M3FN", 3, 7, 448, false, false},
    {"E4M3FNUZ", 3, 8, 240, false, true},
    {"E5M2", 2, 15, 57344, true, false},
    {"E5M2FNUZ", 2, 16, 57344, false, true},
}};

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

const Layout& layout(Float8 format) { return kLayouts[static_cast<std::size_t>(format)]; }

}  // namespace

std::string_view float8_name(Float8 format) { return layout(format).name; }

std::optional<Float8> float8_by_name(std::string_view name) {
  for (std::size_t i = 0; i < kLayouts.size(); ++i)
    if (kLayouts[i].name == name) return static_cast<Float8>(i);
  return std::nullopt;
}

float float8_to_float(Float8 format, std::uint8_t bits) {
  const Layout& f = layout(format);
  int exponent = (bits & 0x7f) >> f.mantissa_bits, mantissa = bits & ((1 << f.mantissa_bits) - 1);
  bool is_negative = (bits & 0x80) != 0;
  if (f.unsigned_zero && bits == 0x80) return static_cast<float>(kNaN);
  if (format == Float8::e4m3fn && (bits & 0x7f) == 0x7f) return static_cast<float>(kNaN);
  double magnitude;
  if (f.has_infinity && exponent == 31)
    magnitude = mantissa == 0 ? std::numeric_limits<double>::infinity() : kNaN;
  else if (exponent == 0)
    magnitude = std::ldexp(mantissa, 1 - f.bias - f.mantissa_bits);
  else
    magnitude = std::ldexp((1 << f.mantissa_bits) + mantissa, exponent - f.bias - f.mantissa_bits);
  return static_cast<float>(is_negative ? -magnitude : magnitude);
}

double float8_rounded(Float8 format, double x, bool saturate) {
  const Layout& f = layout(format);
  if (std::isnan(x) || (std::isinf(x) && f.unsigned_zero)) return kNaN;
  double rounded = x;
  if (std::isfinite(x) && x != 0) {
    // Below the smallest normal number the steps stay the same.
    double step = std::ldexp(1.0, std::max(std::ilogb(x), 1 - f.bias) - f.mantissa_bits);
    rounded = std::nearbyint(x / step) * step;
  }
  if (f.unsigned_zero && rounded == 0) return 0;
  if (std::abs(rounded) <= f.largest) return rounded;
  if (saturate) return std::copysign(f.largest, rounded);
  return f.has_infinity ? std::copysign(std::numeric_limits<double>::infinity(), rounded) : kNaN;
}

}  // namespace buda
