// SPDX-License-Identifier: Apache-2.0
// Products of matrices in memory.
#pragma once

#include <cstdint>

namespace buda::ops {

// A row-major matrix of which each row is contiguous, as it lies in memory; `transposed` says that the product uses its transpose.
template <class T>
struct Matrix {
  const T* data = nullptr;
  bool transposed = false;
};

// c = a * b for row-major c of m x n, where the (perhaps transposed) a is m x k and b is k x n. Nothing is read from c. The order of
// additions depends on m, n and k alone, not on the number of threads. k = 0 gives zeros.
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<float> a, Matrix<float> b, float* c, unsigned threads);
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<double> a, Matrix<double> b, double* c, unsigned threads);
// Exact modulo 2^64.
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<std::uint64_t> a, Matrix<std::uint64_t> b, std::uint64_t* c,
          unsigned threads);

}  // namespace buda::ops
