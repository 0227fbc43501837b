// The vector unit: on the destination register, 32 numbers at a time.
//
// A load or store means four rows, of which it takes the even or the odd columns: lane 8 r + k is row r, column 2 k (and one more where bit
// 1 of the row is set). What instructions do is module numerics.
// Source: tt-isa-documentation, WormholeB0: SFPLOAD, SFPSTORE, and the pages of the other instructions SFP*.
#include "decoded_words.hpp"
#include "fields.hpp"

#include <buda/base/text.hpp>
#include <buda/numerics/integers.hpp>
#include <buda/numerics/vector_functions.hpp>
#include <buda/sfpu/words.hpp>

#include <optional>
#include <utility>

namespace buda::tensix {
namespace {

using numerics::Dest;
using numerics::kVectorLanes;
using numerics::VectorFault;
using numerics::VectorInstruction;

std::string description(VectorFault fault) {
  switch (fault) {
    case VectorFault::unknown_mode:
      return "this form of the instruction is not executed";
    case VectorFault::read_only_register:
      return "it writes a register of the vector unit that is only read";
    case VectorFault::flag_stack:
      return "the stack of flags is full, or has none to give back";
    case VectorFault::none:
      break;
  }
  return {};
}

// Whether an instruction comes too early: a multiply-add takes two cycles, and the instruction after SFPSWAP has to be SFPNOP. What the
// thread executes elsewhere meanwhile takes a cycle, too.
template <class Reads>
Step check_late(Coprocessor& c, std::size_t thread, Reads reads) {
  Coprocessor::LateResult& late = c.late;
  const std::uint8_t reg = std::exchange(late.reg, late.kNone);
  if (reg == late.kNone || late.thread != thread || late.number != c.executed(thread)) return Step::done;
  if (reg == late.kAll) return c.undefined(Check::vector_hazard, "it comes directly after SFPSWAP, which needs SFPNOP after it");
  if (!reads(reg)) return Step::done;
  return c.undefined(Check::vector_hazard, cat("it reads register ", reg, ", which the instruction before still computes"));
}

// Marks the vector unit's own instructions, which execute_vector() executes; called where a word is none of their known forms.
Step other_form(Coprocessor& c, std::size_t, std::uint32_t) { return c.fail(description(VectorFault::unknown_mode)); }

constexpr std::uint32_t kImplied = 0, kFormatFloat16 = 1, kFormatFloat16B = 2, kFormatFloat32 = 3, kFormatWord = 4, kFormatHalf = 6,
                        kFormatInteger = 12;

bool is_narrow_format(std::uint32_t format) {
  return format == kFloat16 || format == kLf8 || format == kBfp8 || format == kBfp4 || format == kBfp2;
}

struct Access {
  Dest form = Dest::bf16;
  bool integer = false;  // two's complement in registers, sign and magnitude in the destination
  bool word = false;     // as it is
  bool half = false;     // 16 bits as they are
  std::size_t lreg = 0;
  std::size_t row = 0;  // the first of four
  std::uint32_t addr_mod = 0;
  std::uint32_t* first = nullptr;  // number of lane 0
};

constexpr std::size_t kLanesOfRow = kColumns / 2;

std::array<std::uint32_t, kVectorLanes> gathered(const std::uint32_t* first) {
  std::array<std::uint32_t, kVectorLanes> words;
  for (std::size_t row = 0; row < kVectorLanes / kLanesOfRow; ++row)
    for (std::size_t k = 0; k < kLanesOfRow; ++k) words[row * kLanesOfRow + k] = first[row * kColumns + 2 * k];
  return words;
}

void scatter(const std::array<std::uint32_t, kVectorLanes>& words, std::uint32_t* first) {
  for (std::size_t row = 0; row < kVectorLanes / kLanesOfRow; ++row)
    for (std::size_t k = 0; k < kLanesOfRow; ++k) first[row * kColumns + 2 * k] = words[row * kLanesOfRow + k];
}

const NamedOpcode kLoad("SFPLOAD");
const isa::Field kRow = kLoad.field("row"), kAddrMod = kLoad.field("addr_mod"), kFormat = kLoad.field("format"),
                 kLreg = kLoad.field("lreg");

// Loads and stores have the same fields.
Step access_of(Coprocessor& c, std::size_t thread, std::uint32_t word, Access& a) {
  std::uint32_t format = get(word, kFormat);
  if (format == kImplied)
    format = c.config.get(thread, setting::kWideVector) != 0                ? kFormatFloat32
             : is_narrow_format(c.config.get(thread, setting::kSrcBFormat)) ? kFormatFloat16
                                                                            : kFormatFloat16B;
  if (format == kFormatFloat16) {
    a.form = Dest::fp16;
  } else if (format == kFormatFloat32 || format == kFormatWord || format == kFormatInteger) {
    a.form = Dest::fp32;
  } else if (format != kFormatFloat16B && format != kFormatHalf) {
    return c.fail(cat("format ", format, " of the vector unit is not executed yet"));
  }
  a.integer = format == kFormatInteger;
  a.word = format == kFormatWord;
  a.half = format == kFormatHalf;
  a.lreg = get(word, kLreg);
  a.addr_mod = get(word, kAddrMod);
  const bool wide = a.form == Dest::fp32;
  const std::uint32_t row = first_dest_row(c, thread, get(word, kRow));
  if (row % 2 != 0 || (row & ~3u) + 4 > DestRegister::rows(wide))
    return c.fail(sentence(Check::alignment, cat("it works on row ", row, " of the destination")));
  a.row = row & ~3u;
  a.first = c.dest.row(wide, row & ~3u, 4) + (row >> 1 & 1);
  return Step::done;
}

// The way between two's complement, and sign and magnitude.
std::uint32_t other_integer(std::uint32_t word) {
  return (word & numerics::kSignBit) != 0 ? numerics::kSignBit | (0u - (word & ~numerics::kSignBit)) : word;
}

Step sfpload(Coprocessor& c, std::size_t thread, std::uint32_t word) {
  Access a;
  if (const Step step = access_of(c, thread, word, a); step != Step::done) return step;
  if (a.lreg >= 8) return c.fail(description(VectorFault::read_only_register));
  if (check_late(c, thread, [](std::uint8_t) { return false; }) != Step::done || c.check_dest(a.form, a.row, 4) != Step::done)
    return Step::fault;
  std::array<std::uint32_t, kVectorLanes> words = gathered(a.first);
  if (a.integer)
    for (std::uint32_t& w : words) w = (w & numerics::kSignBit) != 0 ? 0u - (w & ~numerics::kSignBit) : w;
  if (a.half)
    for (std::uint32_t& w : words) w = numerics::int16_of_word(w);
  numerics::best_vector_unit().load(a.half ? Dest::fp32 : a.form, words.data(), a.lreg, c.vector);
  apply_address_mod(c, thread, a.addr_mod);
  return Step::done;
}

Step sfpstore(Coprocessor& c, std::size_t thread, std::uint32_t word) {
  Access a;
  if (const Step step = access_of(c, thread, word, a); step != Step::done) return step;
  if (a.lreg >= 12) return c.fail("it stores a register of the vector unit that cannot be stored");
  if (check_late(c, thread, [&](std::uint8_t reg) { return reg == a.lreg; }) != Step::done) return Step::fault;
  c.dest_forms.write(a.form, a.row, 4);
  std::array<std::uint32_t, kVectorLanes> words = gathered(a.first);
  if (a.integer || a.word || a.half) {
    for (std::size_t lane = 0; lane < kVectorLanes; ++lane) {
      if (c.vector.flags.on && c.vector.flags.lanes[lane] == 0) continue;
      const auto word_of_lane = static_cast<std::uint32_t>(c.vector.registers[a.lreg][lane]);
      words[lane] = a.integer ? other_integer(word_of_lane) : a.half ? numerics::word_of_int16(word_of_lane) : word_of_lane;
    }
  } else {
    numerics::best_vector_unit().store(a.form, a.lreg, c.vector, words.data());
  }
  scatter(words, a.first);
  apply_address_mod(c, thread, a.addr_mod);
  return Step::done;
}

}  // namespace

void add_vector_instruction(DecodedWord& decoded) {
  static const numerics::VectorUnit& unit = numerics::best_vector_unit();
  if (decoded.execute != &other_form) return;
  const auto instruction = sfpu::instruction_of(decoded.word);
  if (!instruction) return;
  decoded.vector = unit.handler(instruction->op);
  decoded.instruction = *instruction;
}

Step execute_vector(Coprocessor& c, std::size_t thread, const DecodedWord& decoded) {
  const VectorInstruction& instruction = decoded.instruction;
  if (check_late(c, thread, [&](std::uint8_t reg) { return sfpu::reads(instruction, reg); }) != Step::done) return Step::fault;
  if (instruction.op == numerics::VectorOp::mad || instruction.op == numerics::VectorOp::sort) {
    c.late.reg = instruction.op == numerics::VectorOp::mad ? instruction.d : c.late.kAll;
    c.late.thread = thread;
    c.late.number = c.executed(thread) + 1;
  }
  const VectorFault fault = decoded.vector(instruction, c.vector);
  return fault == VectorFault::none ? Step::done : c.fail(description(fault));
}

std::span<const NamedExecute> vector_instructions() {
  static constexpr NamedExecute kAll[] = {
      {"SFPLOAD", &sfpload},      {"SFPSTORE", &sfpstore},        {"SFPLOADI", &other_form},  {"SFPMAD", &other_form},
      {"SFPADD", &other_form},    {"SFPMUL", &other_form},        {"SFPEXEXP", &other_form},  {"SFPEXMAN", &other_form},
      {"SFPIADD", &other_form},   {"SFPSHFT", &other_form},       {"SFPSETCC", &other_form},  {"SFPMOV", &other_form},
      {"SFPABS", &other_form},    {"SFPAND", &other_form},        {"SFPOR", &other_form},     {"SFPXOR", &other_form},
      {"SFPNOT", &other_form},    {"SFPSETEXP", &other_form},     {"SFPSETSGN", &other_form}, {"SFPPUSHC", &other_form},
      {"SFPPOPC", &other_form},   {"SFPENCC", &other_form},       {"SFPCOMPC", &other_form},  {"SFPSWAP", &other_form},
      {"SFPCAST", &other_form},   {"SFP_STOCH_RND", &other_form}, {"SFPSHFT2", &other_form},  {"SFPTRANSP", &other_form},
      {"SFPCONFIG", &other_form},
  };
  return kAll;
}

}  // namespace buda::tensix
