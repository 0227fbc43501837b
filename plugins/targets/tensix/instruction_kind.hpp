// SPDX-License-Identifier: Apache-2.0
// What is the same for all instructions of an opcode, as far as time is concerned.
#pragma once

#include "latencies.hpp"

#include <array>
#include <cstdint>

namespace buda::tensix {

enum class Unit : std::uint8_t { none, sync, unpackers, matrix, packers, vector, scalar, config, misc };

// What threads can wait for, a bit for each; also of what has happened meanwhile.
enum Cause : std::uint8_t { kNoCause = 0, kForSemaphores = 1, kForBanks = 2, kForMutexes = 4, kForStreams = 8 };

struct InstructionKind {
  Unit unit = Unit::none;
  std::uint8_t waits_for = kForBanks;  // Cause
  std::uint16_t blocked = 0;           // bits of STALLWAIT's `blocked` that hold it
  std::uint8_t cycles = 1;             // until its thread and its unit go on
  std::uint8_t latency = 1;            // until its results are there
  bool in_order = false;               // what it does, or when, depends on what other threads did before
  bool latches = false;                // goes through the gate before what it waits for has happened
  bool reads_a = false, reads_b = false;
  bool fills_gap = false;  // of the vector unit's instructions: one may stand where a gap is needed, and after one a gap is needed
  bool needs_gap = false;
  std::uint8_t unit_cycles = 0;  // until its unit goes on, where that is later than its thread does
  bool after_moves = false;      // waits until rows that were moved into the destination are there
};

// Those of the vector unit.
inline constexpr std::uint8_t kFirstVectorCode = 0x70, kLastVectorCode = 0x95;

const InstructionKind& kind_of(std::uint8_t opcode);
// Of one instruction.
InstructionKind kind_of_word(std::uint32_t word);

}  // namespace buda::tensix
