// SPDX-License-Identifier: Apache-2.0
// C += A B on matrices of float32, with the rounding of a destination register in between.
#pragma once

#include <buda/arith/gemm_kernel.hpp>

#include <cstddef>

namespace buda::arith {

// Row-major matrices A (m x k), B (k x n), C (m x n); ld is the distance between rows. After every `step` of the inner dimension C is
// rounded. Each number of C is a chain of fused multiply-adds in the order of k, whatever the vector width or the number of threads: the
// same bits on every machine.
struct Gemm {
  std::size_t m = 0, n = 0, k = 0;
  const float* a = nullptr;
  std::size_t lda = 0;
  const float* b = nullptr;
  std::size_t ldb = 0;
  float* c = nullptr;
  std::size_t ldc = 0;
  std::size_t step = 32;
  DestRounding rounding = DestRounding::none;
};

void gemm(const Gemm& g, unsigned threads);

namespace detail {
// For tests: gemm with a given kernel.
void gemm_with(const Kernel& kernel, const Gemm& g, unsigned threads);
}  // namespace detail
}  // namespace buda::arith
