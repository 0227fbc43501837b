// SPDX-License-Identifier: Apache-2.0
// One call of oneDNN for each block.
#include <buda/ops/dnnl/product.hpp>

#include <buda/ops/dnnl/one_openmp_thread.hpp>

#include <dnnl.h>

namespace buda::ops {

bool product_by_dnnl(const ProductBlock& p) {
  OneOpenMpThread one;
  const float* a = p.a + (p.a_transposed ? p.row : p.row * p.k);
  const float* b = p.b + (p.b_transposed ? p.col * p.k : p.col);
  return dnnl_sgemm(p.a_transposed ? 'T' : 'N', p.b_transposed ? 'T' : 'N', p.rows, p.cols, p.k, 1.0f, a, p.a_transposed ? p.m : p.k, b,
                    p.b_transposed ? p.k : p.n, 0.0f, p.c + p.row * p.n + p.col, p.n) == dnnl_success;
}

}  // namespace buda::ops
