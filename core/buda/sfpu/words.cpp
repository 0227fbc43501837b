// SPDX-License-Identifier: Apache-2.0
// By the table of instructions (module isa).
#include <buda/sfpu/words.hpp>

#include <buda/isa/opcodes.hpp>
#include <buda/sfpu/program.hpp>

#include <array>
#include <string_view>

namespace buda::sfpu {
namespace {

using numerics::VectorInstruction;
using numerics::VectorOp;

struct Named {
  VectorOp op;
  std::string_view name;
};
// Of several for one operation the first is written.
constexpr Named kNames[] = {
    {VectorOp::nop, "SFPNOP"},
    {VectorOp::load_immediate, "SFPLOADI"},
    {VectorOp::mad, "SFPMAD"},
    {VectorOp::mad, "SFPADD"},
    {VectorOp::mad, "SFPMUL"},
    {VectorOp::exponent, "SFPEXEXP"},
    {VectorOp::fraction, "SFPEXMAN"},
    {VectorOp::integer_add, "SFPIADD"},
    {VectorOp::shift, "SFPSHFT"},
    {VectorOp::test, "SFPSETCC"},
    {VectorOp::move, "SFPMOV"},
    {VectorOp::absolute, "SFPABS"},
    {VectorOp::bit_and, "SFPAND"},
    {VectorOp::bit_or, "SFPOR"},
    {VectorOp::bit_xor, "SFPXOR"},
    {VectorOp::bit_not, "SFPNOT"},
    {VectorOp::with_exponent, "SFPSETEXP"},
    {VectorOp::with_sign, "SFPSETSGN"},
    {VectorOp::push_flags, "SFPPUSHC"},
    {VectorOp::pop_flags, "SFPPOPC"},
    {VectorOp::set_flags, "SFPENCC"},
    {VectorOp::invert_flags, "SFPCOMPC"},
    {VectorOp::sort, "SFPSWAP"},
    {VectorOp::float_of, "SFPCAST"},
    {VectorOp::round, "SFP_STOCH_RND"},
    {VectorOp::rotate, "SFPSHFT2"},
    {VectorOp::transpose, "SFPTRANSP"},
    {VectorOp::set_constant, "SFPCONFIG"},
};

// Fields go by different names in loads of immediates.
enum class Part : std::uint8_t { mod, d, c, b, a, immediate, other };
Part part_of(std::string_view field) {
  if (field == "mod" || field == "format") return Part::mod;
  if (field == "vd" || field == "lreg") return Part::d;
  if (field == "vc") return Part::c;
  if (field == "vb") return Part::b;
  if (field == "va") return Part::a;
  return field == "immediate" ? Part::immediate : Part::other;
}
bool has_signed_immediate(VectorOp op) { return op == VectorOp::integer_add || op == VectorOp::shift; }

std::uint32_t value_of(const VectorInstruction& i, Part part) {
  switch (part) {
    case Part::mod:
      return i.mod;
    case Part::d:
      return i.d;
    case Part::c:
      return i.c;
    case Part::b:
      return i.b;
    case Part::a:
      return i.a;
    case Part::immediate:
      return static_cast<std::uint32_t>(i.immediate);
    case Part::other:
      break;
  }
  return 0;
}

// By the operation's number.
const isa::Opcode* opcode_of(VectorOp op) {
  for (const Named& n : kNames)
    if (n.op == op) return isa::find_opcode(n.name);
  return nullptr;
}

}  // namespace

bool reads(const VectorInstruction& i, std::uint8_t reg) {
  const bool d = i.d == reg, c = i.c == reg;
  switch (i.op) {
    case VectorOp::load_immediate:
      return d && i.mod >= 8;  // one half stays
    case VectorOp::mad:
      return c || i.b == reg || i.a == reg;
    case VectorOp::integer_add:
      return c || (d && (i.mod & 3) != 1);
    case VectorOp::shift:
      return d || (c && i.mod == 0);
    case VectorOp::bit_and:
    case VectorOp::bit_or:
    case VectorOp::bit_xor:
    case VectorOp::sort:
      return c || d;
    case VectorOp::with_exponent:
    case VectorOp::with_sign:
      return c || (d && i.mod != 1);
    case VectorOp::transpose:
      return reg < 8;
    case VectorOp::set_constant:
      return reg == 0 && i.mod == 0;
    case VectorOp::nop:
    case VectorOp::push_flags:
    case VectorOp::pop_flags:
    case VectorOp::set_flags:
    case VectorOp::invert_flags:
      return false;
    default:
      return c;
  }
}

std::uint32_t word_of(const VectorInstruction& instruction) {
  const isa::Opcode* opcode = opcode_of(instruction.op);
  std::uint32_t word = std::uint32_t{opcode->code} << 24;
  for (const isa::Field& f : opcode->fields()) word |= (value_of(instruction, part_of(f.name)) & f.largest()) << f.low;
  return word;
}

std::optional<VectorInstruction> instruction_of(std::uint32_t word) {
  static const auto kOperations = [] {
    std::array<std::optional<VectorOp>, 256> table;
    for (const Named& n : kNames) table[isa::find_opcode(n.name)->code] = n.op;
    return table;
  }();
  const auto op = kOperations[word >> 24];
  if (!op) return std::nullopt;
  VectorInstruction out;
  out.op = *op;
  for (const isa::Field& f : isa::find_opcode(static_cast<std::uint8_t>(word >> 24))->fields()) {
    const std::uint32_t value = word >> f.low & f.largest();
    const auto small = static_cast<std::uint8_t>(value);
    switch (part_of(f.name)) {
      case Part::mod:
        out.mod = small;
        break;
      case Part::d:
        out.d = small;
        break;
      case Part::c:
        out.c = small;
        break;
      case Part::b:
        out.b = small;
        break;
      case Part::a:
        out.a = small;
        break;
      case Part::immediate:
        out.immediate = static_cast<std::int32_t>(value);
        if (has_signed_immediate(*op) && (value & 0x800) != 0) out.immediate -= 4096;
        break;
      case Part::other:
        if (value != 0) return std::nullopt;
        break;
    }
  }
  return out;
}

std::vector<std::uint32_t> words_of(const Program& program) {
  std::vector<std::uint32_t> words;
  const VectorInstruction nop;
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    const VectorInstruction& now = program.instructions[i];
    words.push_back(word_of(now));
    const bool last = i + 1 == program.instructions.size();
    if (now.op == VectorOp::sort || (now.op == VectorOp::mad && (last || reads(program.instructions[i + 1], now.d))))
      words.push_back(word_of(nop));
  }
  return words;
}

}  // namespace buda::sfpu
