// SPDX-License-Identifier: Apache-2.0
// Where a device loses bits between its buffers: on the way into the math unit and in the destination register.
//
// What numbers become in a buffer is quantize.hpp's. In between:
//
//   unpacking    source registers have 19 bits: sign, exponent, 10 fraction bits. A Float32 loses its 13 low bits on the way through them
//                (matmul, binary, reduce); what goes straight to the destination register (copies, functions of the vector unit) does not
//   multiplying  the multipliers see 5 bits of operand A and 7 of operand B at a time, hidden bits included: LoFi takes the high bits of
//                both, HiFi2 also the low ones of A, HiFi3 also the low ones of B with the high ones of A, HiFi4 all
//   accumulating the destination register is as wide as the accumulate format; half a unit rounds away from zero
#pragma once

#include <buda/tensor/data_format.hpp>
#include <buda/tensor/formats/dest_rounding.hpp>

#include <bit>
#include <cstdint>
#include <span>

#pragma GCC visibility push(default)

namespace buda {

// Of a destination register in this format; `invalid`: in the 16-bit format with the output's exponents.
DestRounding dest_rounding(DataFormat accumulate, DataFormat output);
void round_in_dest(DestRounding rounding, std::span<float> numbers);

// From the destination register into a buffer of format `out`: rows of `cols` numbers. Integer formats: integers.
void pack_from_dest(DestRounding rounding, DataFormat out, std::span<float> numbers, std::size_t cols);

// The bits of a float that the multiplier sees of an operand: in its first phase, and in all together.
struct OperandBits {
  std::uint32_t high;
  std::uint32_t full;
};
inline constexpr OperandBits kMultiplierA = {~((1u << 19) - 1), ~((1u << 14) - 1)};
inline constexpr OperandBits kMultiplierB = {~((1u << 17) - 1), ~((1u << 13) - 1)};
// And those that a source register keeps of a Float32.
inline constexpr std::uint32_t kSourceRegisterBits = ~((1u << 13) - 1);

// What the phases of a fidelity bring together of two operands, of which the multiplier takes the left one as B: left * right, and for
// HiFi3 the low bits of the left one with the high ones of the right one too.
struct ProductBits {
  std::uint32_t left = ~0u, right = ~0u;
  bool low_left = false;
};
inline constexpr ProductBits kLoFiProduct = {kMultiplierB.high, kMultiplierA.high, false};
inline constexpr ProductBits kHiFi2Product = {kMultiplierB.high, kMultiplierA.full, false};
inline constexpr ProductBits kHiFi2BProduct = {kMultiplierB.full, kMultiplierA.high, false};
inline constexpr ProductBits kHiFi3Product = {kMultiplierB.high, kMultiplierA.full, true};
inline constexpr ProductBits kHiFi4Product = {kMultiplierB.full, kMultiplierA.full, false};

inline float masked_bits(float v, std::uint32_t mask) { return std::bit_cast<float>(std::bit_cast<std::uint32_t>(v) & mask); }

}  // namespace buda

#pragma GCC visibility pop
