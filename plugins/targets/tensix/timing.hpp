// SPDX-License-Identifier: Apache-2.0
// When instructions of the coprocessor begin and end.
//
// Every resource carries the cycle from which it is free or its content can be used; an instruction begins at the latest of those it
// needs, and moves them. `now` is the beginning of the instruction that is being executed: what executes it may find that it has to begin
// later.
// Source: latencies.hpp; of unpackers, UNPACR_Regular's table of what each gets when both are at work.
#pragma once

#include "instruction_kind.hpp"
#include "registers.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace buda::tensix {

class Timing {
 public:
  Cycle now = 0;

  // When an instruction can begin that is at the gate at `ready`, but for what only its execution shows.
  Cycle start(std::size_t thread, const InstructionKind& kind, Cycle ready) const {
    const Thread& t = threads_[thread];
    Cycle at = std::max({ready, t.next, units_[static_cast<std::size_t>(kind.unit)]});
    if ((kind.blocked & t.latch.blocked) != 0) at = std::max(at, t.latch.until);
    if (kind.after_moves) at = std::max(at, moved_);
    if (kind.unit == Unit::vector && !kind.fills_gap) at = std::max(at, swapped_);
    return at;
  }
  // It was executed, beginning at `now`.
  void executed(std::size_t thread, const InstructionKind& kind) {
    Thread& t = threads_[thread];
    t.next = now + kind.cycles + scalar_extra_;
    // Miscellaneous ones take something from every thread in a cycle, and each packer has its own time.
    if (kind.unit != Unit::none && kind.unit != Unit::misc && kind.unit != Unit::packers)
      units_[static_cast<std::size_t>(kind.unit)] = std::max(t.next, now + kind.unit_cycles);
    if (kind.unit == Unit::matrix) t.matrix = std::max(t.matrix, now + kind.latency);
    if (kind.unit == Unit::vector) {
      t.vector = std::max(t.vector, now + kind.latency);
      if (kind.needs_gap) swapped_ = now + 2;
    }
    scalar_extra_ = 0;
  }

  // The times of instructions of the vector unit alone, one after the other: the same as start() and executed() give for each. They count
  // when end() was called.
  struct VectorRun {
    Cycle next = 0, results = 0, swapped = 0;  // the next instruction; all results so far; the gap that an instruction needs
    // When an instruction begins that is at the gate at `ready`.
    Cycle pass(const InstructionKind& kind, Cycle ready) {
      const Cycle at = std::max({ready, next, kind.fills_gap ? 0 : swapped});
      next = at + 1;
      results = std::max(results, at + kind.latency);
      if (kind.needs_gap) swapped = at + 2;
      return at;
    }
  };
  VectorRun begin_vector_run(std::size_t thread, const InstructionKind& kind) const {
    return {start(thread, kind, 0), threads_[thread].vector, swapped_};
  }
  void end(std::size_t thread, const VectorRun& run) {
    threads_[thread].next = units_[static_cast<std::size_t>(Unit::vector)] = run.next;
    threads_[thread].vector = run.results;
    swapped_ = run.swapped;
  }

  // When all that was begun for a thread is done.
  Cycle done(std::size_t thread) const;
  Cycle next(std::size_t thread) const { return threads_[thread].next; }

  // Blocks of 8 rows of the destination.
  static std::size_t dest_block(bool wide, std::uint32_t row) { return row / 8 * (wide ? 2 : 1) % kDestBlocks; }
  void read_dest(std::size_t block) { now = std::max(now, dest_[block]); }
  void write_dest(std::size_t block, Cycle latency) { dest_[block] = now + latency; }
  void moved_to_dest() { moved_ = now + latency::kMove; }

  // Bytes for a source bank, or for the destination without one, with `speed` 1, 2 or 4 (times 16 bytes per cycle).
  void unpack(std::size_t thread, std::size_t unpacker, std::uint32_t bytes, std::uint32_t speed, SourceBank* bank);
  // Something of an unpacker that takes no time, after what it does.
  Cycle after_unpacking(std::size_t unpacker) const { return std::max(now + 1, jobs_[unpacker].end); }

  void wait_for_packer(std::size_t packer) { now = std::max(now, packers_[packer]); }
  void pack(std::size_t thread, std::size_t packer, Cycle cycles) {
    packers_[packer] = now + cycles;
    threads_[thread].packed[packer] = packers_[packer];
  }

  // The scalar unit takes longer than others of its kind do.
  void add_scalar(Cycle cycles) { scalar_extra_ = cycles; }

  // STALLWAIT and SEMWAIT: instructions with one of the bits `blocked` begin after cycle `met`, in which the conditions are met.
  void latch(std::size_t thread, std::uint32_t blocked, Cycle met) {
    threads_[thread].latch = {blocked == 0 ? 64u : blocked, std::max(met, now + 1) + 1};
  }
  // When units are done with what the thread has begun: `conditions` as in STALLWAIT.
  Cycle units_done(std::size_t thread, std::uint32_t conditions) const;

  std::array<Cycle, 8> semaphores = {}, mutexes = {};  // when they changed

 private:
  static constexpr std::size_t kThreadCount = 3, kDestBlocks = 128;

  struct Latch {
    std::uint32_t blocked = 0;
    Cycle until = 0;
  };
  struct Job {
    Cycle end = 0;
    std::uint32_t bytes = 0, speed = 1;
    SourceBank* bank = nullptr;
    std::size_t thread = 0;
  };

  // Of a thread: when its next instruction can begin, and when units are done with what it began.
  struct Thread {
    Cycle next = 0, matrix = 0, vector = 0;
    std::array<Cycle, 2> unpacked = {};
    std::array<Cycle, 4> packed = {};
    Latch latch;
  };
  std::array<Thread, kThreadCount> threads_ = {};
  std::array<Cycle, 9> units_ = {};  // when each can begin something more
  Cycle moved_ = 0, swapped_ = 0, scalar_extra_ = 0;
  std::array<Cycle, kDestBlocks> dest_ = {};
  std::array<Job, 2> jobs_ = {};
  std::array<Cycle, 4> packers_ = {};
};

}  // namespace buda::tensix
