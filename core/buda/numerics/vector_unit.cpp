// SPDX-License-Identifier: Apache-2.0
// The vector unit for any processor, in vectors of four lanes. And the choice among all.
#include <buda/numerics/kernels.hpp>
#include <buda/numerics/vector_unit.hpp>

namespace buda::numerics {
namespace {

struct Portable {
  using Ints [[gnu::vector_size(16)]] = std::int32_t;
  using Unsigned [[gnu::vector_size(16)]] = std::uint32_t;
  using Floats [[gnu::vector_size(16)]] = float;
  using Wides [[gnu::vector_size(16)]] = std::uint64_t;

  static bool any(Ints v) {
    const Wides w = __builtin_bit_cast(Wides, v);
    return (w[0] | w[1]) != 0;
  }
};

using Chosen = VectorMachine<Portable>;

std::uint32_t as_word(float value) {
  std::uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}

}  // namespace

const VectorUnit& portable_vector_unit() {
  static constexpr VectorUnit unit = Chosen::unit("portable");
  return unit;
}

void reset_vector_state(VectorState& state) {
  state = {};
  const std::uint32_t constants[] = {0x3f56594bu, 0, as_word(1), as_word(-1), 0x3b000000u, 0xbf2cc4c7u, 0xbeb08ff9u};
  for (std::size_t lane = 0; lane < kVectorLanes; ++lane) {
    for (std::size_t r = 0; r < 7; ++r) state.registers[8 + r][lane] = static_cast<std::int32_t>(constants[r]);
    state.registers[15][lane] = static_cast<std::int32_t>(2 * lane);
  }
}

void seed_random(VectorState& state, std::uint32_t seed) {
  for (std::size_t i = 0; i < kVectorLanes; ++i) seed = Chosen::next_random(seed);
  for (std::size_t i = 0; i < kVectorLanes; ++i) {
    seed = Chosen::next_random(Chosen::next_random(seed));
    state.random[kVectorLanes - 1 - i] = seed;
  }
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
    if (const VectorUnit* unit = runnable_avx512_vector_unit(); unit != nullptr && may_use(InstructionSet::avx512)) return *unit;
    if (const VectorUnit* unit = runnable_avx2_vector_unit(); unit != nullptr && may_use(InstructionSet::avx2)) return *unit;
    return portable_vector_unit();
  }();
  return best;
}

}  // namespace buda::numerics
