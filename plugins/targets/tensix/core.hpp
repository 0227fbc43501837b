// SPDX-License-Identifier: Apache-2.0
// One core: L1, the processors of the three compute threads, the coprocessor, and the registers through which kernels see streams.
//
// Of a stream a kernel sees two counters: how many messages have arrived, and how many are taken (of an output: how many tiles are
// there, and how many have left). Who moves the data, outside of the core, does it with the same two.
//
// Processors and threads of the coprocessor each have their time; whoever is earliest goes on, until it is another's turn, so that what one
// of them writes is seen by the others from then on. Data that are moved from outside take no time.
#pragma once

#include "coprocessor.hpp"
#include "riscv/processor.hpp"
#include "turns.hpp"
#include "zeroed_memory.hpp"

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

// Where an instruction of a thread's program is in its sources: "copy.h:40"; empty where that is not known.
using Places = std::function<std::string(std::size_t thread, std::uint32_t address)>;

class Core {  // wide because runs, reports, the debugger and tests all look at a core
 public:
  explicit Core(std::size_t l1_bytes, Places places = {});
  ~Core();
  Core(const Core&) = delete;

  // L1 stays as it is; everything else is as after power-on, the processors before their first instruction.
  void reset(const std::array<std::uint32_t, kThreads>& entries);

  struct Progress {
    std::uint64_t instructions = 0;  // of the coprocessor
    std::uint64_t words = 0;         // of registers and counters that processors stored
    bool fault = false;
  };
  // Lets the threads go on for a while, at most until one of them changes a stream's counter.
  Progress advance();

  // In cycles from the start on: how far a thread's processor is, when it last stored to L1, when the last instruction of its coprocessor
  // thread began, and when all is done that this has begun.
  struct Clock {
    Cycle processor = 0, stored = 0, coprocessor = 0, done = 0;
  };
  Clock clock(std::size_t thread) const {
    return {processors_[thread]->cycle(), processors_[thread]->stored_at(), coprocessor_->began(thread), coprocessor_->time.done(thread)};
  }

  // Where and why a core stopped, or where its threads stand.
  std::string fault() const;
  std::string place(std::size_t thread) const;  // "math at 0x12114 (softsign.h:20)"
  std::string where(std::size_t thread) const;  // the same, and what it waits with
  // "math waits until semaphore 1 is not 0; unpack has ended": of all threads, each with the one or the thing that it waits for.
  using StreamName = std::function<std::string(std::uint32_t stream)>;
  std::string waits(const StreamName& name_of) const;
  const riscv::Processor& processor(std::size_t thread) const { return *processors_[thread]; }
  std::size_t fault_thread() const { return fault_thread_; }

  std::span<std::uint8_t> l1() { return l1_; }
  std::uint32_t word(std::uint32_t address) const;
  void set_word(std::uint32_t address, std::uint32_t value);

  // Counters of streams, 16 bits.
  static constexpr std::size_t kTaken = 3, kArrived = 4;
  std::uint32_t& stream(std::size_t stream, std::size_t reg) { return streams_[stream * kStreamRegisters + reg]; }

  // What the parts of L1 are for; and what a chip leaves undefined.
  L1Access access;
  Checks checks;

  Coprocessor& coprocessor() const { return *coprocessor_; }
  // Who looks on from the next reset on; nobody: null.
  Observer* observer = nullptr;

  struct Counts {
    std::uint64_t riscv = 0, coprocessor = 0;
  };
  Counts counts() const;

 private:
  class ThreadBus;
  // Processors, then threads of the coprocessor.
  static constexpr std::size_t kAgents = 2 * kThreads;
  // What a processor waits for, beside what its coprocessor's threads can wait for.
  static constexpr unsigned kRoom = 16, kIdle = 32;

  bool run_processor(std::size_t thread, Cycle until, Progress& progress);
  bool run_coprocessor(std::size_t thread, Cycle until, Progress& progress);
  void wake(Cycle at);
  void wake_processor(std::size_t thread);
  static constexpr std::size_t kStreams = 64, kStreamRegisters = 256;

  bool store_stream(std::uint32_t address, std::uint32_t value);
  std::string address_text(std::size_t thread, std::uint32_t address) const;
  std::string wait_of(std::size_t thread, const StreamName& name_of) const;

  Places places_;
  ZeroedMemory memory_;
  std::span<std::uint8_t> l1_;
  std::vector<std::uint32_t> streams_ = std::vector<std::uint32_t>(kStreams * kStreamRegisters);
  std::unique_ptr<Coprocessor> coprocessor_;
  std::array<std::unique_ptr<ThreadBus>, kThreads> buses_;
  std::array<std::unique_ptr<riscv::Processor>, kThreads> processors_;
  std::size_t fault_thread_ = 0;
  bool processor_fault_ = false;
  std::string stop_;  // why the observer has ended the run at a processor's instruction
  Turns<kAgents> turns_;
  std::uint64_t executed_ = 0;  // by the coprocessor
  // The counter that each processor has read last, of all that it can ask again and again: a stream's, by its place in streams_.
  std::array<std::optional<std::size_t>, kThreads> polled_ = {};
};

inline constexpr std::array<const char*, kThreads> kThreadNames = {"unpack", "math", "pack"};

}  // namespace buda::tensix
