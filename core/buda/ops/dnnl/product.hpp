// SPDX-License-Identifier: Apache-2.0
// Products of matrices in fp32, by oneDNN.
#pragma once

#include <cstdint>

namespace buda::ops {

// The block at (row, col) of c = a * b, where a is m x k and b is k x n, each row-major or transposed, and c is row-major: `rows` x `cols`.
struct ProductBlock {
  std::int64_t m = 0, n = 0, k = 0;
  const float* a = nullptr;
  const float* b = nullptr;
  float* c = nullptr;
  bool a_transposed = false, b_transposed = false;
  std::int64_t row = 0, col = 0, rows = 0, cols = 0;
};

// On the calling thread. Whether oneDNN could do it; if not, the block is not defined.
bool product_by_dnnl(const ProductBlock& block);

}  // namespace buda::ops
