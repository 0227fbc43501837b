// SPDX-License-Identifier: Apache-2.0
// The device formats once more, written for clarity: exact arithmetic in double, one number at a time.
#pragma once

#include <buda/base/rng.hpp>
#include <buda/tensor/data_format.hpp>
#include <buda/tensor/formats/quantize.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace buda::reference {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// |v| with its significand cut after `bits` bits, the leading one included.
inline double cut(double v, int bits) {
  if (v == 0 || !std::isfinite(v)) return v;
  double unit = std::ldexp(1.0, std::ilogb(v) - (bits - 1));
  return std::trunc(v / unit) * unit;
}

inline double half_up(double v) { return std::floor(v + 0.5); }

// Floats of 5 exponent bits without special values: `bits` of significand, the leading one included.
inline double small_float(double v, int bits) {
  double largest = std::ldexp(2.0 - std::ldexp(1.0, 1 - bits), 16);
  if (std::isnan(v)) return largest;
  double magnitude = std::fabs(v) < 0x1p-14 ? 0.0 : std::min(cut(std::fabs(v), bits), largest);
  return std::copysign(magnitude, v);
}

inline double clamp_to(double v, double low, double high) { return std::isnan(v) ? 0.0 : std::min(std::max(v, low), high); }

// What a lone float becomes. Not for Bfp, and not for denormals of Tf32.
inline double value(DataFormat f, float x) {
  double v = static_cast<double>(x);
  double sign = std::signbit(v) ? -1 : 1;
  switch (f) {
    case DataFormat::float32:
      return v;
    case DataFormat::tf32:
      return std::copysign(cut(std::fabs(v), 11), v);
    case DataFormat::float16_b:
      return std::copysign(cut(std::fabs(v), 8), v);
    case DataFormat::float16:
      return small_float(std::isnan(v) ? std::copysign(kInfinity, v) : v, 11);
    case DataFormat::lf8:
    case DataFormat::fp8_e4m3:
      return small_float(std::isnan(v) ? std::copysign(kInfinity, v) : v, 3);
    case DataFormat::int8:
      return sign * clamp_to(half_up(std::fabs(v)), 0, 127);
    case DataFormat::int32:
      return sign * clamp_to(sign > 0 ? std::floor(v) : half_up(-v), 0, 2147483647.0);
    case DataFormat::uint8:
    case DataFormat::raw_uint8:
      return clamp_to(half_up(v), 0, 255);
    case DataFormat::uint16:
    case DataFormat::raw_uint16:
      return clamp_to(half_up(v), 0, 65535);
    case DataFormat::raw_uint32:
      return clamp_to(half_up(v), 0, 4294967295.0);
    default:
      return std::nan("");
  }
}

// The bits of such a value.
inline std::uint32_t datum(DataFormat f, double v) {
  std::uint32_t sign = std::signbit(v) ? 1 : 0;
  double magnitude = std::fabs(v);
  auto small = [&](int fraction_bits) {
    if (magnitude == 0) return 0u;
    int exponent = std::ilogb(magnitude);
    auto fraction = static_cast<std::uint32_t>(std::ldexp(magnitude, fraction_bits - exponent)) - (1u << fraction_bits);
    return static_cast<std::uint32_t>(exponent + 15) << fraction_bits | fraction;
  };
  switch (f) {
    case DataFormat::float32:
    case DataFormat::tf32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(v));
    case DataFormat::float16_b:
      return std::bit_cast<std::uint32_t>(static_cast<float>(v)) >> 16;
    case DataFormat::float16:
      return sign << 15 | small(10);
    case DataFormat::lf8:
    case DataFormat::fp8_e4m3:
      return sign << 7 | small(2);
    case DataFormat::int8:
      return (magnitude == 0 ? 0 : sign << 7) | static_cast<std::uint32_t>(magnitude);
    case DataFormat::int32:
      return (magnitude == 0 ? 0 : sign << 31) | static_cast<std::uint32_t>(magnitude);
    default:
      return static_cast<std::uint32_t>(magnitude);
  }
}

struct Group {
  int exponent = 0;
  std::vector<int> magnitude;
  std::vector<bool> negative;
  std::vector<double> value;
};

// Sixteen numbers (fewer stand for a rest of zeros) in a Bfp format.
inline Group group(DataFormat f, const std::vector<float>& v, BfpRounding rounding = BfpRounding::half_up) {
  int bits = bfp_magnitude_bits(f);
  bool a = exponent_family(f) == ExponentFamily::a;
  int bias = a ? 15 : 127;
  // A number counts with the exponent field of its float32: infinity and NaN as 1.fraction * 2^128, denormals as nothing.
  auto number = [](float x) {
    std::uint32_t u = std::bit_cast<std::uint32_t>(x);
    int field = static_cast<int>(u >> 23 & 255);
    return field == 0 ? 0.0 : std::ldexp(1.0 + (u & 0x7fffff) / 8388608.0, field - 127);
  };
  Group g;
  double largest = 0;
  for (float x : v) largest = std::max(largest, number(x));
  g.exponent = largest == 0 ? 0 : std::ilogb(largest) + bias;
  if (a) g.exponent = std::clamp(g.exponent, 0, 31);
  double unit = std::ldexp(1.0, g.exponent - bias - (bits - 1));
  for (float x : v) {
    double quotient = number(x) / unit;
    double m = std::min(rounding == BfpRounding::half_up ? half_up(quotient) : std::floor(quotient), std::ldexp(1.0, bits) - 1);
    g.magnitude.push_back(static_cast<int>(m));
    g.negative.push_back(m != 0 && std::signbit(x));
    g.value.push_back(g.negative.back() ? -m * unit : m * unit);
  }
  return g;
}

// Numbers that trip up conversions: ties, neighbours of ties and of limits, every exponent, special values.
inline std::vector<float> awkward_values() {
  std::vector<float> v = {0.0f, -0.0f, 0.5f, 1.5f, 2.5f, 126.5f, 127.5f, 254.5f, 255.5f, 65534.5f, 65535.5f, 0x1p23f - 0.5f};
  for (float around : {0.5f, 1.0f, 127.0f, 127.5f, 255.5f, 65504.0f, 65535.5f, 131008.0f, 131072.0f, 0x1p31f, 0x1p32f, 0x1p-14f, 0x1p-15f})
    for (float x : {around, std::nextafter(around, 0.0f), std::nextafter(around, 1e30f)}) v.push_back(x);
  for (int e = -126; e <= 127; ++e) {
    v.push_back(std::ldexp(1.0f, e));
    v.push_back(std::ldexp(1.99f, e));
  }
  for (float x : {std::numeric_limits<float>::max(), std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()})
    v.push_back(x);
  std::size_t positive = v.size();
  for (std::size_t i = 0; i < positive; ++i) v.push_back(-v[i]);
  return v;
}

// Groups whose members span `spread` powers of two below 2^top.
inline std::vector<float> random_group(Rng& rng, int top, int spread) {
  std::vector<float> v;
  for (int i = 0; i < 16; ++i) {
    double x = std::ldexp(rng.uniform(-2, 2), top - static_cast<int>(rng.below(static_cast<std::uint64_t>(spread) + 1)));
    v.push_back(static_cast<float>(x));
  }
  return v;
}

}  // namespace buda::reference
