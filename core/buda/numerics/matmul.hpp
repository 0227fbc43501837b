// SPDX-License-Identifier: Apache-2.0
// Products of whole matrices of tiles, in the order in which kernels execute them.
//
// The order is part of the result, since every step rounds. For each tile of the inner dimension, one after the other; in it for each phase
// of the fidelity, in the order that Product gives; in it for the left and the right half of the tile, 16 inner indices each: MVMUL.
// Numbers of the destination do not depend on each other, so that the order of rows, columns and threads makes no difference.
#pragma once

#include <buda/base/line_vector.hpp>
#include <buda/numerics/kernels.hpp>
#include <buda/numerics/matrix_unit.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

#pragma GCC visibility push(default)

namespace buda::numerics {

// The left operand, which goes through SrcB: rows x inner source words, row-major; inner is a multiple of 16.
class LeftOperand {
 public:
  LeftOperand() = default;
  LeftOperand(std::span<const std::uint32_t> words, std::size_t inner) { assign(words, inner); }
  void assign(std::span<const std::uint32_t> words, std::size_t inner);
  std::size_t rows() const { return exponents_.size() / inner_; }
  std::size_t inner() const { return inner_; }
  const std::int16_t* exponents(std::size_t row, std::size_t k) const { return exponents_.data() + row * inner_ + k; }
  // Of the phases whose bit 1 is this.
  const std::int16_t* slices(bool low, std::size_t row, std::size_t k) const { return (low ? low_ : high_).data() + row * inner_ + k; }

 private:
  std::size_t inner_ = 0;
  LineVector<std::int16_t> exponents_, high_, low_;
};

// The right operand, which goes through SrcA: inner x cols source words, row-major. Kept as panels of kPanel columns, filled up with zeros.
class RightOperand {
 public:
  RightOperand() = default;
  RightOperand(std::span<const std::uint32_t> words, std::size_t cols) { assign(words, cols); }
  void assign(std::span<const std::uint32_t> words, std::size_t cols);
  std::size_t cols() const { return cols_; }
  std::size_t inner() const { return inner_; }
  std::size_t panels() const { return (cols_ + kPanel - 1) / kPanel; }
  const std::int16_t* exponents(std::size_t panel, std::size_t k) const { return exponents_.data() + (panel * inner_ + k) * kPanel; }
  // Of the phases whose bit 0 is this; four times the slices.
  const std::int16_t* slices(bool low, std::size_t panel, std::size_t k) const {
    return (low ? low_ : high_).data() + (panel * inner_ + k) * kPanel;
  }

 private:
  std::size_t cols_ = 0, inner_ = 0;
  LineVector<std::int16_t> exponents_, high_, low_;
};

struct Product {
  Source source = Source::bf16;
  Dest dest = Dest::bf16;
  std::span<const unsigned> phases;  // in order
  std::size_t tile = 32;             // inner indices of a tile: 16 or 32
};

// sums += left[:, first …) * right[first …, :] for `count` inner indices, whole tiles. `sums` are destination words, left.rows() x
// right.cols(), row-major.
void multiply(const Product& product, const LeftOperand& left, const RightOperand& right, std::size_t first, std::size_t count,
              std::span<std::uint32_t> sums, unsigned threads);

namespace detail {
// For tests: with given kernels.
void multiply_with(const Kernels& kernels, const Product& product, const LeftOperand& left, const RightOperand& right, std::size_t first,
                   std::size_t count, std::span<std::uint32_t> sums, unsigned threads);
}  // namespace detail
}  // namespace buda::numerics

#pragma GCC visibility pop
