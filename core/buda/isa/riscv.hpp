// SPDX-License-Identifier: Apache-2.0
// The instructions of a core's processors: RV32IM, and words that are pushed into the coprocessor's queue.
//
// Source: The RISC-V Instruction Set Manual, volume I (RV32I 2.1, M 2.0); for pushes, buda/isa/opcodes.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace buda::isa::riscv {

enum class Operation : std::uint8_t {
  // clang-format off
  undecoded, illegal, push,
  lui, auipc, jal, jalr,
  beq, bne, blt, bge, bltu, bgeu,
  lb, lh, lw, lbu, lhu, sb, sh, sw,
  addi, slti, sltiu, xori, ori, andi, slli, srli, srai,
  add, sub, sll, slt, sltu, xor_, srl, sra, or_, and_,
  mul, mulh, mulhsu, mulhu, div, divu, rem, remu,
  fence, ebreak,
  // clang-format on
};

// `immediate`: sign-extended and in place (lui: the upper 20 bits); of a push, the word for the coprocessor.
struct Instruction {
  Operation operation = Operation::undecoded;
  std::uint8_t rd = 0, rs1 = 0, rs2 = 0;
  std::int32_t immediate = 0;
};

Instruction decode(std::uint32_t word);

// "addi a0, a0, 1"; of a push, the coprocessor's instruction. `pc` is for the targets of branches.
std::string disassemble(std::uint32_t word, std::uint32_t pc);

// "a0".
std::string_view register_name(unsigned number);

}  // namespace buda::isa::riscv

#pragma GCC visibility pop
