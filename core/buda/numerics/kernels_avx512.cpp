// SPDX-License-Identifier: Apache-2.0
// The kernels for processors with AVX-512 (F, BW, DQ, VL). Compiled with these instruction sets, so it includes nothing whose inline
// functions another file might use.
#include <buda/numerics/vector_kernels.hpp>

#if defined(__AVX512BW__)
#include <immintrin.h>

namespace buda::numerics {
namespace {

struct Avx512 {
  using Shorts [[gnu::vector_size(64)]] = std::int16_t;
  using Ints [[gnu::vector_size(64)]] = std::int32_t;
  using Unsigned [[gnu::vector_size(64)]] = std::uint32_t;
  using Floats [[gnu::vector_size(64)]] = float;

  static Shorts mulhrs(Shorts a, Shorts b) {
    return __builtin_bit_cast(Shorts, _mm512_mulhrs_epi16(__builtin_bit_cast(__m512i, a), __builtin_bit_cast(__m512i, b)));
  }

  // 2^(13 - distance), 0 for larger distances.
  static Shorts power(Shorts distance) {
    return __builtin_bit_cast(Shorts, _mm512_srlv_epi16(_mm512_set1_epi16(1 << 13), __builtin_bit_cast(__m512i, distance)));
  }

  static Shorts quotient(Shorts product, Shorts distance) { return mulhrs(product + (product >> 15), power(distance)); }
  static Shorts quotients(Shorts product0, Shorts distance0, Shorts product1, Shorts distance1) {
    return quotient(product0, distance0) + quotient(product1, distance1);
  }

  static Ints low(Shorts v) {
    return __builtin_bit_cast(Ints, _mm512_cvtepi16_epi32(_mm512_castsi512_si256(__builtin_bit_cast(__m512i, v))));
  }
  static Ints high(Shorts v) {
    return __builtin_bit_cast(Ints, _mm512_cvtepi16_epi32(_mm512_extracti64x4_epi64(__builtin_bit_cast(__m512i, v), 1)));
  }
};

}  // namespace

const Kernels* avx512_kernels() {
  using Chosen = VectorKernels<Avx512>;
  static constexpr Kernels kernels = {"avx512", &Chosen::mvmul, &Chosen::elwmul, &Chosen::elwadd};
  return &kernels;
}

}  // namespace buda::numerics
#else
namespace buda::numerics {
const Kernels* avx512_kernels() { return nullptr; }
}  // namespace buda::numerics
#endif
