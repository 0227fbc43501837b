// SPDX-License-Identifier: Apache-2.0
// The matrix unit (FPU) of a Tensix core, one number at a time: the definition that the vectorised kernels (kernels.hpp) have to meet bit
// by bit.
//
// Products. The multipliers take 5 bits of SrcA's significand and 7 of SrcB's. Phase p of a product takes of A the hidden bit and 4 more
// bits (bit 0 of p clear) or the next 5 (set; the last of a significand's 11 bits is never used), and of B the hidden bit and 6 more (bit 1
// clear) or the last 4 (set). A phase is a pass of its own over the operands, with a rounding of its own into the destination register.
//
// Sums. MVMUL adds 16 products to each number of the destination: two groups of 8. In a group every product of 12 bits is shifted to the
// largest exponent of the group, rounded half up in magnitude, and added. Both sums and the number of the destination are then shifted to
// the largest of their exponents (sums: halves towards plus infinity; the destination: half up in magnitude), and, where the destination
// has 16 bits, rounded once more, to 13 bits less. Their sum is normalised and rounded half up in magnitude. Results below the smallest
// normal number are +0, and so is an exact zero; those above the largest are the largest (registers.hpp).
#pragma once

#include <buda/numerics/fields.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

#pragma GCC visibility push(default)

namespace buda::numerics {

inline constexpr std::size_t kGroup = 8;   // products that are aligned to each other
inline constexpr std::size_t kInner = 16;  // products of one MVMUL

// What a product needs to know besides its operands. `phase` is 0 to 3.
struct Multiplication {
  Source source = Source::bf16;
  Dest dest = Dest::bf16;
  unsigned phase = 0;
};

// What is added to the exponents of two operands to give that of their product, in the exponents of the destination.
constexpr int exponent_adjustment(Multiplication m) {
  const int bias = m.source != Source::fp16 ? -127 : m.dest == Dest::fp32 ? 127 - 2 * 15 : -15;
  return bias - ((m.phase & 1) != 0 ? 5 : 0) - ((m.phase & 2) != 0 ? 7 : 0);
}
// The exponent of a product with a zero, with which it takes part in the alignment.
constexpr int zero_exponent(Multiplication m) { return exponent_adjustment(m) > 0 ? exponent_adjustment(m) : 0; }

// `slice` of a source word's significand with its hidden bit, that a phase takes: 5 bits of A, 7 of B. The word must not be a zero.
constexpr std::uint32_t slice_a(std::uint32_t word, unsigned phase) { return (phase & 1) != 0 ? word >> 14 & 31 : 16 | (word >> 19 & 15); }
constexpr std::uint32_t slice_b(std::uint32_t word, unsigned phase) {
  return (phase & 2) != 0 ? (word >> 13 & 15) << 3 : 64 | (word >> 17 & 63);
}

// Something that is added to a number of the destination register: units * 2^(exponent - 13) of it, in its exponents.
struct Term {
  int exponent = 0;
  std::int32_t units = 0;
};

// The end of every operation of the matrix unit.
std::uint32_t accumulate(Dest dest, Term first, Term second, std::uint32_t number);

// dest + sum of a[i] * b[i], of one phase.
std::uint32_t mvmul(Multiplication m, std::span<const std::uint32_t, kInner> a, std::span<const std::uint32_t, kInner> b,
                    std::uint32_t dest);
// dest + a * b, of one phase.
std::uint32_t elwmul(Multiplication m, std::uint32_t a, std::uint32_t b, std::uint32_t dest);
// a + b, or dest + (a + b): `dest` is what to add to, 0 for nothing. Subtracting is adding with the sign bit of b inverted.
std::uint32_t elwadd(Source source, Dest form, std::uint32_t a, std::uint32_t b, std::uint32_t dest);

// The larger of a number of the destination and one of a source register, in the order of sign and magnitude (GMPOOL).
std::uint32_t pool_max(std::uint32_t dest, std::uint32_t a);

// What a move from a source register makes of a number in the destination (MOVA2D): zeros and denormals become +0.
constexpr std::uint32_t move_to_dest(std::uint32_t word) { return (word & 0x7f800000u) == 0 ? 0 : word; }

}  // namespace buda::numerics

#pragma GCC visibility pop
