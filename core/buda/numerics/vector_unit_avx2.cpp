// The vector unit for processors with AVX2, in vectors of 8 lanes. Compiled with that instruction set, so it includes nothing whose
// inline functions another file might use.
#include <buda/numerics/vector_unit.hpp>

namespace buda::numerics {
#if defined(__AVX2__)
namespace {

using Ints [[gnu::vector_size(32)]] = std::int32_t;
using Unsigned [[gnu::vector_size(32)]] = std::uint32_t;
using Floats [[gnu::vector_size(32)]] = float;
using Chosen = VectorMachine<Ints, Unsigned, Floats>;

}  // namespace

const VectorUnit* avx2_vector_unit() {
  static constexpr VectorUnit unit = Chosen::unit("avx2");
  return &unit;
}
#else
const VectorUnit* avx2_vector_unit() { return nullptr; }
#endif
}  // namespace buda::numerics
