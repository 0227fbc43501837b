// SPDX-License-Identifier: Apache-2.0
// Words to instructions, and to text.
#include <buda/isa/riscv.hpp>

#include <buda/base/text.hpp>
#include <buda/isa/opcodes.hpp>

#include <string_view>

namespace buda::isa::riscv {

using O = Operation;

namespace {

std::int32_t sign_extended(std::uint32_t value, int bits) { return static_cast<std::int32_t>(value << (32 - bits)) >> (32 - bits); }

std::int32_t immediate_i(std::uint32_t w) { return static_cast<std::int32_t>(w) >> 20; }
std::int32_t immediate_s(std::uint32_t w) { return sign_extended((w >> 25) << 5 | (w >> 7 & 31), 12); }
std::int32_t immediate_b(std::uint32_t w) {
  return sign_extended((w >> 31) << 12 | (w >> 7 & 1) << 11 | (w >> 25 & 63) << 5 | (w >> 8 & 15) << 1, 13);
}
std::int32_t immediate_j(std::uint32_t w) {
  return sign_extended((w >> 31) << 20 | (w >> 12 & 255) << 12 | (w >> 20 & 1) << 11 | (w >> 21 & 1023) << 1, 21);
}

Operation branch(std::uint32_t function) {
  constexpr O kOf[8] = {O::beq, O::bne, O::illegal, O::illegal, O::blt, O::bge, O::bltu, O::bgeu};
  return kOf[function];
}

Operation load(std::uint32_t function) {
  constexpr O kOf[8] = {O::lb, O::lh, O::lw, O::illegal, O::lbu, O::lhu, O::illegal, O::illegal};
  return kOf[function];
}

Operation with_immediate(std::uint32_t function, std::uint32_t upper) {
  constexpr O kOf[8] = {O::addi, O::slli, O::slti, O::sltiu, O::xori, O::srli, O::ori, O::andi};
  if (function == 1) return upper == 0 ? O::slli : O::illegal;
  if (function == 5) return upper == 0 ? O::srli : upper == 0x20 ? O::srai : O::illegal;
  return kOf[function];
}

Operation of_registers(std::uint32_t function, std::uint32_t upper) {
  constexpr O kBase[8] = {O::add, O::sll, O::slt, O::sltu, O::xor_, O::srl, O::or_, O::and_};
  constexpr O kMultiply[8] = {O::mul, O::mulh, O::mulhsu, O::mulhu, O::div, O::divu, O::rem, O::remu};
  if (upper == 0) return kBase[function];
  if (upper == 1) return kMultiply[function];
  if (upper == 0x20 && function == 0) return O::sub;
  if (upper == 0x20 && function == 5) return O::sra;
  return O::illegal;
}

constexpr std::string_view kNames[] = {
    // clang-format off
    "", "illegal", "push",
    "lui", "auipc", "jal", "jalr",
    "beq", "bne", "blt", "bge", "bltu", "bgeu",
    "lb", "lh", "lw", "lbu", "lhu", "sb", "sh", "sw",
    "addi", "slti", "sltiu", "xori", "ori", "andi", "slli", "srli", "srai",
    "add", "sub", "sll", "slt", "sltu", "xor", "srl", "sra", "or", "and",
    "mul", "mulh", "mulhsu", "mulhu", "div", "divu", "rem", "remu",
    "fence", "ebreak",
    // clang-format on
};

constexpr std::string_view kRegisters[32] = {"zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0",
                                             "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
                                             "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};

}  // namespace

std::string_view register_name(unsigned number) { return kRegisters[number & 31]; }

Instruction decode(std::uint32_t w) {
  Instruction i;
  if (isa::is_push(w)) {
    i.operation = O::push;
    i.immediate = static_cast<std::int32_t>(isa::from_program(w));
    return i;
  }
  i.rd = static_cast<std::uint8_t>(w >> 7 & 31);
  i.rs1 = static_cast<std::uint8_t>(w >> 15 & 31);
  i.rs2 = static_cast<std::uint8_t>(w >> 20 & 31);
  const std::uint32_t function = w >> 12 & 7;
  i.operation = O::illegal;
  switch (w & 127) {
    case 0x37:
      i.operation = O::lui;
      i.immediate = static_cast<std::int32_t>(w & 0xfffff000u);
      break;
    case 0x17:
      i.operation = O::auipc;
      i.immediate = static_cast<std::int32_t>(w & 0xfffff000u);
      break;
    case 0x6f:
      i.operation = O::jal;
      i.immediate = immediate_j(w);
      break;
    case 0x67:
      if (function == 0) i.operation = O::jalr;
      i.immediate = immediate_i(w);
      break;
    case 0x63:
      i.operation = branch(function);
      i.immediate = immediate_b(w);
      break;
    case 0x03:
      i.operation = load(function);
      i.immediate = immediate_i(w);
      break;
    case 0x23:
      if (function < 3) i.operation = function == 0 ? O::sb : function == 1 ? O::sh : O::sw;
      i.immediate = immediate_s(w);
      break;
    case 0x13:
      i.operation = with_immediate(function, w >> 25);
      i.immediate = function == 1 || function == 5 ? static_cast<std::int32_t>(i.rs2) : immediate_i(w);
      break;
    case 0x33:
      i.operation = of_registers(function, w >> 25);
      break;
    case 0x0f:
      if (function == 0) i.operation = O::fence;
      break;
    case 0x73:
      if (w == 0x00000073u || w == 0x00100073u) i.operation = O::ebreak;
      break;
    default:
      break;
  }
  return i;
}

std::string disassemble(std::uint32_t word, std::uint32_t pc) {
  const Instruction i = decode(word);
  const O o = i.operation;
  if (o == O::push) return isa::disassemble(static_cast<std::uint32_t>(i.immediate));
  if (o == O::illegal) return cat(".word ", hex_text(word));
  const std::string name(kNames[static_cast<std::size_t>(o)]);
  const std::string_view rd = kRegisters[i.rd], a = kRegisters[i.rs1], b = kRegisters[i.rs2];
  if (o == O::fence || o == O::ebreak) return name;
  if (o == O::lui || o == O::auipc) return cat(name, ' ', rd, ", ", hex_text(static_cast<std::uint32_t>(i.immediate) >> 12));
  if (o == O::jal) return cat(name, ' ', rd, ", ", hex_text(pc + static_cast<std::uint32_t>(i.immediate)));
  if (o >= O::beq && o <= O::bgeu) return cat(name, ' ', a, ", ", b, ", ", hex_text(pc + static_cast<std::uint32_t>(i.immediate)));
  if ((o >= O::lb && o <= O::lhu) || o == O::jalr) return cat(name, ' ', rd, ", ", i.immediate, '(', a, ')');
  if (o >= O::sb && o <= O::sw) return cat(name, ' ', b, ", ", i.immediate, '(', a, ')');
  if (o >= O::addi && o <= O::srai) return cat(name, ' ', rd, ", ", a, ", ", i.immediate);
  return cat(name, ' ', rd, ", ", a, ", ", b);
}

}  // namespace buda::isa::riscv
