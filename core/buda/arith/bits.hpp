// SPDX-License-Identifier: Apache-2.0
// Mode::bits: ops on floating-point numbers with the arithmetic of a Tensix core (module numerics), bit by bit.
//
// What the hardware leaves open, kernels decide; here is what they do (docs/internals/numerics.md). The destination register has 32 bits
// where acc_df is Float32, otherwise 16 with exponents as wide as the operands'. A Float32 goes through source registers as Tf32, and in
// copies into a destination of 16 bits as the 16-bit format; into one of 32 bits it is copied whole. Both operands of the matrix unit need
// exponents of one width.
#pragma once

#include <buda/arith/op.hpp>

#include <buda/numerics/matmul.hpp>
#include <buda/numerics/pack.hpp>
#include <buda/sfpu/functions.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace buda::arith::bits {

using Words = std::vector<std::uint32_t>;

// Numbers of a destination register.
struct DestNumbers {
  numerics::Dest form = numerics::Dest::bf16;
  Words words;
  bool integer = false;  // sign and magnitude, in 32 bits
};

// Of an op whose operands have this format.
numerics::Dest dest_form(const netlist::Op& op, DataFormat operand);

// Why operands 0 and 1 cannot meet in the matrix unit: a sentence without a full stop.
std::optional<std::string> cannot_meet(const OpCall& call);

// A value in source registers, and copied into the destination register.
Words source_words(const OpCall& call, const Value& value);
DestNumbers copied(const OpCall& call, DataFormat format, std::span<const float> numbers);
DestNumbers copied(std::span<const std::int32_t> numbers);

// Applies a function of the vector unit; `second` has as many words, or none. numbers.words.size() must be a multiple of 16.
void apply(const OpCall& call, DestNumbers& numbers, const buda::sfpu::FunctionCall& function, const Words& second = {});
void apply(const OpCall& call, DestNumbers& numbers, const buda::sfpu::Program& function, const Words& second = {});
// The function of an op of the unary class: nothing for a copy. Of dropout, what it does with numbers that it keeps.
std::optional<buda::sfpu::FunctionCall> vector_function(const netlist::Op& op);

// The function of quantization and its relatives, and of products that are quantized; `makes_integers` if its results are.
struct Rescaling {
  buda::sfpu::FunctionCall function;
  bool makes_integers = false;
};
Rescaling rescaling_of(const netlist::Op& op);

// What is in L1 after packing into `format`.
std::vector<float> packed(const OpCall& call, const DestNumbers& numbers, DataFormat format);
// Packed into `format` and copied back: what waits in an intermediate buffer. Nothing where that changes nothing.
void spill(const OpCall& call, DestNumbers& numbers, DataFormat format);

// numbers[i] += row 0 of the tile of `bias`, after a spill.
void add_bias(const OpCall& call, const Value& bias, DestNumbers& numbers);

// The end of every op, as arith::finish.
Value finish(const OpCall& call, const DestNumbers& numbers);

// The ops. What check() approved, with floating-point operands.
Outcome binary(const OpCall& call);
Outcome matmul(const OpCall& call);
Outcome sparse_matmul(const OpCall& call);
Outcome depthwise(const OpCall& call);
// An op of one operand, with another function than its own.
Value unary_with(const OpCall& call, const buda::sfpu::Program& function);

// Of a product of operands 0 and 1; phases in the order of execution.
numerics::Product product(const OpCall& call);
std::span<const unsigned> phases_of(netlist::MathFidelity fidelity);

}  // namespace buda::arith::bits
