// SPDX-License-Identifier: Apache-2.0
// The kernel for processors with AVX2 and FMA: 4 rows of 16 columns in 8 registers. Compiled with these instruction sets, so it includes
// nothing whose inline functions another file might use.
#include <buda/arith/gemm_kernel.hpp>

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>

namespace buda::arith::detail {
namespace {

constexpr int kRows = 4;
constexpr int kVectors = 2;

inline __m256i all(std::uint32_t v) { return _mm256_set1_epi32(static_cast<int>(v)); }

inline __m256 round_bf16(__m256 v) {
  __m256i bits = _mm256_castps_si256(v);
  __m256i rounded = _mm256_and_si256(_mm256_add_epi32(bits, all(0x8000)), all(0xffff0000u));
  __m256i nan = _mm256_cmpgt_epi32(_mm256_and_si256(bits, all(0x7fffffff)), all(0x7f800000));
  return _mm256_castsi256_ps(_mm256_blendv_epi8(rounded, bits, nan));
}

inline __m256 round_fp16(__m256 v) {
  __m256i bits = _mm256_castps_si256(v);
  __m256i sign = _mm256_and_si256(bits, all(0x80000000u));
  __m256i magnitude = _mm256_and_si256(_mm256_add_epi32(_mm256_and_si256(bits, all(0x7fffffff)), all(0x1000)), all(0xffffe000u));
  magnitude = _mm256_min_epu32(magnitude, all(0x47ffe000));
  __m256i tiny = _mm256_cmpgt_epi32(all(0x38800000), magnitude);
  return _mm256_castsi256_ps(_mm256_or_si256(sign, _mm256_andnot_si256(tiny, magnitude)));
}

void run(const float* a, const float* b, float* c, std::size_t ldc, std::size_t k, DestRounding rounding) {
  __m256 sum[kRows][kVectors];
  for (int i = 0; i < kRows; ++i)
    for (int v = 0; v < kVectors; ++v) sum[i][v] = _mm256_loadu_ps(c + static_cast<std::size_t>(i) * ldc + v * 8);
  for (std::size_t p = 0; p < k; ++p, a += kRows, b += kVectors * 8) {
    __m256 right[kVectors] = {_mm256_loadu_ps(b), _mm256_loadu_ps(b + 8)};
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) {
      __m256 left = _mm256_broadcast_ss(a + i);
      for (int v = 0; v < kVectors; ++v) sum[i][v] = _mm256_fmadd_ps(left, right[v], sum[i][v]);
    }
  }
  for (int i = 0; i < kRows; ++i) {
    for (int v = 0; v < kVectors; ++v) {
      __m256 x = sum[i][v];
      if (rounding == DestRounding::bf16) x = round_bf16(x);
      if (rounding == DestRounding::fp16) x = round_fp16(x);
      _mm256_storeu_ps(c + static_cast<std::size_t>(i) * ldc + v * 8, x);
    }
  }
}

}  // namespace

const Kernel* avx2_kernel() {
  static constexpr Kernel kernel = {kRows, kVectors * 8, &run, "avx2"};
  return &kernel;
}

}  // namespace buda::arith::detail
#else
namespace buda::arith::detail {
const Kernel* avx2_kernel() { return nullptr; }
}  // namespace buda::arith::detail
#endif
