// SPDX-License-Identifier: Apache-2.0
// The vector unit for processors with AVX2, in vectors of 8 lanes. Compiled with that instruction set, so it includes nothing whose
// inline functions another file might use.
#include <buda/numerics/vector_unit.hpp>

#if defined(__AVX2__)
#include <immintrin.h>

namespace buda::numerics {
namespace {

struct Avx2 {
  using Ints [[gnu::vector_size(32)]] = std::int32_t;
  using Unsigned [[gnu::vector_size(32)]] = std::uint32_t;
  using Floats [[gnu::vector_size(32)]] = float;
  using Wides [[gnu::vector_size(32)]] = std::uint64_t;

  static bool any(Ints v) { return _mm256_testz_si256(__builtin_bit_cast(__m256i, v), __builtin_bit_cast(__m256i, v)) == 0; }
};

using Chosen = VectorMachine<Avx2>;

}  // namespace

const VectorUnit* avx2_vector_unit() {
  static constexpr VectorUnit unit = Chosen::unit("avx2");
  return &unit;
}

}  // namespace buda::numerics
#else
namespace buda::numerics {
const VectorUnit* avx2_vector_unit() { return nullptr; }
}  // namespace buda::numerics
#endif
