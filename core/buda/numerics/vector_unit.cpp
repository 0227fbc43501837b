// The vector unit for any processor, in vectors of four lanes. And the choice among all.
#include <buda/numerics/vector_unit.hpp>

namespace buda::numerics {
namespace {

using Ints [[gnu::vector_size(16)]] = std::int32_t;
using Unsigned [[gnu::vector_size(16)]] = std::uint32_t;
using Floats [[gnu::vector_size(16)]] = float;
using Chosen = VectorPrograms<Ints, Unsigned, Floats>;

}  // namespace

const VectorUnit& portable_vector_unit() {
  static constexpr VectorUnit unit = {"portable", &Chosen::apply, &Chosen::mad_all};
  return unit;
}

const VectorUnit* runnable_avx2_vector_unit() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return avx2_vector_unit();
#endif
  return nullptr;
}

const VectorUnit* runnable_avx512_vector_unit() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return avx512_vector_unit();
#endif
  return nullptr;
}

const VectorUnit& best_vector_unit() {
  static const VectorUnit& best = []() -> const VectorUnit& {
    if (const VectorUnit* unit = runnable_avx512_vector_unit()) return *unit;
    if (const VectorUnit* unit = runnable_avx2_vector_unit()) return *unit;
    return portable_vector_unit();
  }();
  return best;
}

}  // namespace buda::numerics
