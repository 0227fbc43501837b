// SPDX-License-Identifier: Apache-2.0
// What is known of an instruction's word, worked out once: kernels push the same words again and again.
#pragma once

#include "coprocessor.hpp"

#include <buda/numerics/vector_functions.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace buda::tensix {

// In a cache line of its own.
struct alignas(64) DecodedWord {
  std::uint32_t word = 0;
  bool exists = false;  // an instruction of the coprocessor, executed or not
  bool is_product = false;
  InstructionKind kind;
  Execute execute = nullptr;  // null for those that are not executed (yet)
  // Of the vector unit's own instructions: what computes, otherwise null.
  numerics::VectorHandler vector = nullptr;
  numerics::VectorInstruction instruction;
  std::uint16_t reads = 0;  // a bit for each register that it reads
};

DecodedWord decoded_word(std::uint32_t word);

class DecodedWords {
 public:
  const DecodedWord& operator[](std::uint32_t word) {
    const std::size_t at = word * 0x9e3779b1u >> (32 - kBits);
    if (const DecodedWord& d = words_[at]; d.word == word && d.exists) return d;
    // Each has two places, since a program goes round.
    DecodedWord& other = words_[at ^ 1];
    if (other.word == word && other.exists) return other;
    DecodedWord& free = other.exists ? words_[at] : other;
    return free = decoded_word(word);
  }

 private:
  static constexpr std::size_t kBits = 11, kWords = std::size_t{1} << kBits;
  std::array<DecodedWord, kWords> words_ = {};
};

// What computes it, where the word is an instruction of the vector unit's own; and executing such a one, or any.
void add_vector_instruction(DecodedWord& decoded);
Step execute_vector(Coprocessor& coprocessor, std::size_t thread, const DecodedWord& decoded);
Step execute(Coprocessor& coprocessor, std::size_t thread, const DecodedWord& decoded);

}  // namespace buda::tensix
