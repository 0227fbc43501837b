// SPDX-License-Identifier: Apache-2.0
// The kernel for every processor: fused multiply-adds one by one. Where the processor has none the library computes them, slowly, with the
// same result.
#include <buda/arith/gemm_kernel.hpp>
#include <buda/arith/precision.hpp>

#include <cmath>

namespace buda::arith::detail {
namespace {

constexpr std::size_t kTileRows = 4;
constexpr std::size_t kTileCols = 16;

void run(const float* a, const float* b, float* c, std::size_t ldc, std::size_t k, DestRounding rounding) {
  for (std::size_t i = 0; i < kTileRows; ++i) {
    float sum[kTileCols];
    for (std::size_t j = 0; j < kTileCols; ++j) sum[j] = c[i * ldc + j];
    for (std::size_t p = 0; p < k; ++p)
      for (std::size_t j = 0; j < kTileCols; ++j) sum[j] = std::fma(a[p * kTileRows + i], b[p * kTileCols + j], sum[j]);
    round_in_dest(rounding, sum);
    for (std::size_t j = 0; j < kTileCols; ++j) c[i * ldc + j] = sum[j];
  }
}

}  // namespace

const Kernel& portable_kernel() {
  static constexpr Kernel kernel = {kTileRows, kTileCols, &run, "portable"};
  return kernel;
}

}  // namespace buda::arith::detail
