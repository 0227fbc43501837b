// SPDX-License-Identifier: Apache-2.0
// Integers in the registers of a Tensix core.
//
// Everywhere they are sign and magnitude. A source register holds an Int8 as it holds a Float16: the magnitude where the fraction is (bits
// 22 to 13), and an exponent of 16, which is 0 with a magnitude of 0. A destination register holds 31 bits of magnitude, in 32 bits.
// Products have phases, as those of floats: SrcA's magnitude is taken in its low 5 bits (phases 1 and 3) and the next 3, SrcB's in its low
// 4 (phases 2 and 3) and the next 6. Sums saturate. Source: tt-isa-documentation, WormholeB0: SrcASrcB, MVMUL, ELWMUL, ELWADD,
// UNPACR_Regular, Packers/FormatConversion, Packers/ReLU.
#pragma once

#include <buda/numerics/registers.hpp>

#include <algorithm>
#include <cstdint>

#pragma GCC visibility push(default)

namespace buda::numerics {

inline constexpr std::int32_t kLargestInteger = 0x7fffffff;

// -2^31, which there is not, becomes the next.
constexpr std::uint32_t sign_and_magnitude(std::int32_t value) {
  const std::int32_t held = std::max(value, -kLargestInteger);
  return held < 0 ? kSignBit | static_cast<std::uint32_t>(-held) : static_cast<std::uint32_t>(held);
}
constexpr std::int32_t value_of_integer(std::uint32_t word) {
  const auto magnitude = static_cast<std::int32_t>(word & ~kSignBit);
  return (word & kSignBit) != 0 ? -magnitude : magnitude;
}

// An Int8 of L1 in a source register.
constexpr std::uint32_t source_of_int8(std::uint32_t datum) {
  const std::uint32_t magnitude = datum & 127;
  return (datum & 128) << 24 | (magnitude == 0 ? 0 : 16u << 23) | magnitude << 13;
}
// 16 bits of L1 in a register whose numbers have 16, and back: they are carried, not computed with.
constexpr std::uint32_t word_of_int16(std::uint32_t datum) {
  return (datum & 0x8000) << 16 | (datum & 255) << 23 | (datum >> 8 & 127) << 16;
}
constexpr std::uint32_t int16_of_word(std::uint32_t word) { return (word & kSignBit) >> 16 | (word >> 16 & 127) << 8 | (word >> 23 & 255); }

// What of a source register's integer takes part: in sums all of it, in products some bits.
constexpr std::int32_t integer_part(std::uint32_t word, std::uint32_t bits) {
  const auto magnitude = static_cast<std::int32_t>(word >> 13 & bits);
  return (word & 0x7f800000u) == 0 ? 0 : (word & kSignBit) != 0 ? -magnitude : magnitude;
}
constexpr std::uint32_t source_of_integer(std::int32_t value) {
  return source_of_int8(value < 0 ? 128u | static_cast<std::uint32_t>(-value) : static_cast<std::uint32_t>(value));
}
constexpr std::int32_t integer_term(std::uint32_t word) { return integer_part(word, 1023); }
constexpr std::int32_t integer_factor_a(std::uint32_t word, unsigned phase) { return integer_part(word, (phase & 1) != 0 ? 31 : 224); }
constexpr std::int32_t integer_factor_b(std::uint32_t word, unsigned phase) { return integer_part(word, (phase & 2) != 0 ? 15 : 1008); }

// The sum of a number of the destination and `value`.
constexpr std::uint32_t integer_sum(std::uint32_t dest, std::int32_t value) {
  const std::int64_t sum = std::int64_t{value_of_integer(dest)} + value;
  return sign_and_magnitude(static_cast<std::int32_t>(std::clamp<std::int64_t>(sum, -kLargestInteger, kLargestInteger)));
}

// A datum of Int32 or, with `bytes`, Int8, as the packers make it: saturated, and with `relu` without negative numbers.
constexpr std::uint32_t packed_integer(std::uint32_t dest, bool bytes, bool relu) {
  if (relu && (dest & kSignBit) != 0) return 0;
  return bytes ? (dest & kSignBit) >> 24 | std::min(dest & ~kSignBit, 127u) : dest;
}

}  // namespace buda::numerics

#pragma GCC visibility pop
