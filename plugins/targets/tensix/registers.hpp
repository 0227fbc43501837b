// SPDX-License-Identifier: Apache-2.0
// The coprocessor's source and destination registers, in the words of buda/numerics/registers.hpp.
#pragma once

#include "latencies.hpp"

#include <buda/numerics/matmul.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace buda::tensix {

inline constexpr std::size_t kColumns = 16, kSourceRows = 64, kDestRows = 1024;

// One of the two banks of SrcA or SrcB. It belongs to an unpacker until that makes it valid, and then to the matrix unit until that clears
// it.
struct SourceBank {
  alignas(64) std::array<std::uint32_t, kSourceRows* kColumns> words = {};
  bool valid = false;
  Cycle since = 0;  // it belongs to the one or the other

  // The words were changed.
  void change() { left_is_known_ = right_is_known_ = false; }
  // Taken apart for products, when they are needed first.
  const numerics::LeftOperand& left() {
    if (!left_is_known_) left_.assign(words, kColumns);
    left_is_known_ = true;
    return left_;
  }
  // As a matrix of 32 columns: rows 0 to 15 have beside them rows 16 to 31, and rows 32 to 47 rows 48 to 63, as faces of a tile lie.
  const numerics::RightOperand& right() {
    if (right_is_known_) return right_;
    std::array<std::uint32_t, kSourceRows * kColumns> matrix;
    for (std::size_t row = 0; row < kSourceRows; ++row)
      std::copy_n(words.data() + row * kColumns, kColumns, matrix.data() + ((row / 32 * 16 + row % 16) * 2 + row / 16 % 2) * kColumns);
    right_.assign(matrix, 2 * kColumns);
    right_is_known_ = true;
    return right_;
  }

 private:
  numerics::LeftOperand left_;
  numerics::RightOperand right_;
  bool left_is_known_ = false, right_is_known_ = false;
};

// SrcA or SrcB.
struct SourceRegister {
  std::array<SourceBank, 2> banks;
  std::size_t unpack = 0, matrix = 0;  // the bank that each side uses next

  SourceBank& to_unpack() { return banks[unpack]; }
  SourceBank& to_compute() { return banks[matrix]; }
  // Hands the unpacker's bank to the matrix unit.
  void give() {
    to_unpack().valid = true;
    unpack ^= 1;
  }
  // Hands the matrix unit's bank back.
  void release(Cycle at) {
    to_compute().valid = false;
    to_compute().since = at;
    matrix ^= 1;
  }
};

// The destination register as 1024 rows of 16-bit numbers, or 512 of 32-bit ones: row r of these shares the memory of rows 2 (r & ~7) + (r
// & 7) and 8 more of those. What was written in one width is not there in the other.
class DestRegister {
 public:
  static constexpr std::size_t rows(bool wide) { return wide ? kDestRows / 2 : kDestRows; }

  // `count` rows from `first` on, to be read or written.
  std::uint32_t* row(bool wide, std::size_t first, std::size_t count = 1) {
    const std::size_t rows_of_block = wide ? kBlock / 2 : kBlock;
    for (std::size_t b = first / rows_of_block; b <= (first + count - 1) / rows_of_block; ++b) used_ |= std::uint64_t{1} << b;
    return (wide ? wide_.data() : narrow_.data()) + first * kColumns;
  }
  // Of a row of 16 bits, and after them those of the row of 32 bits that has its memory.
  std::array<std::uint32_t, 2 * kColumns> words(std::size_t index) const {
    std::array<std::uint32_t, 2 * kColumns> out;
    std::copy_n(narrow_.data() + index * kColumns, kColumns, out.data());
    std::copy_n(wide_.data() + (index / 16 * 8 + index % 8) * kColumns, kColumns, out.data() + kColumns);
    return out;
  }
  // Rows that were not written since they were cleared, or in the other width, read as zeros.
  void clear() { clear(0, kDestRows); }
  // Of 16-bit rows: whole blocks.
  void clear(std::size_t first, std::size_t count) {
    for (std::size_t b = first / kBlock; b < (first + count) / kBlock; ++b) {
      if ((used_ >> b & 1) == 0) continue;
      std::fill_n(narrow_.data() + b * kBlock * kColumns, kBlock * kColumns, 0u);
      std::fill_n(wide_.data() + b * kBlock / 2 * kColumns, kBlock / 2 * kColumns, 0u);
      used_ &= ~(std::uint64_t{1} << b);
    }
  }

 private:
  static constexpr std::size_t kBlock = 16;  // rows of 16 bits
  std::uint64_t used_ = 0;                   // blocks in which not all may be zero: kernels clear halves and use little of them
  alignas(64) std::array<std::uint32_t, kDestRows* kColumns> narrow_ = {};
  alignas(64) std::array<std::uint32_t, kDestRows / 2 * kColumns> wide_ = {};
};

}  // namespace buda::tensix
