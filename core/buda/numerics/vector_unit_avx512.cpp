// SPDX-License-Identifier: Apache-2.0
// The vector unit for processors with AVX-512, in vectors of 16 lanes. Compiled with that instruction set, so it includes nothing whose
// inline functions another file might use.
#include <buda/numerics/vector_unit.hpp>

#if defined(__AVX512BW__)
#include <immintrin.h>

namespace buda::numerics {
namespace {

struct Avx512 {
  using Ints [[gnu::vector_size(64)]] = std::int32_t;
  using Unsigned [[gnu::vector_size(64)]] = std::uint32_t;
  using Floats [[gnu::vector_size(64)]] = float;
  using Wides [[gnu::vector_size(64)]] = std::uint64_t;

  static bool any(Ints v) { return _mm512_test_epi32_mask(__builtin_bit_cast(__m512i, v), __builtin_bit_cast(__m512i, v)) != 0; }
};

using Chosen = VectorMachine<Avx512>;

}  // namespace

const VectorUnit* avx512_vector_unit() {
  static constexpr VectorUnit unit = Chosen::unit("avx512");
  return &unit;
}

}  // namespace buda::numerics
#else
namespace buda::numerics {
const VectorUnit* avx512_vector_unit() { return nullptr; }
}  // namespace buda::numerics
#endif
