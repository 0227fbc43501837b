// SPDX-License-Identifier: Apache-2.0
// The coprocessor of a core: three threads that hand instructions to shared units.
//
// Each instruction takes effect as a whole, when its thread comes to it and what it needs is there; `time` says when it begins and ends.
// Instructions whose effect depends on other threads are executed in the order of their time; what concerns only one thread may be
// executed before.
#pragma once

#include "checks.hpp"
#include "config.hpp"
#include "dest_forms.hpp"
#include "frontend.hpp"
#include "l1_access.hpp"
#include "registers.hpp"
#include "timing.hpp"

#include <buda/numerics/vector_instructions.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace buda::tensix {

// Positions in the address generators of a packer or unpacker: channel 0 in what is read, 1 in what is written.
struct AddressCounters {
  struct Channel {
    std::uint32_t x = 0, y = 0, z = 0, w = 0;
  };
  std::array<Channel, 2> channel, start;  // `start`: what "carriage return" goes back to
};

// Positions of the matrix unit: rows of SrcA, SrcB and the destination, and the fidelity phase.
struct RowCounters {
  std::uint32_t a = 0, b = 0, d = 0, a_start = 0, b_start = 0, d_start = 0, phase = 0;
};

// An MVMUL that is still to be executed: rows of the sources and of the destination, and the phase.
struct Product {
  std::uint32_t a = 0, b = 0, dest = 0;
  unsigned phase = 0;
};

enum class Step : std::uint8_t { done, waits, fault };

// What the coprocessor writes outside of itself: a word at an address of the core (STOREREG). False where there is nothing.
using StoreWord = std::function<bool(std::uint32_t address, std::uint32_t value)>;

class Observer;
struct DecodedWord;
class DecodedWords;

class Coprocessor {
 public:
  Observer* observer = nullptr;  // of every instruction; none: null
  // All that it refers to outlives it.
  Coprocessor(std::span<std::uint8_t> l1, const L1Access& access, Checks& checks, StoreWord store_word);

  Frontend& frontend(std::size_t thread) { return frontends_[thread]; }
  bool idle(std::size_t thread) const { return frontends_[thread].empty(); }
  // Executes what the thread can, up to cycle `until` where the order counts, or until something has happened for which others wait
  // (`awaited`), and gives how many instructions that were. After a fault nothing is executed any more.
  std::uint64_t advance(std::size_t thread, Cycle until = kNever, unsigned awaited = 0);
  // When the thread can go on: never while it waits for a `cause`, or has nothing to execute.
  Cycle next_at(std::size_t thread) const {
    return standing_[thread].cause != kNoCause ? kNever
                                               : std::max({frontends_[thread].next_ready(), time.next(thread), standing_[thread].later});
  }
  // When its last instruction began.
  Cycle began(std::size_t thread) const { return standing_[thread].began; }
  Cause cause(std::size_t thread) const { return standing_[thread].cause; }
  void resume(std::size_t thread, Cycle at) {
    standing_[thread].cause = kNoCause;
    standing_[thread].later = at;
  }

  // Empty where all is well; otherwise what is wrong, a sentence without a full stop.
  const std::string& fault() const { return fault_; }
  std::size_t fault_thread() const { return fault_thread_; }
  // The instruction that the thread waits with, or that was at fault; 0 for none.
  std::uint32_t current(std::size_t thread) const { return standing_[thread].current; }

  Config config;
  std::array<std::array<std::uint32_t, 64>, kThreads> gprs = {};
  std::array<std::uint32_t, 8> semaphores = {}, semaphore_limits = {};
  // Post (+1) or get (-1) by a processor or an instruction, seen from cycle `at` on.
  Step change_semaphore(std::size_t index, int by, Cycle at);
  std::array<std::uint8_t, 8> mutexes = {};  // who holds each: 0 for nobody, or the thread's number and 1

  Timing time;
  unsigned happened = 0;  // Cause: what threads may wait for
  std::optional<std::string> semaphore_problem(std::size_t index, int by) const;

  // The units, one file each; `word` is the instruction.
  Step fail(std::string what);
  // What a chip leaves undefined: a fault, or, where checks are off, done.
  Step undefined(Check check, std::string_view what);
  // Of rows of the destination before they are read in this form, and of L1 before units read or write it.
  Step check_dest(numerics::Dest form, std::size_t row, std::size_t count);
  Step check_l1(std::size_t address, std::size_t bytes, bool writes);
  std::span<std::uint8_t> l1;
  SourceRegister src_a, src_b;
  DestRegister dest;
  DestForms dest_forms;
  numerics::VectorState vector;
  // What the vector unit's last instruction leaves undone for the next one: the register that it still computes, or all.
  struct LateResult {
    static constexpr std::uint8_t kNone = 255, kAll = 254;
    std::uint8_t reg = kNone;
    std::size_t thread = 0;
    std::uint64_t number = 0;  // of the instruction in its thread
  } late;
  std::uint64_t executed(std::size_t thread) const { return standing_[thread].executed; }
  std::array<std::array<AddressCounters, 3>, kThreads> addresses = {};  // by thread and unit: unpacker 0, unpacker 1, packers
  std::array<RowCounters, kThreads> rows = {};
  StoreWord store_word;
  // Products that no other instruction has asked for yet, in order. They are executed before anything else is.
  std::vector<Product> products;

 private:
  std::array<Frontend, kThreads> frontends_ = {Frontend(32), Frontend(16), Frontend(16)};
  void observe(std::size_t thread, std::uint32_t word);
  // Executes what the thread can of the vector unit's instructions that wait one behind the other, and gives how many that were.
  std::uint64_t advance_vector(std::size_t thread, DecodedWords& words);
  // When the banks belong to whom an instruction needs them for; 0 where it needs none, or waits.
  Cycle banks_since(const InstructionKind& kind, std::uint32_t word);

  // A thread's last instruction, what it waits for, until when it lets others go first.
  struct Standing {
    std::uint32_t current = 0;
    Cause cause = kNoCause, waited_for = kNoCause;
    Cycle later = 0, began = 0;
    std::uint64_t executed = 0;  // instructions
    std::optional<Cycle> first;  // when an instruction that waits came to the gate
  };
  std::array<Standing, kThreads> standing_ = {};
  std::string fault_;
  std::size_t fault_thread_ = 0;
  const L1Access& access_;
  Checks& checks_;
  std::size_t running_ = 0;  // the thread whose instruction is executed
};

// What executes an instruction; null for those that are not executed (yet).
using Execute = Step (*)(Coprocessor&, std::size_t thread, std::uint32_t word);
Execute executor_of(std::uint8_t opcode);

// Where the units' instructions are listed: pairs of a name in the table of instructions and what executes it.
struct NamedExecute {
  std::string_view name;
  Execute execute;
};
// The products that wait, which are all of this thread.
void execute_products(Coprocessor& coprocessor, std::size_t thread);
// Moves the thread's row counters as its address modifier `index` says.
void apply_address_mod(Coprocessor& coprocessor, std::size_t thread, std::uint32_t index);
// The first row of the destination that an instruction of the matrix or the vector unit with this field means.
std::uint32_t first_dest_row(const Coprocessor& coprocessor, std::size_t thread, std::uint32_t dst);
std::span<const NamedExecute> unpacker_instructions();
std::span<const NamedExecute> matrix_instructions();
std::span<const NamedExecute> vector_instructions();
std::span<const NamedExecute> packer_instructions();
std::span<const NamedExecute> control_instructions();

}  // namespace buda::tensix
