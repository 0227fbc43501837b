// SPDX-License-Identifier: Apache-2.0
// The instructions of a Tensix coprocessor (Wormhole): one table, from which encoder, decoder and disassembler come.
//
// An instruction is a word of 32 bits: the opcode in the upper byte, fields below. A compute thread's RISC-V core pushes it into the
// coprocessor's queue by storing it to an address, or by executing it: words whose low two bits are not 11, which no RISC-V instruction of
// 32 bits has, are rotated right by two and pushed.
//
// Source: the encodings that Tenstorrent documents (tt-isa-documentation, WormholeB0), compared with the tables of ttsim: 128 opcodes and
// the fields of 92 of them. The fields of the other 36, which ttsim does not execute, are one: `operands`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#pragma GCC visibility push(default)

namespace buda::isa {

// Bits [low, low + width) of an instruction.
struct Field {
  std::string_view name;
  std::uint8_t low = 0, width = 0;
  constexpr std::uint32_t largest() const { return (1u << width) - 1; }
  constexpr std::uint32_t mask() const { return largest() << low; }
};

inline constexpr std::size_t kMaxFields = 16;

struct Opcode {
  std::uint8_t code = 0;
  std::string_view name;
  bool has_fields = true;  // false: what its bits mean is not in this table
  std::array<Field, kMaxFields> slots = {};

  constexpr std::size_t field_count() const {
    std::size_t n = 0;
    while (n < kMaxFields && slots[n].width != 0) ++n;
    return n;
  }
  constexpr std::span<const Field> fields() const { return {slots.data(), field_count()}; }
  // The bits that may be set below the opcode.
  constexpr std::uint32_t mask() const {
    std::uint32_t bits = 0;
    for (const Field& f : fields()) bits |= f.mask();
    return bits;
  }
};

// All, by code.
std::span<const Opcode> opcodes();
// Null where there is none.
const Opcode* find_opcode(std::uint8_t code);
const Opcode* find_opcode(std::string_view name);

struct Instruction {
  const Opcode* opcode = nullptr;
  std::array<std::uint32_t, kMaxFields> values = {};  // of its fields, in their order
};

// Nothing where the opcode does not exist, or bits are set that belong to no field.
std::optional<Instruction> decode(std::uint32_t word);
// Every value must fit in its field: is within largest().
std::uint32_t encode(const Instruction& instruction);

// "MVMUL dst=8, addr_mod=1": the fields that are not 0. A word that is no instruction is shown as ".word 0x…".
std::string disassemble(std::uint32_t word);
// The way back, numbers being decimal or hexadecimal; otherwise what is wrong, a sentence without a full stop.
std::variant<std::uint32_t, std::string> assemble(std::string_view text);

// A pushed instruction as it stands in a program, and back.
constexpr std::uint32_t in_program(std::uint32_t word) { return word << 2 | word >> 30; }
constexpr std::uint32_t from_program(std::uint32_t code) { return code >> 2 | code << 30; }
constexpr bool is_push(std::uint32_t code) { return (code & 3) != 3; }

}  // namespace buda::isa

#pragma GCC visibility pop
