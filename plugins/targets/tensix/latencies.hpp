// SPDX-License-Identifier: Apache-2.0
// How many cycles things take: the one place for figures of time.
//
// Source: tt-isa-documentation, WormholeB0: BabyRISCV, MatrixUnit, VectorUnit, ScalarUnit, ConfigurationUnit, SyncUnit, UNPACR, PACR, L1.
// What it does not say is marked as an assumption.
#pragma once

#include <cstdint>

namespace buda::tensix {

// Counted from the start of a core on.
using Cycle = std::uint64_t;
inline constexpr Cycle kNever = ~Cycle{0};

namespace latency {

// A processor: from a load to the first instruction that can use the value.
inline constexpr Cycle kOwnLoad = 2, kSyncLoad = 3, kConfigLoad = 4, kStreamLoad = 7, kL1Load = 8;
// Of the cycle counter: an assumption, as of a stream's register.
inline constexpr Cycle kClockLoad = 7;
inline constexpr Cycle kMultiply = 2, kTrivialDivide = 2, kShortestDivide = 6, kLongestDivide = 33, kMispredicted = 2, kL1Store = 5;

// From a push to the gate before the units: an assumption, one cycle for each of the queue, the expanders and the two queues between.
inline constexpr Cycle kFrontend = 5;

// The matrix unit: until a result can be read, and until a moved row can.
inline constexpr Cycle kMatrix = 5, kMove = 4, kShiftB = 2;
inline constexpr Cycle kVectorMad = 2;
inline constexpr Cycle kSetRegister = 1, kArithmetic = 3, kFarArithmetic = 4, kStoreRegister = 3, kRegisterToConfig = 2;
inline constexpr Cycle kWriteConfig = 2;
// An unpacker works out where to begin; then bytes come from L1 at 16, 32 or 64 per cycle.
inline constexpr Cycle kUnpackAddress = 2;
// A packer reads a row of 16 numbers per cycle (an assumption) and writes 16 bytes per cycle, or adds to them in five.
inline constexpr Cycle kPackRow = 1, kPackWord = 1, kPackAdd = 5;

}  // namespace latency

}  // namespace buda::tensix
