// SPDX-License-Identifier: Apache-2.0
// The fields of registers' words.
#pragma once

#include <buda/numerics/registers.hpp>

#include <cstdint>

#pragma GCC visibility push(default)

namespace buda::numerics {

// Between the biases of exponents of 8 and of 5 bits.
inline constexpr int kRebias = 127 - 15;

constexpr std::uint32_t sign_of(std::uint32_t word) { return word & kSignBit; }
constexpr bool is_negative(std::uint32_t word) { return sign_of(word) != 0; }
constexpr std::uint32_t magnitude_of(std::uint32_t word) { return word & ~kSignBit; }
constexpr int exponent_of(std::uint32_t word) { return static_cast<int>(word >> 23 & 255); }
constexpr bool is_zero(std::uint32_t word) { return exponent_of(word) == 0; }  // a denormal is one
constexpr std::uint32_t at_exponent(int exponent) { return static_cast<std::uint32_t>(exponent) << 23; }

constexpr std::uint32_t word_of_fp16(std::uint32_t half) { return ((half & 0x8000u) << 16) | ((half & 0x7fffu) << 13); }
constexpr std::uint32_t fp16_of_word(std::uint32_t word) { return (word >> 16 & 0x8000u) | (word >> 13 & 0x7fffu); }

// 24, 8 or 11.
constexpr int significant_bits(Dest dest) { return dest == Dest::fp32 ? 24 : dest == Dest::bf16 ? 8 : 11; }

// A word of 8-bit exponents as one of 5-bit exponents: saturates, and cuts to 10 fraction bits. The exponent 0 that comes out of 2^-15
// keeps its fraction.
constexpr std::uint32_t narrowed(std::uint32_t word) {
  const int exponent = exponent_of(word) - kRebias;
  if (exponent < 0) return sign_of(word);
  if (exponent > 31) return sign_of(word) | kLargestFp16;
  return sign_of(word) | at_exponent(exponent) | (word & 0x7fe000u);
}
// The way back; what has no exponent becomes +0.
constexpr std::uint32_t widened(std::uint32_t word) { return is_zero(word) ? 0 : word + at_exponent(kRebias); }

}  // namespace buda::numerics

#pragma GCC visibility pop
