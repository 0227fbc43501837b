// SPDX-License-Identifier: Apache-2.0
// The kernels for processors with AVX2. Compiled with that instruction set, so it includes nothing whose inline functions another file
// might use.
#include <buda/numerics/vector_kernels.hpp>

#if defined(__AVX2__)
#include <immintrin.h>

namespace buda::numerics {
namespace {

struct Avx2 {
  using Shorts [[gnu::vector_size(32)]] = std::int16_t;
  using Ints [[gnu::vector_size(32)]] = std::int32_t;
  using Unsigned [[gnu::vector_size(32)]] = std::uint32_t;
  using Floats [[gnu::vector_size(32)]] = float;

  static Shorts mulhrs(Shorts a, Shorts b) {
    return __builtin_bit_cast(Shorts, _mm256_mulhrs_epi16(__builtin_bit_cast(__m256i, a), __builtin_bit_cast(__m256i, b)));
  }

  static Shorts quotient(Shorts product, Shorts power) { return mulhrs(product + (product >> 15), power); }

  // The sum of two. Powers 2^(13 - distance), 0 for larger distances, come from tables of their upper and of their lower bytes, which are
  // asked for both products at once; places of 128 and more give 0. At distance 13 itself mulhrs gives 0, too.
  static Shorts quotients(Shorts product0, Shorts distance0, Shorts product1, Shorts distance1) {
    const __m256i bytes = _mm256_packus_epi16(__builtin_bit_cast(__m256i, distance0), __builtin_bit_cast(__m256i, distance1));
    const __m256i places = _mm256_adds_epu8(bytes, _mm256_set1_epi8(0x70));
    const __m256i upper = _mm256_broadcastsi128_si256(_mm_setr_epi8(32, 16, 8, 4, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
    const __m256i lower = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 0, 0, 0, 0, 0, -128, 64, 32, 16, 8, 4, 2, 1, 0, 0));
    const __m256i u = _mm256_shuffle_epi8(upper, places), l = _mm256_shuffle_epi8(lower, places);
    return quotient(product0, __builtin_bit_cast(Shorts, _mm256_unpacklo_epi8(l, u))) +
           quotient(product1, __builtin_bit_cast(Shorts, _mm256_unpackhi_epi8(l, u)));
  }

  static Ints low(Shorts v) {
    return __builtin_bit_cast(Ints, _mm256_cvtepi16_epi32(_mm256_castsi256_si128(__builtin_bit_cast(__m256i, v))));
  }
  static Ints high(Shorts v) {
    return __builtin_bit_cast(Ints, _mm256_cvtepi16_epi32(_mm256_extracti128_si256(__builtin_bit_cast(__m256i, v), 1)));
  }
};

}  // namespace

const Kernels* avx2_kernels() {
  using Chosen = VectorKernels<Avx2>;
  static constexpr Kernels kernels = {"avx2", &Chosen::mvmul, &Chosen::elwmul, &Chosen::elwadd};
  return &kernels;
}

}  // namespace buda::numerics
#else
namespace buda::numerics {
const Kernels* avx2_kernels() { return nullptr; }
}  // namespace buda::numerics
#endif
