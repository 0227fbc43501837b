// SPDX-License-Identifier: Apache-2.0
// The kernel for processors with AVX-512: 8 rows of 32 columns in 16 registers. Compiled with that instruction set, so it includes nothing
// whose inline functions another file might use.
#include <buda/arith/gemm_kernel.hpp>

#if defined(__AVX512F__)
#include <immintrin.h>

namespace buda::arith::detail {
namespace {

constexpr int kRows = 8;
constexpr int kVectors = 2;

inline __m512 round_bf16(__m512 v) {
  __m512i bits = _mm512_castps_si512(v);
  __m512i rounded = _mm512_and_si512(_mm512_add_epi32(bits, _mm512_set1_epi32(0x8000)), _mm512_set1_epi32(static_cast<int>(0xffff0000u)));
  __m512i magnitude = _mm512_and_si512(bits, _mm512_set1_epi32(0x7fffffff));
  __mmask16 nan = _mm512_cmpgt_epi32_mask(magnitude, _mm512_set1_epi32(0x7f800000));
  return _mm512_castsi512_ps(_mm512_mask_mov_epi32(rounded, nan, bits));
}

inline __m512 round_fp16(__m512 v) {
  __m512i bits = _mm512_castps_si512(v);
  __m512i sign = _mm512_and_si512(bits, _mm512_set1_epi32(static_cast<int>(0x80000000u)));
  __m512i magnitude = _mm512_and_si512(bits, _mm512_set1_epi32(0x7fffffff));
  magnitude = _mm512_and_si512(_mm512_add_epi32(magnitude, _mm512_set1_epi32(0x1000)), _mm512_set1_epi32(static_cast<int>(0xffffe000u)));
  magnitude = _mm512_min_epu32(magnitude, _mm512_set1_epi32(0x47ffe000));
  __mmask16 tiny = _mm512_cmplt_epi32_mask(magnitude, _mm512_set1_epi32(0x38800000));
  return _mm512_castsi512_ps(_mm512_or_si512(sign, _mm512_mask_mov_epi32(magnitude, tiny, _mm512_setzero_si512())));
}

void run(const float* a, const float* b, float* c, std::size_t ldc, std::size_t k, DestRounding rounding) {
  __m512 sum[kRows][kVectors];
  for (int i = 0; i < kRows; ++i)
    for (int v = 0; v < kVectors; ++v) sum[i][v] = _mm512_loadu_ps(c + static_cast<std::size_t>(i) * ldc + v * 16);
  for (std::size_t p = 0; p < k; ++p, a += kRows, b += kVectors * 16) {
    __m512 right[kVectors] = {_mm512_loadu_ps(b), _mm512_loadu_ps(b + 16)};
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      __m512 left = _mm512_set1_ps(a[i]);
      for (int v = 0; v < kVectors; ++v) sum[i][v] = _mm512_fmadd_ps(left, right[v], sum[i][v]);
    }
  }
  for (int i = 0; i < kRows; ++i) {
    for (int v = 0; v < kVectors; ++v) {
      __m512 x = sum[i][v];
      if (rounding == DestRounding::bf16) x = round_bf16(x);
      if (rounding == DestRounding::fp16) x = round_fp16(x);
      _mm512_storeu_ps(c + static_cast<std::size_t>(i) * ldc + v * 16, x);
    }
  }
}

}  // namespace

const Kernel* avx512_kernel() {
  static constexpr Kernel kernel = {kRows, kVectors * 16, &run, "avx512"};
  return &kernel;
}

}  // namespace buda::arith::detail
#else
namespace buda::arith::detail {
const Kernel* avx512_kernel() { return nullptr; }
}  // namespace buda::arith::detail
#endif
