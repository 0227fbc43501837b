// SPDX-License-Identifier: Apache-2.0
// Macro operations (MOP): one of two loops whose instructions were stored in nine words beside the queue.
//
// Template 0: for each of up to 128 bits of a mask, from the lowest on, instructions A0 (A1 A2 A3) (B), or, where the bit is set, others
// instead. Template 1: two nested loops with an instruction before each inner loop, up to two after it, and one or two that alternate
// inside; the last of an inner loop, and the last of all, may be others. NOPs stand for nothing.
// Source: tt-isa-documentation, WormholeB0, MOPExpander.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace buda::tensix {

class MacroOperations {
 public:
  // A word of the loops. False where there is no such word.
  bool configure(std::size_t index, std::uint32_t word);
  // Appends the instructions that a MOP stands for. Where that is not executed: why, a sentence without a full stop.
  std::string expand(std::uint32_t mop, std::vector<std::uint32_t>& to) const;

  std::uint32_t mask_high = 0;  // of MOP_CFG

 private:
  void expand_masked(std::uint32_t mop, std::vector<std::uint32_t>& to) const;
  std::string expand_nested(std::vector<std::uint32_t>& to) const;

  std::array<std::uint32_t, 9> loop_ = {};
};

}  // namespace buda::tensix
