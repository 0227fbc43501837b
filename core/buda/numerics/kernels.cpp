// SPDX-License-Identifier: Apache-2.0
// The choice among kernels.
#include <buda/numerics/kernels.hpp>

namespace buda::numerics {
namespace {

InstructionSet most = InstructionSet::avx512;

}  // namespace

void use_at_most(InstructionSet set) { most = set; }
bool may_use(InstructionSet set) { return set <= most; }

const Kernels* runnable_avx2_kernels() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return avx2_kernels();
#endif
  return nullptr;
}

const Kernels* runnable_avx512_kernels() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return avx512_kernels();
#endif
  return nullptr;
}

const Kernels& best_kernels() {
  static const Kernels& best = [&]() -> const Kernels& {
    if (const Kernels* k = runnable_avx512_kernels(); k != nullptr && may_use(InstructionSet::avx512)) return *k;
    if (const Kernels* k = runnable_avx2_kernels(); k != nullptr && may_use(InstructionSet::avx2)) return *k;
    return portable_kernels();
  }();
  return best;
}

}  // namespace buda::numerics
