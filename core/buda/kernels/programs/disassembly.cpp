// SPDX-License-Identifier: Apache-2.0
// Line by line.
#include <buda/kernels/programs/disassembly.hpp>

#include <buda/base/text.hpp>
#include <buda/isa/opcodes.hpp>
#include <buda/kernels/lines/source_lines.hpp>
#include <buda/kernels/programs/known_bits.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace buda::kernels {
namespace {

using isa::riscv::Instruction;
using O = isa::riscv::Operation;

constexpr std::size_t kReplaySlots = 32;
constexpr std::size_t kMaxBytes = 1 << 21;

std::string hex_digits(std::uint32_t value) {
  std::string text(8, '0');
  for (std::size_t i = 0; i < 8; ++i) text[7 - i] = "0123456789abcdef"[value >> (4 * i) & 15];
  return text;
}

// An instruction of the coprocessor of which some bits are known only when the program runs: these fields are "?".
std::string pushed_text(KnownBits word) {
  if (word.all()) return isa::disassemble(word.value);
  const isa::Opcode* opcode = word.mask >> 24 == 0xff ? isa::find_opcode(static_cast<std::uint8_t>(word.value >> 24)) : nullptr;
  if (opcode == nullptr) return "?";
  std::string text(opcode->name);
  const char* before = " ";
  for (const isa::Field& f : opcode->fields()) {
    const bool known = (word.mask & f.mask()) == f.mask();
    const std::uint32_t value = word.value >> f.low & f.largest();
    if (known && value == 0) continue;
    text += cat(before, f.name, '=', known ? cat(value) : std::string("?"));
    before = ", ";
  }
  return text;
}

std::string value_text(KnownBits value) { return value.all() ? hex_text(value.value) : std::string("?"); }

// What a word of a loop is for.
constexpr std::string_view kLoopWordNames[isa::kLoopWordCount] = {
    "outer count",        "inner count, or flags",    "before, or B",           "after, or A0", "second after, or A1", "inner, or A2",
    "other inner, or A3", "last of all, or masked A", "last inner, or masked B"};

// What is at an address that is no memory, in words; `value` is what is stored there, if anything is.
std::string place_text(std::uint32_t address, const KnownBits* value) {
  const auto within = [address](std::uint32_t base, std::uint32_t words) { return address - base < 4 * words; };
  const std::string stored = value != nullptr ? cat(" = ", value_text(*value)) : std::string();
  if (address == isa::kQueue && value != nullptr) return cat("push ", pushed_text(*value));
  if (within(isa::kLoopWords, isa::kLoopWordCount) && value != nullptr) {
    const std::uint32_t i = (address - isa::kLoopWords) / 4;
    return cat("loop word ", i, " (", kLoopWordNames[i], ") = ", i < 2 ? value_text(*value) : pushed_text(*value));
  }
  if (within(isa::kStreamRegisterBase, isa::kStreams * isa::kStreamBytes / 4)) {
    const std::uint32_t offset = address - isa::kStreamRegisterBase, number = offset % isa::kStreamBytes / 4;
    return cat("stream ", offset / isa::kStreamBytes, ' ',
               number == 3   ? "taken"
               : number == 4 ? "arrived"
                             : cat("register ", number),
               stored);
  }
  if (within(isa::kSemaphores, isa::kSemaphoreCount)) return cat("semaphore ", (address - isa::kSemaphores) / 4, stored);
  if (within(isa::kGprs, isa::kGprCount)) return cat("gpr ", (address - isa::kGprs) / 4, stored);
  if (within(isa::kConfigWords, 2 * 188)) return cat("config ", (address - isa::kConfigWords) / 4, stored);
  if (address == isa::kThreadIdle) return "wait until the thread is idle";
  if (address == isa::kWallClock) return "cycles";
  if (address == isa::kExpanderIdle) return "wait until the expander is idle";
  return {};
}

// The body of a MOP, as far as it is known where it is run.
std::vector<std::string> loop_body(std::uint32_t mop, const KnownState& state) {
  const auto& loop = state.loop;
  std::vector<std::string> out;
  const auto add = [&](std::string_view what, std::size_t index) {
    if (pushed_text(loop[index]) != "NOP") out.push_back(cat(what, pushed_text(loop[index])));
  };
  const auto count = [&](std::size_t index) { return loop[index].all() ? cat(loop[index].value & 127) : std::string("?"); };
  if ((mop >> 23 & 1) == 0) {
    out.push_back(cat((mop >> 16 & 127) + 1, " rounds, one for each bit of the mask"));
    for (std::size_t i = 3; i < (loop[1].all() && (loop[1].value & 2) == 0 ? 4u : 7u); ++i) add(cat("A", i - 3, ": "), i);
    if (!loop[1].all() || (loop[1].value & 1) != 0) add("B: ", 2);
    add("A where the bit is set: ", 7);
    if (!loop[1].all() || (loop[1].value & 1) != 0) add("B where the bit is set: ", 8);
    return out;
  }
  out.push_back(cat("outer loop ", count(0), " rounds, inner loop ", count(1)));
  add("before: ", 2);
  add("inner: ", 5);
  add("other inner: ", 6);
  add("last inner: ", 8);
  add("last inner of the last round: ", 7);
  add("after: ", 3);
  add("second after: ", 4);
  return out;
}

class Listing {
 public:
  Listing(const Executable& program, std::string_view elf) : program_(program) {
    std::vector<std::uint32_t> addresses;
    for (std::size_t at = 0; at < program.code.size() / 4; ++at) addresses.push_back(address(at));
    source_ = source_of(elf, addresses);
    std::vector<std::uint32_t> functions;
    for (const Symbol& s : source_.symbols)
      if (s.code) functions.push_back(s.address);
    states_ = known_states(program, functions);
    find_targets();
  }

  std::string text() {
    for (std::size_t at = 0; at < states_.size(); ++at) {
      label(at);
      line(at);
    }
    return std::move(text_);
  }

 private:
  std::uint32_t address(std::size_t at) const { return program_.code_address + static_cast<std::uint32_t>(4 * at); }
  std::uint32_t word(std::size_t at) const {
    std::uint32_t w;
    std::memcpy(&w, program_.code.data() + 4 * at, 4);
    return w;
  }

  std::span<const Symbol> symbols_at(std::uint32_t address) const {
    const auto& all = source_.symbols;
    const auto first = std::lower_bound(all.begin(), all.end(), address, [](const Symbol& s, std::uint32_t a) { return s.address < a; });
    return {first, std::find_if(first, all.end(), [&](const Symbol& s) { return s.address != address; })};
  }

  void find_targets() {
    for (std::size_t at = 0; at < states_.size(); ++at) {
      if (!states_[at]) continue;
      const Instruction i = isa::riscv::decode(word(at));
      if (i.operation == O::jal || (i.operation >= O::beq && i.operation <= O::bgeu))
        targets_.insert(address(at) + static_cast<std::uint32_t>(i.immediate));
    }
  }

  // The symbols that begin here, and the line where it is another one.
  void label(std::size_t at) {
    bool named = false;
    for (const Symbol& s : symbols_at(address(at))) {
      text_ += cat(text_.empty() ? "" : "\n", hex_digits(s.address), " <", s.name, ">:\n");
      named = true;
    }
    if (named || targets_.count(address(at)) != 0) loading_ = 0;
    if (states_[at] && !source_.lines[at].empty() && (named || source_.lines[at] != line_)) text_ += cat(source_.lines[at], ":\n");
    if (!source_.lines[at].empty()) line_ = source_.lines[at];
  }

  void line(std::size_t at) {
    const std::uint32_t w = word(at);
    std::string shown = states_[at] ? isa::riscv::disassemble(w, address(at)) : cat(".word ", hex_text(w)), note;
    std::vector<std::string> body;
    if (states_[at]) explain(at, note, body);
    text_ += cat("  ", hex_digits(address(at)), "  ", hex_digits(w), targets_.count(address(at)) != 0 ? " > " : "   ", shown);
    if (!note.empty()) text_ += cat(std::string(shown.size() < 28 ? 28 - shown.size() : 2, ' '), "# ", note);
    text_ += '\n';
    for (const std::string& b : body) text_ += cat("                          ", b, '\n');
  }

  void explain(std::size_t at, std::string& note, std::vector<std::string>& body) {
    const KnownState& state = *states_[at];
    const Instruction i = isa::riscv::decode(word(at));
    if (i.operation == O::push) {
      pushed({~0u, static_cast<std::uint32_t>(i.immediate)}, state, note, body);
    } else if (i.operation == O::sw || i.operation == O::lw) {
      const KnownBits to = address_of(i, state);
      if (!to.all()) return;
      const KnownBits value = state.registers[i.rs2];
      note = place_text(to.value, i.operation == O::sw ? &value : nullptr);
      if (i.operation == O::sw && to.value == isa::kQueue) pushed(value, state, note, body);
    } else if (i.operation == O::jal || (i.operation >= O::beq && i.operation <= O::bgeu)) {
      const std::uint32_t target = address(at) + static_cast<std::uint32_t>(i.immediate);
      for (const Symbol& s : symbols_at(target)) note = s.name;
    }
  }

  // Slots of the replay buffer, and bodies of loops.
  void pushed(KnownBits word, const KnownState& state, std::string& note, std::vector<std::string>& body) {
    static const isa::Opcode& replay = *isa::find_opcode("REPLAY");
    static const isa::Opcode& mop = *isa::find_opcode("MOP");
    if (loading_ > 0) {
      note += cat(note.empty() ? "" : "; ", "replay slot ", slot_);
      slot_ = (slot_ + 1) % kReplaySlots;
      --loading_;
      return;
    }
    if (!word.all()) return;
    if (word.value >> 24 == mop.code) body = loop_body(word.value, state);
    if (word.value >> 24 != replay.code) return;
    const auto field = [&](std::size_t index) { return word.value >> replay.fields()[index].low & replay.fields()[index].largest(); };
    const std::uint32_t length = field(2) == 0 ? 64 : field(2), start = field(3);
    const std::string slots = cat("slots ", start, " to ", (start + length - 1) % kReplaySlots);
    note += cat(note.empty() ? "" : "; ", field(0) != 0 ? "loads " : "plays ", slots);
    if (field(0) == 0) return;
    loading_ = length;
    slot_ = start;
  }

  const Executable& program_;
  ProgramSource source_;
  std::vector<std::optional<KnownState>> states_;
  std::set<std::uint32_t> targets_;
  std::string text_, line_;
  std::uint32_t loading_ = 0, slot_ = 0;  // instructions that go into the replay buffer, and the next one's slot
};

}  // namespace

Result<std::string> disassembly(std::string_view elf, const std::string& file) {
  BUDA_ASSIGN(const Executable program, parse_executable(elf, file));
  if (program.code.size() > kMaxBytes) return input_error("KC010", {file}, "this is no program for a core: its code is larger than L1");
  return Listing(program, elf).text();
}

}  // namespace buda::kernels
