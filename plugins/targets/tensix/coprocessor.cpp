// Threads in turn, and who executes what.
#include "coprocessor.hpp"

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

Coprocessor::Coprocessor(std::span<std::uint8_t> memory, StoreWord store) : l1(memory), store_word(std::move(store)) {
  numerics::reset_vector_state(vector);
}

Step Coprocessor::fail(std::string what) {
  fault_ = std::move(what);
  return Step::fault;
}

std::uint64_t Coprocessor::advance(std::size_t thread) {
  static thread_local CheckedWords checked;
  Frontend& frontend = frontends_[thread];
  std::uint64_t executed = 0;
  while (fault_.empty()) {
    const auto word = frontend.next();
    if (!word) {
      current_[thread] = 0;
      if (!frontend.fault().empty()) {
        fail(frontend.fault());
        fault_thread_ = thread;
      }
      break;
    }
    current_[thread] = *word;
    if (!products.empty() && !is_product(*word)) execute_products(*this, thread);
    Step step = Step::done;
    if (!checked.knows(*word) && !isa::decode(*word)) {
      step = fail(cat("'", isa::disassemble(*word), "' is no instruction of the coprocessor"));
    } else if (const Execute execute = executor_of(static_cast<std::uint8_t>(*word >> 24))) {
      checked.add(*word);
      step = execute(*this, thread, *word);
    } else {
      step = fail("this instruction is not executed yet");
    }
    if (step == Step::waits) frontend.put_back();
    if (step == Step::fault) fault_thread_ = thread;
    if (step != Step::done) break;
    ++executed;
  }
  if (!products.empty()) execute_products(*this, thread);
  return executed;
}

Step Coprocessor::change_semaphore(std::size_t index, int by) {
  if (by > 0 && semaphores[index] == 15) return fail(cat("semaphore ", index, " is posted above 15"));
  if (by < 0 && semaphores[index] == 0) return fail(cat("semaphore ", index, " is taken, and is 0"));
  semaphores[index] += static_cast<std::uint32_t>(by);
  return Step::done;
}

}  // namespace buda::tensix
