// SPDX-License-Identifier: Apache-2.0
// The two 16-bit floating-point types of the host, which C++20 lacks: storage and exact conversions.
#pragma once

#include <bit>
#include <cstdint>

#pragma GCC visibility push(default)

namespace buda {

// IEEE 754 binary16: 1 sign, 5 exponent, 10 fraction bits, with infinities, NaN and denormals. Not the device's Float16, which has none
// of these three.
struct Half {
  std::uint16_t bits = 0;
  friend constexpr bool operator==(Half, Half) = default;  // of bits
};

// The upper half of a binary32.
struct BFloat16 {
  std::uint16_t bits = 0;
  friend constexpr bool operator==(BFloat16, BFloat16) = default;  // of bits
};

// Rounding is to nearest, ties to even; too large becomes infinity; a NaN stays one (quiet, upper payload bits kept).
Half half_from_float(float value);
Half half_from_double(double value);
BFloat16 bfloat16_from_double(double value);

// Exact.
float to_float(Half value);

inline float to_float(BFloat16 value) { return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16); }

inline BFloat16 bfloat16_from_float(float value) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
  std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return {static_cast<std::uint16_t>(nan ? bits >> 16 | 0x40u : rounded)};
}

}  // namespace buda

#pragma GCC visibility pop
