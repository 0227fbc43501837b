// SPDX-License-Identifier: Apache-2.0
// Threads in turn, and who executes what.
#include "coprocessor.hpp"

#include "debug/observer.hpp"
#include "decoded_words.hpp"
#include "fields.hpp"

#include <buda/base/text.hpp>
#include <buda/isa/opcodes.hpp>
#include <buda/numerics/vector_functions.hpp>

#include <utility>

namespace buda::tensix {
namespace {

std::array<Execute, 256> executors() {
  std::array<Execute, 256> out = {};
  for (auto list : {unpacker_instructions(), matrix_instructions(), vector_instructions(), packer_instructions(), control_instructions()})
    for (const NamedExecute& named : list)
      if (const isa::Opcode* opcode = isa::find_opcode(named.name)) out[opcode->code] = named.execute;
  return out;
}

}  // namespace

Execute executor_of(std::uint8_t opcode) {
  static const std::array<Execute, 256> table = executors();
  return table[opcode];
}

DecodedWord decoded_word(std::uint32_t word) {
  static const std::uint32_t kProduct = isa::find_opcode("MVMUL")->code;
  DecodedWord out;
  out.word = word;
  out.exists = isa::decode(word).has_value();
  out.is_product = word >> 24 == kProduct;
  out.kind = kind_of_word(word);
  out.execute = executor_of(static_cast<std::uint8_t>(word >> 24));
  if (out.exists) add_vector_instruction(out);
  return out;
}

Coprocessor::Coprocessor(std::span<std::uint8_t> memory, const L1Access& access, Checks& checks, StoreWord store)
    : l1(memory), store_word(std::move(store)), access_(access), checks_(checks) {
  numerics::reset_vector_state(vector);
}

Step Coprocessor::fail(std::string what) {
  fault_ = std::move(what);
  return Step::fault;
}

Step Coprocessor::undefined(Check check, std::string_view what) {
  return checks_.tolerates(check, running_, what) ? Step::done : fail(sentence(check, what));
}

Step Coprocessor::check_dest(numerics::Dest form, std::size_t row, std::size_t count) {
  using Form = DestForms::Form;
  const Form found = dest_forms.read(form, row, count);
  if (found == DestForms::form_of(form)) return Step::done;
  const std::string place = cat(count, " rows of the destination from row ", row, " on");
  if (found == Form::nothing) return undefined(Check::unwritten_dest, cat("it reads ", place, ", which were not written"));
  if ((found == Form::fp32) != (form == numerics::Dest::fp32))
    return undefined(Check::unwritten_dest, cat("it reads ", place, ", which were written in the other width"));
  return undefined(Check::format_mismatch, cat("it reads ", place, " with exponents of another width than they were written with"));
}

Step Coprocessor::check_l1(std::size_t address, std::size_t bytes, bool writes) {
  if (access_.allows(address, bytes, L1Access::kTiles)) return Step::done;
  const std::string place = cat(writes ? "it writes " : "it reads ", bytes, " bytes ", writes ? "to " : "from ", hex_text(address));
  if (writes && access_.has_program(address, bytes, L1Access::kNoThread))
    return undefined(Check::code_overwritten, cat(place, ", where a program is"));
  return undefined(Check::outside_buffers, cat(place, ", outside the op's buffers"));
}

Cycle Coprocessor::banks_since(const InstructionKind& kind, std::uint32_t word) {
  if (kind.unit != Unit::unpackers && !kind.reads_a && !kind.reads_b) return 0;
  static const isa::Field kUnpacker = NamedOpcode("UNPACR").field("unpacker");
  Cycle since = 0;
  if (kind.unit == Unit::unpackers) return (get(word, kUnpacker) == 0 ? src_a : src_b).to_unpack().since;
  if (kind.reads_a && src_a.to_compute().valid) since = src_a.to_compute().since;
  if (kind.reads_b && src_b.to_compute().valid) since = std::max(since, src_b.to_compute().since);
  return since;
}

// What waits to be executed is, so that it can be seen.
void Coprocessor::observe(std::size_t thread, std::uint32_t word) {
  if (!products.empty()) execute_products(*this, thread);
  Standing& s = standing_[thread];
  const Frontend& frontend = frontends_[thread];
  const Cause waited_for = std::exchange(s.waited_for, kNoCause);
  if (auto stop = observer->after(thread, CoprocessorStep{s.began, frontend.ready(), word, frontend.from(), waited_for})) {
    fail(std::move(*stop));
    fault_thread_ = thread;
  }
}

Step execute(Coprocessor& c, std::size_t thread, const DecodedWord& decoded) {
  if (decoded.vector != nullptr) return execute_vector(c, thread, decoded);
  if (!decoded.exists) return c.fail(cat("'", isa::disassemble(decoded.word), "' is not an instruction of the coprocessor"));
  if (decoded.execute == nullptr) return c.fail("this instruction is not executed yet");
  return decoded.execute(c, thread, decoded.word);
}

std::uint64_t Coprocessor::advance(std::size_t thread, Cycle until, unsigned awaited) {
  static thread_local DecodedWords words;
  DecodedWords& decoded_words = words;
  Frontend& frontend = frontends_[thread];
  Standing& standing = standing_[thread];
  std::uint64_t executed = 0;
  standing.later = 0;
  running_ = thread;
  while (fault_.empty() && (happened & awaited) == 0) {
    if (observer == nullptr && frontend.waits_with(kFirstVectorCode, kLastVectorCode)) {
      executed += advance_vector(thread, decoded_words);
      if (!fault_.empty()) break;
    }
    const auto word = frontend.next();
    if (!word) {
      standing.current = 0;
      if (!frontend.fault().empty()) {
        fail(frontend.fault());
        fault_thread_ = thread;
      }
      break;
    }
    standing.current = *word;
    const DecodedWord& decoded = decoded_words[*word];
    if (!products.empty() && !decoded.is_product) execute_products(*this, thread);
    const InstructionKind& kind = decoded.kind;
    const Cycle since = banks_since(kind, *word);
    time.now = std::max(time.start(thread, kind, frontend.ready()), since);
    if (time.now > until && (kind.in_order || since > until)) {
      standing.later = time.now;
      frontend.put_back();
      break;
    }
    if (kind.latches && standing.first) time.now = *standing.first;
    const Step step = execute(*this, thread, decoded);
    if (step == Step::waits) {
      standing.cause = standing.waited_for = static_cast<Cause>(kind.waits_for);
      if (!standing.first) standing.first = time.now;
      frontend.put_back();
    }
    if (step == Step::fault) fault_thread_ = thread;
    if (step != Step::done) break;
    standing.began = time.now;
    standing.first.reset();
    time.executed(thread, kind);
    frontend.passed(time.now);
    ++executed;
    ++standing.executed;
    if (observer != nullptr) observe(thread, *word);
  }
  if (!products.empty()) execute_products(*this, thread);
  return executed;
}

std::optional<std::string> Coprocessor::semaphore_problem(std::size_t index, int by) const {
  if (by > 0 && semaphores[index] == 15) return cat("semaphore ", index, " is posted above 15");
  if (by < 0 && semaphores[index] == 0) return cat("semaphore ", index, " is taken, and is 0");
  return std::nullopt;
}

Step Coprocessor::change_semaphore(std::size_t index, int by, Cycle at) {
  if (const auto wrong = semaphore_problem(index, by)) return undefined(Check::semaphore_range, *wrong);
  semaphores[index] += static_cast<std::uint32_t>(by);
  time.semaphores[index] = at;
  happened |= kForSemaphores;
  return Step::done;
}

}  // namespace buda::tensix
