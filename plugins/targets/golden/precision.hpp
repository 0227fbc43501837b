// Where a device loses bits between its buffers: on the way into the math unit, in the destination register, and on the way out.
//
// A buffer in L1 or DRAM holds numbers of its format; what they become there is tensor's quantize_to_format. In between
// (specs of the Tensix core, chapter numerics):
//
//   unpacking   numbers arrive in source registers of 19 bits: sign, exponent, 10 fraction bits. Float32 loses its 13 low bits when it goes
//               through them (matmul, binary, reduce); data that goes straight to the destination register (copies, SFPU) does not.
//   multiplying the multipliers see 5 bits of operand A and 7 of operand B, hidden bits included, in up to four phases. Phase 0 takes the
//               high bits of both, 1 the next 5 bits of A, 2 the remaining 4 bits of B, 3 both low parts. LoFi is phase 0, HiFi2 0 and 1,
//               HiFi2_B 0 and 2, HiFi3 0 to 2, HiFi4 all. The lowest of A's fraction bits is never used.
//   accumulating the destination register has the width of acc_df: 8 or 11 significant bits, or 24. Rounding is half away from zero.
//   packing     from 32 bits to Float16_b half away from zero; to other formats as quantize_to_format says.
//
// What is simplified against the hardware, and stays within the error bound of the formats: sums of products are added in float32 with one
// rounding to the destination's width per tile of the inner dimension (the hardware rounds for every 16 products and phase); SFPU functions
// are exact before they are rounded (the hardware has polynomials).
#pragma once

#include "rounding.hpp"
#include "value.hpp"

#include <buda/netlist/op_types.hpp>

#include <bit>
#include <cstdint>
#include <span>

namespace buda::golden {

// exact: formats at every boundary. fp32: float formats are ignored, everything is float32; integer formats keep their meaning.
enum class Mode : std::uint8_t { exact, fp32 };

// Of a destination register in format `acc`; where a netlist leaves it open, the 16-bit format of the output's exponent family.
Rounding dest_rounding(Mode mode, DataFormat acc, DataFormat out);

void round_to(Rounding rounding, std::span<float> numbers);

// Numbers as they leave the destination register for a buffer of format `out`; rows of `cols` numbers.
void pack(Mode mode, Rounding dest, DataFormat out, std::span<float> numbers, std::size_t cols);

// Numbers as they come from outside into a buffer of format `out`: what the host's software packer makes of them.
void store(Mode mode, DataFormat out, std::span<float> numbers, std::size_t cols);

// Whether the multiplier sees less than all of the numbers; if so the masks that leave the wanted bits of a float.
struct OperandBits {
  std::uint32_t high = 0xffffffffu;  // what phase 0 sees
  std::uint32_t full = 0xffffffffu;  // what all phases together see
};
inline constexpr OperandBits kOperandA = {~((1u << 19) - 1), ~((1u << 14) - 1)};
inline constexpr OperandBits kOperandB = {~((1u << 17) - 1), ~((1u << 13) - 1)};
// Fraction bits of what a source register keeps of a Float32.
inline constexpr std::uint32_t kSourceBits = ~((1u << 13) - 1);

// The bits of each operand of a matmul that the phases of a fidelity bring together: left * right, and for HiFi3 the low bits of in0 with
// the high ones of in1 too. in0 is the multiplier's operand B, in1 its operand A.
struct Phases {
  std::uint32_t left = ~0u, right = ~0u;
  bool low_left = false;
};
Phases phases(Mode mode, netlist::MathFidelity fidelity, DataFormat in0);

// Fraction bits that a number of this format can have, hidden bit not included.
int fraction_bits(DataFormat format);

inline float masked(float v, std::uint32_t mask) { return std::bit_cast<float>(std::bit_cast<std::uint32_t>(v) & mask); }

}  // namespace buda::golden
