// SPDX-License-Identifier: Apache-2.0
// The innermost part of matrix multiplication, in one version for each vector instruction set. Includes nothing whose inline functions
// could leak from a file compiled for one processor into code that runs on others.
#pragma once

#include <buda/tensor/formats/dest_rounding.hpp>

#include <cstddef>

namespace buda::arith::detail {

// A kernel adds the product of a packed panel of A (k columns of `rows` numbers) and one of B (k rows of `cols` numbers) to a block of C,
// which is rounded at the end.
struct Kernel {
  std::size_t rows, cols;
  void (*run)(const float* a, const float* b, float* c, std::size_t ldc, std::size_t k, DestRounding rounding);
  const char* name;
};

// Null where the file was compiled without these instructions.
const Kernel* avx512_kernel();
const Kernel* avx2_kernel();
const Kernel& portable_kernel();
// The fastest that this processor can run.
const Kernel& best_kernel();

}  // namespace buda::arith::detail
