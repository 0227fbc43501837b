// SPDX-License-Identifier: Apache-2.0
// Blocked matrix multiplication after Goto and van de Geijn ("Anatomy of high-performance matrix multiplication", 2008): B is packed into
// panels as wide as a kernel's block, A into panels as high, so that the kernel reads both in sequence; an inner block of kInner rows keeps
// a panel of B (32 kB for 32 columns) in the first cache and a block of A in the second.
#include <buda/arith/gemm.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/parallel.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

namespace buda::arith {
namespace detail {
namespace {

constexpr std::size_t kInner = 256;  // k of one block; steps are divisors of it in practice, others still work
constexpr std::size_t kRows = 64;    // of a task
constexpr std::size_t kCols = 512;   // of a task
// Work below which threads cost more than they bring.
constexpr std::size_t kSmall = 1u << 21;

// Columns [j, j + width) of rows [k0, k0 + k), filled up with zeros.
void pack_b(const Gemm& g, std::size_t k0, std::size_t k, std::size_t j, std::size_t width, float* to) {
  std::size_t there = std::min(width, g.n - j);
  const float* row = g.b + k0 * g.ldb + j;
  // The width of most panels, known to the compiler: a call for each row costs as much as the copying.
  constexpr std::size_t kUsual = 32;
  if (there == kUsual && width == kUsual) {
    for (std::size_t p = 0; p < k; ++p) std::memcpy(to + p * kUsual, row + p * g.ldb, kUsual * sizeof(float));
    return;
  }
  for (std::size_t p = 0; p < k; ++p) {
    const float* from = row + p * g.ldb;
    std::copy_n(from, there, to + p * width);
    std::fill_n(to + p * width + there, width - there, 0.0f);
  }
}

void pack_a(const Gemm& g, std::size_t i, std::size_t height, std::size_t k0, std::size_t k, float* to) {
  std::size_t there = std::min(height, g.m - i);
  for (std::size_t y = 0; y < height; ++y) {
    const float* from = g.a + (i + std::min(y, there - 1)) * g.lda + k0;
    for (std::size_t p = 0; p < k; ++p) to[p * height + y] = y < there ? from[p] : 0.0f;
  }
}

// One block of C; where it hangs over the edge of C, in a place of its own.
void block(const Kernel& kernel, const Gemm& g, const float* a, const float* b, std::size_t i, std::size_t j, std::size_t k) {
  float* c = g.c + i * g.ldc + j;
  std::size_t rows = std::min(kernel.rows, g.m - i), cols = std::min(kernel.cols, g.n - j);
  bool whole = rows == kernel.rows && cols == kernel.cols;
  std::array<float, 16 * 64> edge{};
  if (!whole)
    for (std::size_t y = 0; y < rows; ++y) std::copy_n(c + y * g.ldc, cols, edge.data() + y * kernel.cols);
  for (std::size_t p = 0; p < k; p += g.step)
    kernel.run(a + p * kernel.rows, b + p * kernel.cols, whole ? c : edge.data(), whole ? g.ldc : kernel.cols, std::min(g.step, k - p),
               g.rounding);
  if (!whole)
    for (std::size_t y = 0; y < rows; ++y) std::copy_n(edge.data() + y * kernel.cols, cols, c + y * g.ldc);
}

// Memory for a packed B, kept for the next product of this thread unless it is large: fresh pages cost as much as filling them.
class PanelMemory {
 public:
  float* get(std::size_t numbers) {
    if (numbers > size_) {
      memory_ = std::make_unique_for_overwrite<float[]>(numbers);
      size_ = numbers;
    }
    return memory_.get();
  }
  void release() {
    if (size_ <= kMaxKeptElements) return;
    memory_.reset();
    size_ = 0;
  }

 private:
  static constexpr std::size_t kMaxKeptElements = std::size_t{1} << 24;  // 64 MB
  std::unique_ptr<float[]> memory_;
  std::size_t size_ = 0;
};

}  // namespace

void gemm_with(const Kernel& kernel, const Gemm& g, unsigned threads) {
  if (g.m == 0 || g.n == 0 || g.k == 0) return;
  if (g.m * g.n * g.k < kSmall) threads = 1;
  // A block of the inner dimension holds whole steps, so that the places of rounding do not depend on blocking.
  const std::size_t inner = g.step >= kInner ? g.step : kInner / g.step * g.step;
  const std::size_t panels = ceil_div(g.n, kernel.cols);
  thread_local PanelMemory memory;
  float* const b = memory.get(panels * kernel.cols * g.k);
  parallel_for(threads, panels, [&](std::size_t j) {
    for (std::size_t k0 = 0; k0 < g.k; k0 += inner)
      pack_b(g, k0, std::min(inner, g.k - k0), j * kernel.cols, kernel.cols,
             b + (k0 * panels + j * std::min(inner, g.k - k0)) * kernel.cols);
  });
  const std::size_t panels_per_task = kCols / kernel.cols;
  const std::size_t row_tasks = ceil_div(g.m, kRows), col_tasks = ceil_div(panels, panels_per_task);
  parallel_for(threads, row_tasks * col_tasks, [&](std::size_t task) {
    const std::size_t i0 = task / col_tasks * kRows, i1 = std::min(g.m, i0 + kRows);
    const std::size_t j0 = task % col_tasks * panels_per_task, j1 = std::min(panels, j0 + panels_per_task);
    std::vector<float> a(kRows * std::min(inner, g.k));
    for (std::size_t k0 = 0; k0 < g.k; k0 += inner) {
      const std::size_t k = std::min(inner, g.k - k0);
      for (std::size_t i = i0; i < i1; i += kernel.rows) pack_a(g, i, kernel.rows, k0, k, a.data() + (i - i0) * k);
      for (std::size_t j = j0; j < j1; ++j) {
        const float* panel = b + (k0 * panels + j * k) * kernel.cols;
        for (std::size_t i = i0; i < i1; i += kernel.rows) block(kernel, g, a.data() + (i - i0) * k, panel, i, j * kernel.cols, k);
      }
    }
  });
  memory.release();
}

const Kernel& best_kernel() {
#if defined(__x86_64__)
  if (avx512_kernel() != nullptr && __builtin_cpu_supports("avx512f")) return *avx512_kernel();
  if (avx2_kernel() != nullptr && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return *avx2_kernel();
#endif
  return portable_kernel();
}

}  // namespace detail

void gemm(const Gemm& g, unsigned threads) {
  static const detail::Kernel& kernel = detail::best_kernel();
  detail::gemm_with(kernel, g, threads);
}

}  // namespace buda::arith
