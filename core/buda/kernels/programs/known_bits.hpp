// SPDX-License-Identifier: Apache-2.0
// What is known about a program's registers before it runs: bits that are the same whenever it comes to an instruction.
//
// A data-flow analysis: states are joined where paths meet, until nothing changes. Memory is not followed, but for the words of the
// coprocessor's loops (MOP), which programs set before they run them.
#pragma once

#include <buda/isa/memory_map.hpp>
#include <buda/isa/riscv.hpp>
#include <buda/kernels/programs/elf.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace buda::kernels {

struct KnownBits {
  std::uint32_t mask = 0, value = 0;  // which bits are known, and what these are; the others are 0
  bool all() const { return mask == ~0u; }
  friend bool operator==(const KnownBits&, const KnownBits&) = default;
};

struct KnownState {
  std::array<KnownBits, 32> registers = {};
  std::array<KnownBits, isa::kLoopWordCount> loop = {};
  friend bool operator==(const KnownState&, const KnownState&) = default;
};

// The state before each instruction of the program's code, none where it is never executed, as far as that can be told. `functions` are
// addresses where something may begin that nothing in the code leads to.
std::vector<std::optional<KnownState>> known_states(const Executable& program, std::span<const std::uint32_t> functions);

// Where a load or store goes.
KnownBits address_of(const isa::riscv::Instruction& instruction, const KnownState& state);

}  // namespace buda::kernels
