// SPDX-License-Identifier: Apache-2.0
// What kernels of all families are made of: constants as C++ writes them, and how numbers of each format are unpacked, computed with and
// packed.
#pragma once

#include <buda/kernels/text/kernel.hpp>

#include <buda/numerics/pack.hpp>
#include <buda/numerics/registers.hpp>
#include <buda/sfpu/functions.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace buda::kernels {

using Choice = std::variant<Kernel, NoKernel>;

// How a number from L1 arrives (Operand in share/kernels/formats.h).
struct Operand {
  DataFormat stored = DataFormat::invalid, unpacked = DataFormat::invalid;
  bool to_dest = false;
  bool turned = false;
};

Constant flag(std::string name, bool value);
Constant number(std::string name, std::uint32_t value);
Constant enumerator(const std::string& type, std::string name, std::string_view value);
Constant operand(std::string name, const Operand& o);
// The same, turned if input `input` of the op is transposed on its way and the unpacker can do it (turned_inputs.hpp).
Operand as_it_comes(const netlist::Op& op, std::size_t input, Operand o);
Constant packed(std::string name, numerics::Dest dest, DataFormat out);
// `out`, `relu_mode`, `relu_threshold`, `adds`, `as_rows`.
void add_output(const netlist::Op& op, numerics::Dest dest, std::vector<Constant>& to);

// Into a source register, for the matrix unit.
Operand as_factor(DataFormat format);
// Copies into the destination register: the name in share/kernels/matrix.h, and the operand.
struct CopyWay {
  std::string_view name;
  Operand operand;
};
CopyWay copy_way(DataFormat format, numerics::Dest dest);

// The format of L1 in which a destination register's numbers lose nothing.
DataFormat own_format(numerics::Dest dest);
// A format that unpackers and packers know, an integer one of these, and a format with exponents of 5 bits.
bool is_known(DataFormat f);
bool is_known_integer(DataFormat f);
bool is_narrow(DataFormat f);
std::uint32_t phase_bits(netlist::MathFidelity fidelity);

NoKernel missing(std::string reason);
// Why the matrix unit cannot take operands of these formats.
std::optional<NoKernel> cannot_meet(DataFormat a, DataFormat b);

// What the vector unit computes; of dropout with the hardware's random numbers.
std::optional<sfpu::FunctionCall> function_of(const netlist::Op& op);
// A program for the vector unit, and, if `rounds`, what rounds its result on the way into a destination of 16 bits; without a function
// none.
std::variant<Constant, NoKernel> program(const std::optional<sfpu::FunctionCall>& function, numerics::Dest dest, netlist::VectorMode mode,
                                         bool rounds = true);
// The same of a function that is compiled already; `name` is for messages.
std::variant<Constant, NoKernel> program(const sfpu::Program& function, std::string_view name, numerics::Dest dest,
                                         netlist::VectorMode mode, bool rounds = true);
// What makes integers of numbers of 32 bits, integers or not; of steps, too, that take two.
std::variant<Constant, NoKernel> integer_program(const sfpu::FunctionCall& function);
// What quantization, its relatives and products that are quantized compute with a number and its scale.
std::variant<Constant, NoKernel> rescaling(const netlist::Op& op);

// The kernel of an op of family `steps`: fused ops, and those that take their tiles in an order of their own.
Choice steps_kernel(const netlist::Op& op, const netlist::FusedOp* fused);

}  // namespace buda::kernels
