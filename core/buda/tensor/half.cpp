// SPDX-License-Identifier: Apache-2.0
// Conversions between the 16-bit floating-point types and the wider ones.
#include <buda/tensor/half.hpp>

#include <cmath>

namespace buda {

Half half_from_double(double value) {
  constexpr int kDropped = 52 - 10;  // fraction bits that a binary16 has not
  auto bits = std::bit_cast<std::uint64_t>(value);
  auto sign = static_cast<std::uint16_t>(bits >> 48 & 0x8000u);
  std::uint64_t magnitude = bits & 0x7fffffffffffffffULL;
  int exponent = static_cast<int>(magnitude >> 52) - 1023;
  std::uint64_t fraction = magnitude & 0xfffffffffffffULL;
  if (exponent == 1024 && fraction != 0) return {static_cast<std::uint16_t>(sign | 0x7e00u | fraction >> kDropped)};
  if (exponent > 15) return {static_cast<std::uint16_t>(sign | 0x7c00u)};
  if (exponent < -25) return {sign};
  // Below the smallest normal exponent the step stays the same, so more bits go.
  bool denormal = exponent < -14;
  int drop = denormal ? kDropped - 14 - exponent : kDropped;
  std::uint64_t significand = fraction | 1ULL << 52;
  std::uint64_t kept = significand >> drop;
  std::uint64_t rest = significand & ((1ULL << drop) - 1);
  std::uint64_t half = 1ULL << (drop - 1);
  if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  // A carry out of the fraction moves into the exponent, as it should; from the largest value it makes infinity.
  std::uint64_t base = denormal ? 0 : static_cast<std::uint64_t>(exponent + 14) << 10;
  return {static_cast<std::uint16_t>(sign | (base + kept))};
}

Half half_from_float(float value) { return half_from_double(static_cast<double>(value)); }

BFloat16 bfloat16_from_double(double value) {
  // Rounding twice to nearest can go wrong; rounding to odd first (toward zero, with the last bit telling that something was lost)
  // cannot, as long as the first step keeps two bits more than the second.
  auto narrow = static_cast<float>(value);
  if (std::isnan(value)) return bfloat16_from_float(narrow);
  auto bits = std::bit_cast<std::uint32_t>(narrow);
  if (std::fabs(static_cast<double>(narrow)) > std::fabs(value)) --bits;
  if (static_cast<double>(std::bit_cast<float>(bits)) != value) bits |= 1u;
  return bfloat16_from_float(std::bit_cast<float>(bits));
}

float to_float(Half value) {
  std::uint32_t sign = static_cast<std::uint32_t>(value.bits & 0x8000u) << 16;
  std::uint32_t exponent = value.bits >> 10 & 31u;
  std::uint32_t fraction = value.bits & 0x3ffu;
  if (exponent == 0) {
    float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
  }
  std::uint32_t wide = exponent == 31 ? 255u : exponent + (127 - 15);
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

}  // namespace buda
