// Threads in turn, and who executes what.
#include "coprocessor.hpp"

#include "debug/observer.hpp"
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

bool is_product(std::uint32_t word) {
  static const std::uint32_t code = isa::find_opcode("MVMUL")->code;
  return word >> 24 == code;
}

// Words that were found to be instructions: kernels push the same few again and again.
class CheckedWords {
 public:
  bool knows(std::uint32_t word) const { return words_[slot(word)] == word; }
  void add(std::uint32_t word) { words_[slot(word)] = word; }

 private:
  static std::size_t slot(std::uint32_t word) { return (word ^ word >> 12 ^ word >> 22) & 255; }
  std::array<std::uint32_t, 256> words_ = {};
};

}  // namespace

Execute executor_of(std::uint8_t opcode) {
  static const std::array<Execute, 256> table = executors();
  return table[opcode];
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

std::uint64_t Coprocessor::advance(std::size_t thread, Cycle until, unsigned awaited) {
  static thread_local CheckedWords checked;
  Frontend& frontend = frontends_[thread];
  std::uint64_t executed = 0;
  standing_[thread].later = 0;
  while (fault_.empty() && (happened & awaited) == 0) {
    const auto word = frontend.next();
    if (!word) {
      standing_[thread].current = 0;
      if (!frontend.fault().empty()) {
        fail(frontend.fault());
        fault_thread_ = thread;
      }
      break;
    }
    standing_[thread].current = *word;
    running_ = thread;
    if (!products.empty() && !is_product(*word)) execute_products(*this, thread);
    const InstructionKind& kind = kind_of(static_cast<std::uint8_t>(*word >> 24));
    const Cycle since = banks_since(kind, *word);
    time.now = std::max(time.start(thread, kind, *word, frontend.ready()), since);
    if (time.now > until && (kind.in_order || since > until)) {
      standing_[thread].later = time.now;
      frontend.put_back();
      break;
    }
    if (kind.latches && standing_[thread].first) time.now = *standing_[thread].first;
    Step step = Step::done;
    if (!checked.knows(*word) && !isa::decode(*word)) {
      step = fail(cat("'", isa::disassemble(*word), "' is no instruction of the coprocessor"));
    } else if (const Execute execute = executor_of(static_cast<std::uint8_t>(*word >> 24))) {
      checked.add(*word);
      step = execute(*this, thread, *word);
    } else {
      step = fail("this instruction is not executed yet");
    }
    if (step == Step::waits) {
      standing_[thread].cause = standing_[thread].waited_for = static_cast<Cause>(kind.waits_for);
      if (!standing_[thread].first) standing_[thread].first = time.now;
      frontend.put_back();
    }
    if (step == Step::fault) fault_thread_ = thread;
    if (step != Step::done) break;
    standing_[thread].began = time.now;
    standing_[thread].first.reset();
    time.executed(thread, kind, *word);
    frontend.passed(time.now);
    ++executed;
    ++standing_[thread].executed;
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
