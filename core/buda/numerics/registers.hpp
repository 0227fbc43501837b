// SPDX-License-Identifier: Apache-2.0
// The numbers in the registers of a Tensix core, as words.
//
// Every number is kept in one 32-bit word, whose fields stand where IEEE single precision has them, whatever the order of bits in the
// hardware's own registers:
//
//   source registers (SrcA, SrcB: 19 bits)   sign 31, exponent 30..23, fraction 22..13; a bf16 has zeros in 15..13
//   destination register, 32 bits            sign 31, exponent 30..23, fraction 22..0
//   destination register, 16 bits            bf16: the upper half of such a word; fp16: sign 31, exponent 27..23, fraction 22..13
//
// The exponent of an fp16 has 5 bits with bias 15, and stands in the low bits of the exponent's field. The matrix unit has neither
// infinities nor NaN nor denormals: the largest exponent is an ordinary one, and exponent 0 means zero.
//
// Sources of this module: Tenstorrent's documentation of the instruction set (tt-isa-documentation, WormholeB0, pages of the Tensix
// coprocessor: FormatConversion, FloatBitPatterns, MVMUL, ELWADD, GMPOOL, SFPMAD) for formats and what is rounded where, and measurements
// of ttsim, Tenstorrent's functional simulator, for the order and the widths of sums, which the documentation leaves open.
#pragma once

#include <cstdint>

#pragma GCC visibility push(default)

namespace buda::numerics {

// What a source register holds: numbers of 8, 11 or 11 significant bits, with exponents of 8, 8 or 5 bits.
enum class Source : std::uint8_t { bf16, tf32, fp16 };
// What a destination register holds: numbers of 8, 11 or 24 significant bits, with exponents of 8, 5 or 8 bits.
enum class Dest : std::uint8_t { bf16, fp16, fp32 };

// The words with a sign alone, and the largest number of a destination register, which results that are too large become: without a sign
// bit.
inline constexpr std::uint32_t kSignBit = 0x80000000u;
inline constexpr std::uint32_t kLargestWide = 0x7f800000u;  // exponents of 8 bits: an IEEE infinity
inline constexpr std::uint32_t kLargestFp16 = 31u << 23 | 0x3ffu << 13;

}  // namespace buda::numerics

#pragma GCC visibility pop
