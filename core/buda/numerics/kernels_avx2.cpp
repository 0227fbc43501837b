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

  // 2^(13 - distance), 0 for distances above 13 or so: by a table of bytes, 2^7 to 2^0 and zeros, that is asked for the lower byte at
  // distance - 6 and for the upper one at distance + 2. Negative places give 0. At distance 13 itself mulhrs gives 0, too.
  static Shorts power(Shorts distance) {
    const __m256i d = _mm256_min_epi16(__builtin_bit_cast(__m256i, distance), _mm256_set1_epi16(13));
    const __m256i place = _mm256_add_epi8(_mm256_or_si256(d, _mm256_slli_epi16(d, 8)), _mm256_set1_epi16(0x02fa));
    const __m256i table = _mm256_broadcastsi128_si256(_mm_setr_epi8(-128, 64, 32, 16, 8, 4, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0));
    return __builtin_bit_cast(Shorts, _mm256_shuffle_epi8(table, place));
  }

  static Shorts quotient(Shorts product, Shorts distance) { return mulhrs(product + (product >> 15), power(distance)); }

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
