// SPDX-License-Identifier: Apache-2.0
// Texts of what is executed, and of what a core holds.
#include "debugger.hpp"

#include "../fields.hpp"

#include <buda/base/text.hpp>
#include <buda/isa/opcodes.hpp>
#include <buda/isa/riscv.hpp>
#include <buda/sfpu/words.hpp>

#include <algorithm>
#include <utility>

namespace buda::tensix {
namespace {

constexpr std::size_t kMaxLines = 1'000'000;  // of one core

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

std::string cause_text(std::uint8_t cause) {
  std::string text;
  for (const auto& [bit, name] : {std::pair{kForSemaphores, "a semaphore"}, std::pair{kForBanks, "a bank of a source register"},
                                  std::pair{kForMutexes, "a mutex"}, std::pair{kForStreams, "a stream"}})
    if ((cause & bit) != 0) text += cat(text.empty() ? "" : ", ", name);
  return text.empty() ? "a unit" : text;
}

// What an instruction of the coprocessor works on, or has changed.
std::string values_of(const Coprocessor& c, std::size_t thread, std::uint32_t word) {
  static const isa::Field kSemaphores = NamedOpcode("SEMPOST").field("semaphores"), kHalf = NamedOpcode("SETDMAREG").field("half_register"),
                          kGpr = NamedOpcode("STOREREG").field("register");
  const isa::Opcode* opcode = isa::find_opcode(static_cast<std::uint8_t>(word >> 24));
  if (opcode == nullptr) return {};
  const std::string_view name = opcode->name;
  std::string text;
  if (name.starts_with("SEM")) {
    for (std::size_t i = 0; i < c.semaphores.size(); ++i)
      if ((get(word, kSemaphores) >> i & 1) != 0) text += cat(text.empty() ? "" : " ", "sem", i, '=', c.semaphores[i]);
  } else if (name == "SETDMAREG") {
    text = cat("gpr", get(word, kHalf) / 2, '=', hex_text(c.gprs[thread][get(word, kHalf) / 2]));
  } else if (name == "STOREREG") {
    text = cat("gpr", get(word, kGpr), '=', hex_text(c.gprs[thread][get(word, kGpr)]));
  } else if (const auto vector = sfpu::instruction_of(word)) {
    if (vector->d < 8) text = cat("lreg", vector->d, "[0]=", hex_text(static_cast<std::uint32_t>(c.vector.registers[vector->d][0])));
  } else if (kind_of(opcode->code).unit == Unit::matrix || name == "SFPLOAD" || name == "SFPSTORE") {
    const RowCounters& r = c.rows[thread];
    text = cat("then a=", r.a, " b=", r.b, " d=", r.d);
  }
  return text;
}

std::string values_of(const ProcessorStep& step) {
  using O = isa::riscv::Operation;
  const isa::riscv::Instruction i = isa::riscv::decode(step.word);
  const std::uint32_t address = step.first + static_cast<std::uint32_t>(i.immediate);
  if (i.operation >= O::sb && i.operation <= O::sw) return cat('[', hex_text(address), "]=", hex_text(step.second));
  const std::string result =
      i.rd == 0 || i.operation == O::push ? std::string() : cat(isa::riscv::register_name(i.rd), '=', hex_text(step.result));
  if (i.operation >= O::lb && i.operation <= O::lhu) return cat('[', hex_text(address), "] ", result);
  return i.operation >= O::beq && i.operation <= O::bgeu ? std::string() : result;
}

}  // namespace

Debugger::Debugger(const Core& core, const DebugSettings& settings, const KernelLines& lines, bool traces)
    : core_(core), settings_(settings), lines_(lines), traces_(traces) {}

std::optional<std::string> Debugger::before(std::size_t thread, std::uint32_t pc) {
  if (values_.empty())
    for (const Watch& w : settings_.watches) values_.push_back(watched(w));
  const std::string_view line = lines_.programs[thread].at(pc), last = std::exchange(line_[thread], line);
  for (const std::string& wanted : settings_.breaks)
    if (names_line(line, wanted) && !names_line(last, wanted)) return cat("it comes to ", wanted);
  return std::nullopt;
}

std::optional<std::string> Debugger::after(std::size_t thread, const ProcessorStep& step) {
  const isa::riscv::Instruction i = isa::riscv::decode(step.word);
  const bool pushes = i.operation == isa::riscv::Operation::push;
  if (traces_ && settings_.threads[thread])
    write(thread, step.at, step.pc, cat(pushes ? "push " : "", isa::riscv::disassemble(step.word, step.pc)),
          cat(values_of(step), step.cycles > 1 ? cat(" took ", step.cycles, " cycles") : std::string()));
  return changed();
}

std::optional<std::string> Debugger::after(std::size_t thread, const CoprocessorStep& step) {
  if (traces_ && settings_.threads[thread]) {
    const Cycle could = std::max(step.ready, next_[thread]), waited = step.at > could ? step.at - could : 0;
    write(thread, step.at, step.from, isa::disassemble(step.word),
          cat(values_of(core_.coprocessor(), thread, step.word),
              waited > 0 ? cat(" waited ", waited, " cycles for ", cause_text(step.waited_for)) : std::string()));
  }
  next_[thread] = step.at + 1;
  return changed();
}

void Debugger::write(std::size_t thread, Cycle at, std::uint32_t pc, const std::string& instruction, const std::string& values) {
  if (++written_ > kMaxLines) {
    if (written_ == kMaxLines + 1) trace_ += cat("only the first ", kMaxLines, " lines of a core are written\n");
    return;
  }
  std::string cycle = cat(at);
  if (cycle.size() < 8) cycle.insert(0, 8 - cycle.size(), ' ');
  std::string line = cat(cycle, " T", thread, ' ', hex_text(pc), ' ', padded(instruction, 44), ' ', padded(values, 36), ' ',
                         lines_.programs[thread].at(pc));
  line.erase(line.find_last_not_of(' ') + 1);
  trace_ += cat(line, '\n');
}

std::optional<std::string> Debugger::changed() {
  for (std::size_t i = 0; i < settings_.watches.size(); ++i) {
    const std::vector<std::uint32_t> now = watched(settings_.watches[i]);
    const std::vector<std::uint32_t>& before = values_[i];
    const auto different = std::mismatch(now.begin(), now.end(), before.begin());
    if (different.first == now.end()) continue;
    const auto column = static_cast<std::size_t>(different.first - now.begin()) % kColumns;
    const std::string where = settings_.watches[i].what == Watch::What::dest ? cat(", column ", column) : std::string();
    return cat(settings_.watches[i].text, where, " changes from ", hex_text(*different.second), " to ", hex_text(*different.first));
  }
  return std::nullopt;
}

std::vector<std::uint32_t> Debugger::watched(const Watch& watch) const {
  const Coprocessor& c = core_.coprocessor();
  switch (watch.what) {
    case Watch::What::l1:
      return {watch.which + 4 <= c.l1.size() ? core_.word(watch.which) : 0};
    case Watch::What::semaphore:
      return {c.semaphores[watch.which]};
    case Watch::What::dest:
      break;
  }
  const auto row = c.dest.words(watch.which);
  return {row.begin(), row.end()};
}

std::string state_of(const Core& core) {
  const Coprocessor& c = core.coprocessor();
  std::string text;
  for (std::size_t t = 0; t < kThreads; ++t) {
    text += cat(core.where(t), '\n');
    std::string registers;
    for (unsigned r = 1; r < 32; ++r)
      if (core.processor(t).reg(r) != 0) registers += cat(' ', isa::riscv::register_name(r), '=', hex_text(core.processor(t).reg(r)));
    const RowCounters& rows = c.rows[t];
    text += cat(" ", registers, "\n  rows a=", rows.a, " b=", rows.b, " d=", rows.d, " phase=", rows.phase, '\n');
  }
  text += "semaphores";
  for (std::uint32_t s : c.semaphores) text += cat(' ', s);
  for (const auto& [name, source] : {std::pair{"SrcA", &c.src_a}, std::pair{"SrcB", &c.src_b}})
    text += cat("\n", name, ": unpacker's next bank ", source->unpack, ", matrix unit's ", source->matrix,
                "; of the matrix unit:", source->banks[0].valid ? " 0" : "", source->banks[1].valid ? " 1" : "",
                source->banks[0].valid || source->banks[1].valid ? "" : " none");
  return text + '\n';
}

}  // namespace buda::tensix
