// SPDX-License-Identifier: Apache-2.0
// Where a device loses bits between its buffers: on the way into the math unit, in the destination register, and on the way out.
//
// A buffer in L1 or DRAM holds numbers of its format; what they become there is tensor's quantize_to_format. In between come the roundings
// and the operand bits of tensor/math_unit.hpp (specs of the Tensix core, chapter numerics): here is said when a netlist asks for which.
//
// What mode exact simplifies against the hardware, and stays within the error bound of the formats: sums of products are added in float32
// with one rounding to the destination's width per tile of the inner dimension (the hardware rounds for every 16 products and phase); SFPU
// functions are exact before they are rounded (the hardware has polynomials).
#pragma once

#include <buda/arith/value.hpp>

#include <buda/netlist/model/op_types.hpp>
#include <buda/tensor/formats/math_unit.hpp>

#include <cstdint>
#include <span>

#pragma GCC visibility push(default)

namespace buda::arith {

// exact: formats at every boundary. bits: ops on floating-point numbers as a Tensix core computes them, bit by bit (module numerics); all
// else as exact. fp32: float formats are ignored, everything is float32; integer formats keep their meaning.
enum class Mode : std::uint8_t { exact, bits, fp32 };

// Of a destination register in format `acc`; where a netlist leaves it open, the 16-bit format of the output's exponent family.
DestRounding dest_rounding(Mode mode, DataFormat acc, DataFormat out);

// Numbers as they leave the destination register for a buffer of format `out`; rows of `cols` numbers.
void pack(Mode mode, DestRounding dest, DataFormat out, std::span<float> numbers, std::size_t cols);

// Numbers as they come from outside into a buffer of format `out`: what the host's software packer makes of them.
void store(Mode mode, DataFormat out, std::span<float> numbers, std::size_t cols);

// The bits of each operand of a matmul, in0 * in1, that a fidelity takes.
ProductBits phases(Mode mode, netlist::MathFidelity fidelity, DataFormat in0);

// Fraction bits that a number of this format can have, hidden bit not included.
int fraction_bits(DataFormat format);

}  // namespace buda::arith

#pragma GCC visibility pop
