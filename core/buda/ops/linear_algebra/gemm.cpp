// SPDX-License-Identifier: Apache-2.0
// Matrix products: oneDNN for large ones in fp32, plain loops for the rest.
//
// On its first call in a process oneDNN generates machine code, which takes 45 ms; from then on it is fast even for small matrices
// (measured on an AVX-512 EPYC: 60 to 110 Gflop/s on one core from 0.5 Mflop on, against 5 of the loop). Below some millions of operations
// a plain loop takes less than a millisecond, and a small model shall not wait for code that it hardly uses.
//
// Threads. The work is cut into blocks that depend on the shape alone (one_openmp_thread.hpp says why). Blocks of 128 rows cost a few
// percent against one call for all.
#include <buda/ops/linear_algebra/gemm.hpp>

#include <buda/base/parallel.hpp>
#include <buda/ops/dnnl/functions.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace buda::ops {
namespace {

constexpr double kPlainBelow = 2e6;  // floating-point operations
constexpr std::int64_t kBlockRows = 128;
constexpr std::int64_t kBlockCols = 1024;

struct Extent {
  std::int64_t m, n, k;
};

// Rows [row, row + rows) of the result. The innermost loop runs along rows of b and c, so that it can use vector instructions; each
// element of c is a sum in the order of k.
template <class T>
void plain_rows(const Extent& e, Matrix<T> a, const T* b, T* c, std::int64_t row, std::int64_t rows) {
  for (std::int64_t i = row; i < row + rows; ++i) {
    T* out = c + i * e.n;
    std::fill(out, out + e.n, T{0});
    for (std::int64_t k = 0; k < e.k; ++k) {
      T factor = a.transposed ? a.data[k * e.m + i] : a.data[i * e.k + k];
      const T* in = b + k * e.n;
      for (std::int64_t j = 0; j < e.n; ++j) out[j] += factor * in[j];
    }
  }
}

template <class T>
void plain(const Extent& e, Matrix<T> a, Matrix<T> b, T* c, unsigned threads) {
  std::vector<T> turned;
  if (b.transposed) {
    turned.resize(static_cast<std::size_t>(e.k * e.n));
    for (std::int64_t j = 0; j < e.n; ++j)
      for (std::int64_t k = 0; k < e.k; ++k) turned[static_cast<std::size_t>(k * e.n + j)] = b.data[j * e.k + k];
  }
  const T* rows_of_b = b.transposed ? turned.data() : b.data;
  constexpr std::int64_t kRows = 16;
  parallel_for(threads, static_cast<std::size_t>((e.m + kRows - 1) / kRows), [&](std::size_t i) {
    std::int64_t row = static_cast<std::int64_t>(i) * kRows;
    plain_rows(e, a, rows_of_b, c, row, std::min(kRows, e.m - row));
  });
}

bool by_dnnl(const Extent& e, Matrix<float> a, Matrix<float> b, float* c, unsigned threads) {
  // Few rows: blocks of columns give several threads something to do.
  bool by_rows = e.m > kBlockRows;
  std::int64_t block = by_rows ? kBlockRows : kBlockCols, size = by_rows ? e.m : e.n;
  auto blocks = static_cast<std::size_t>((size + block - 1) / block);
  std::vector<char> done(blocks, 0);
  const DnnlFunctions& dnnl = dnnl_functions();
  parallel_for(threads, blocks, [&](std::size_t i) {
    std::int64_t at = static_cast<std::int64_t>(i) * block, length = std::min(block, size - at);
    ProductBlock part{e.m, e.n, e.k, a.data, b.data, c, a.transposed, b.transposed, 0, 0, e.m, e.n};
    (by_rows ? part.row : part.col) = at;
    (by_rows ? part.rows : part.cols) = length;
    done[i] = dnnl.product(part);
  });
  return std::all_of(done.begin(), done.end(), [](char d) { return d != 0; });
}

}  // namespace

void gemm(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<float> a, Matrix<float> b, float* c, unsigned threads) {
  Extent e{m, n, k};
  bool small = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) < kPlainBelow;
  if (small || !by_dnnl(e, a, b, c, threads)) plain(e, a, b, c, threads);
}

void gemm(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<double> a, Matrix<double> b, double* c, unsigned threads) {
  plain({m, n, k}, a, b, c, threads);
}

void gemm(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<std::uint64_t> a, Matrix<std::uint64_t> b, std::uint64_t* c,
          unsigned threads) {
  plain({m, n, k}, a, b, c, threads);
}

}  // namespace buda::ops
