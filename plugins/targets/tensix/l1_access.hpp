// SPDX-License-Identifier: Apache-2.0
// Who may access which part of L1, in units of 16 bytes.
#pragma once

#include "zeroed_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace buda::tensix {

class L1Access {
 public:
  // Tiles are for units and processors, what is shared for processors, a program for the processor of its thread.
  static constexpr std::uint8_t kTiles = 1, kShared = 2;
  static constexpr std::uint8_t program(std::size_t thread) { return static_cast<std::uint8_t>(4u << thread); }
  static constexpr std::uint8_t kPrograms = 28;

  explicit L1Access(std::size_t bytes) : memory_((bytes + 15) / 16), uses_(memory_.bytes()) {}

  // Until the first of these everything is allowed.
  void allow(std::uint32_t address, std::uint32_t bytes, std::uint8_t use) {
    is_known_ = true;
    for (std::size_t i = address / 16; i < std::min<std::size_t>(uses_.size(), (std::size_t{address} + bytes + 15) / 16); ++i)
      uses_[i] |= use;
  }
  void reset() {
    is_known_ = false;
    std::fill(uses_.begin(), uses_.end(), std::uint8_t{0});
  }

  // Whether all of it has one of these uses.
  bool allows(std::size_t address, std::size_t bytes, std::uint8_t uses) const {
    if (!is_known_) return true;
    for (std::size_t i = address / 16; i < (address + bytes + 15) / 16; ++i)
      if (i >= uses_.size() || (uses_[i] & uses) == 0) return false;
    return true;
  }
  // Whether any of it is a program, of a thread other than `thread`.
  bool has_program(std::size_t address, std::size_t bytes, std::size_t thread) const {
    if (!is_known_) return false;
    for (std::size_t i = address / 16; i < std::min(uses_.size(), (address + bytes + 15) / 16); ++i)
      if ((uses_[i] & kPrograms & ~program(thread)) != 0) return true;
    return false;
  }
  static constexpr std::size_t kNoThread = 7;

 private:
  ZeroedMemory memory_;  // most of L1 has no use
  std::span<std::uint8_t> uses_;
  bool is_known_ = false;
};

}  // namespace buda::tensix
