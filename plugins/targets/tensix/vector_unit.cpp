// SPDX-License-Identifier: Apache-2.0
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

// Whether an instruction that reads these registers, a bit for each, comes too early: a multiply-add takes two cycles, and the instruction
// after SFPSWAP has to be SFPNOP. What the thread executes elsewhere meanwhile takes a cycle, too.
Step check_late(Coprocessor& c, std::size_t thread, std::uint32_t reads) {
  Coprocessor::LateResult& late = c.late;
  const std::uint8_t reg = std::exchange(late.reg, late.kNone);
  if (reg == late.kNone || late.thread != thread || late.number != c.executed(thread)) return Step::done;
  if (reg == late.kAll) return c.undefined(Check::vector_hazard, "it comes directly after SFPSWAP, which needs SFPNOP after it");
  if ((reads >> reg & 1) == 0) return Step::done;
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
  std::uint32_t* rows = nullptr;  // the numbers of these, of which every other one is a lane's
  bool odd = false;               // the second, and so on
};

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
  a.rows = c.dest.row(wide, row & ~3u, 4);
  a.odd = (row >> 1 & 1) != 0;
  return Step::done;
}

// Calls `visit` for each lane that is on, with its word of the register and of the destination.
template <class Visit>
void for_lanes(Coprocessor& c, const Access& a, Visit visit) {
  for (std::size_t lane = 0; lane < kVectorLanes; ++lane)
    if (!c.vector.flags.on || c.vector.flags.lanes[lane] != 0) visit(c.vector.registers[a.lreg][lane], a.rows[2 * lane + (a.odd ? 1 : 0)]);
}

// From two's complement to sign and magnitude, and back.
std::uint32_t with_magnitude(std::uint32_t word) {
  return (word & numerics::kSignBit) != 0 ? numerics::kSignBit | (0u - (word & ~numerics::kSignBit)) : word;
}
std::uint32_t from_magnitude(std::uint32_t word) { return (word & numerics::kSignBit) != 0 ? 0u - (word & ~numerics::kSignBit) : word; }

Step sfpload(Coprocessor& c, std::size_t thread, std::uint32_t word) {
  Access a;
  if (const Step step = access_of(c, thread, word, a); step != Step::done) return step;
  if (a.lreg >= 8) return c.fail(description(VectorFault::read_only_register));
  if (check_late(c, thread, 0) != Step::done || c.check_dest(a.form, a.row, 4) != Step::done) return Step::fault;
  if (a.integer) {
    for_lanes(c, a, [](std::int32_t& lane, std::uint32_t w) { lane = static_cast<std::int32_t>(from_magnitude(w)); });
  } else if (a.half) {
    for_lanes(c, a, [](std::int32_t& lane, std::uint32_t w) { lane = static_cast<std::int32_t>(numerics::int16_of_word(w)); });
  } else {
    numerics::best_vector_unit().load(a.form, a.odd, a.rows, a.lreg, c.vector);
  }
  apply_address_mod(c, thread, a.addr_mod);
  return Step::done;
}

Step sfpstore(Coprocessor& c, std::size_t thread, std::uint32_t word) {
  Access a;
  if (const Step step = access_of(c, thread, word, a); step != Step::done) return step;
  if (a.lreg >= 12) return c.fail("it stores a register of the vector unit that cannot be stored");
  if (check_late(c, thread, 1u << a.lreg) != Step::done) return Step::fault;
  c.dest_forms.write(a.form, a.row, 4);
  if (a.integer || a.word || a.half) {
    for_lanes(c, a, [&](std::int32_t lane, std::uint32_t& w) {
      const auto bits = static_cast<std::uint32_t>(lane);
      w = a.integer ? with_magnitude(bits) : a.half ? numerics::word_of_int16(bits) : bits;
    });
  } else {
    numerics::best_vector_unit().store(a.form, a.odd, a.lreg, c.vector, a.rows);
  }
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
  for (std::uint8_t reg = 0; reg < numerics::kVectorRegisters; ++reg)
    if (sfpu::reads(*instruction, reg)) decoded.reads |= static_cast<std::uint16_t>(1u << reg);
}

Step execute_vector(Coprocessor& c, std::size_t thread, const DecodedWord& decoded) {
  const VectorInstruction& instruction = decoded.instruction;
  if (check_late(c, thread, decoded.reads) != Step::done) return Step::fault;
  if (instruction.op == numerics::VectorOp::mad || instruction.op == numerics::VectorOp::sort) {
    c.late.reg = instruction.op == numerics::VectorOp::mad ? instruction.d : c.late.kAll;
    c.late.thread = thread;
    c.late.number = c.executed(thread) + 1;
  }
  const VectorFault fault = decoded.vector(instruction, c.vector);
  return fault == VectorFault::none ? Step::done : c.fail(description(fault));
}

// None of the instructions waits for another thread or is seen by one: their times are worked out first, and then they are executed.
std::uint64_t Coprocessor::advance_vector(std::size_t thread, DecodedWords& words) {
  Frontend& frontend = frontends_[thread];
  Standing& standing = standing_[thread];
  std::array<const DecodedWord*, PushedWords::kMost> run;
  std::size_t count = 0;
  Timing::VectorRun times;
  frontend.pass_waiting([&](std::uint32_t word, Cycle ready) {
    const DecodedWord& decoded = words[word];
    if (decoded.kind.unit != Unit::vector) return kNever;
    if (count == 0) times = time.begin_vector_run(thread, decoded.kind);
    run[count++] = &decoded;
    return times.pass(decoded.kind, ready);
  });
  if (count == 0) return 0;
  time.end(thread, times);
  standing.began = times.next - 1;
  if (!products.empty()) execute_products(*this, thread);
  for (std::size_t i = 0; i < count; ++i) {
    standing.current = frontend.take_passed();
    // Another word of the run may have taken the place of what was found.
    const DecodedWord& decoded = run[i]->word == standing.current ? *run[i] : words[standing.current];
    if (execute(*this, thread, decoded) != Step::done) {
      fault_thread_ = thread;
      return i;
    }
    ++standing.executed;
  }
  return count;
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
