// SPDX-License-Identifier: Apache-2.0
// Where the processor of a compute thread reaches what is not memory, all of it in words (Wormhole).
//
// Source: tt-isa-documentation, WormholeB0, the memory map of the baby RISC-V cores.
#pragma once

#include <cstdint>

#pragma GCC visibility push(default)

namespace buda::isa {

inline constexpr std::uint32_t kStreamRegisterBase = 0xffb40000u, kStreams = 64, kStreamBytes = 4096, kStreamRegisters = 256;
inline constexpr std::uint32_t kLoopWords = 0xffb80000u, kLoopWordCount = 9;  // of MOP
inline constexpr std::uint32_t kGprs = 0xffe00000u, kGprCount = 64;
inline constexpr std::uint32_t kQueue = 0xffe40000u;  // stores push instructions
inline constexpr std::uint32_t kThreadIdle = 0xffe80004u, kExpanderIdle = 0xffe80008u;
inline constexpr std::uint32_t kSemaphores = 0xffe80020u, kSemaphoreCount = 8;
inline constexpr std::uint32_t kWallClock = 0xffb121f0u;  // the lower 32 bits of a count of cycles
inline constexpr std::uint32_t kConfigWords = 0xffef0000u;

}  // namespace buda::isa

#pragma GCC visibility pop
