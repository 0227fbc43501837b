// SPDX-License-Identifier: Apache-2.0
// A task is a panel of columns by a block of rows. Its part of the destination is small enough for the first cache, and each step goes
// through all of its rows with the same 16 rows of the right operand.
#include <buda/numerics/matmul.hpp>

#include <buda/base/parallel.hpp>

#include <algorithm>

namespace buda::numerics {
namespace {

constexpr std::size_t kRows = 32;  // of a task
// Products below which threads cost more than they bring.
constexpr std::size_t kSmall = 1u << 17;

std::int16_t plane_exponent(std::uint32_t word) { return is_zero(word) ? kZeroExponent : static_cast<std::int16_t>(exponent_of(word)); }

std::int16_t with_sign(std::uint32_t word, std::uint32_t slice) {
  const std::int32_t magnitude = is_zero(word) ? 0 : static_cast<std::int32_t>(slice);
  return static_cast<std::int16_t>(is_negative(word) ? -magnitude : magnitude);
}

}  // namespace

void LeftOperand::assign(std::span<const std::uint32_t> words, std::size_t inner) {
  inner_ = inner;
  for (auto* plane : {&exponents_, &high_, &low_}) plane->resize(words.size());
  std::int16_t *exponents = exponents_.data(), *high = high_.data(), *low = low_.data();
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint32_t word = words[i];
    exponents[i] = plane_exponent(word);
    high[i] = with_sign(word, slice_b(word, 0));
    low[i] = with_sign(word, slice_b(word, 2));
  }
}

void RightOperand::assign(std::span<const std::uint32_t> words, std::size_t cols) {
  cols_ = cols;
  inner_ = words.size() / cols;
  const std::size_t size = panels() * inner_ * kPanel;
  exponents_.resize(size);
  high_.resize(size);
  low_.resize(size);
  for (std::size_t k = 0; k < inner_; ++k)
    for (std::size_t first = 0; first < cols; first += kPanel) {
      const std::size_t width = std::min(kPanel, cols - first), to = (first / kPanel * inner_ + k) * kPanel;
      const std::uint32_t* from = words.data() + k * cols + first;
      std::int16_t *exponents = exponents_.data() + to, *high = high_.data() + to, *low = low_.data() + to;
      for (std::size_t j = 0; j < width; ++j) {
        const std::uint32_t word = from[j];
        exponents[j] = plane_exponent(word);
        high[j] = static_cast<std::int16_t>(4 * with_sign(word, slice_a(word, 0)));
        low[j] = static_cast<std::int16_t>(4 * with_sign(word, slice_a(word, 1)));
      }
      std::fill(exponents + width, exponents + kPanel, kZeroExponent);
      std::fill(high + width, high + kPanel, std::int16_t{0});
      std::fill(low + width, low + kPanel, std::int16_t{0});
    }
}

namespace detail {

void multiply_with(const Kernels& kernels, const Product& product, const LeftOperand& left, const RightOperand& right, std::size_t first,
                   std::size_t count, std::span<std::uint32_t> sums, unsigned threads) {
  const std::size_t rows = left.rows(), cols = right.cols(), row_tasks = (rows + kRows - 1) / kRows;
  if (rows * cols * count < kSmall) threads = 1;
  parallel_for(threads, row_tasks * right.panels(), [&](std::size_t task) {
    const std::size_t panel = task / row_tasks, row = task % row_tasks * kRows, col = panel * kPanel;
    const std::size_t height = std::min(kRows, rows - row), width = std::min(kPanel, cols - col);
    alignas(64) std::uint32_t block[kRows * kPanel] = {};
    for (std::size_t y = 0; y < height; ++y) std::copy_n(sums.data() + (row + y) * cols + col, width, block + y * kPanel);
    for (std::size_t tile = first; tile < first + count; tile += product.tile)
      for (unsigned phase : product.phases)
        for (std::size_t k = tile; k < tile + product.tile; k += kInner)
          kernels.mvmul({right.exponents(panel, k),
                         right.slices((phase & 1) != 0, panel, k),
                         left.exponents(row, k),
                         left.slices((phase & 2) != 0, row, k),
                         left.inner(),
                         {block, block + kPanel / 2},
                         kPanel,
                         height,
                         exponent_adjustment({product.source, product.dest, phase}),
                         product.dest});
    for (std::size_t y = 0; y < height; ++y) std::copy_n(block + y * kPanel, width, sums.data() + (row + y) * cols + col);
  });
}

}  // namespace detail

void multiply(const Product& product, const LeftOperand& left, const RightOperand& right, std::size_t first, std::size_t count,
              std::span<std::uint32_t> sums, unsigned threads) {
  detail::multiply_with(best_kernels(), product, left, right, first, count, sums, threads);
}

}  // namespace buda::numerics
