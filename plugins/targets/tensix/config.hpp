// SPDX-License-Identifier: Apache-2.0
// The configuration of a core's coprocessor: words that all threads share, and halfwords of each thread.
//
// There are two banks of 188 words; a thread says which one it uses (its halfword 0). Words from 152 on are shared by both banks.
// Source: tt-isa-documentation, WormholeB0, BackendConfiguration; what each field does is said where it is used.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace buda::tensix {

inline constexpr std::size_t kThreads = 3;  // unpack, math, pack

// Bits [low, low + width) of word `word`.
struct Setting {
  std::uint16_t word = 0;
  std::uint8_t low = 0, width = 32;
};

class Config {
 public:
  static constexpr std::size_t kWords = 188, kShared = 152, kThreadWords = 57;

  std::uint32_t& word(std::size_t bank, std::size_t index) { return words_[index >= kShared ? 0 : bank][index]; }
  std::uint32_t word(std::size_t bank, std::size_t index) const { return words_[index >= kShared ? 0 : bank][index]; }
  std::uint16_t& of_thread(std::size_t thread, std::size_t index) { return halves_[thread][index]; }
  std::uint16_t of_thread(std::size_t thread, std::size_t index) const { return halves_[thread][index]; }
  std::size_t bank(std::size_t thread) const { return halves_[thread][0] & 1u; }

  // As the thread sees it.
  std::uint32_t get(std::size_t thread, Setting s) const {
    const std::uint32_t value = word(bank(thread), s.word) >> s.low;
    return s.width == 32 ? value : value & ((1u << s.width) - 1);
  }

 private:
  std::array<std::array<std::uint32_t, kWords>, 2> words_ = {};
  std::array<std::array<std::uint16_t, kThreadWords>, kThreads> halves_ = {};
};

// Formats as the hardware numbers them.
inline constexpr std::uint32_t kFloat32 = 0, kFloat16 = 1, kBfp8 = 2, kBfp4 = 3, kTf32 = 4, kFloat16B = 5, kBfp8B = 6, kBfp4B = 7,
                               kInt32 = 8, kInt16 = 9, kLf8 = 10, kBfp2 = 11, kInt8 = 14, kBfp2B = 15;

namespace setting {
// The matrix unit.
inline constexpr Setting kSrcAFormat{1, 17, 4}, kSrcBFormat{1, 21, 4}, kDestFormat{1, 25, 4}, kWideDest{1, 29, 1}, kWideVector{1, 30, 1},
    kIntegerMath{1, 31, 1}, kStochastic{1, 0, 4}, kKeepDenormals{2, 0, 1};
// The packers.
inline constexpr Setting kReluMode{2, 2, 4}, kReluThreshold{2, 6, 16}, kPackStrideY{8, 12, 12}, kPackStrideZ{9, 0, 12},
    kPackStrideW{9, 12, 16}, kReadWide{14, 0, 1}, kEdgeMask{20, 0, 16};
inline constexpr std::array<std::uint16_t, 4> kPacker = {56, 84, 96, 124};  // the first word of each one's block
}  // namespace setting

}  // namespace buda::tensix
