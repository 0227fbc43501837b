// The choice among kernels.
#include <buda/numerics/kernels.hpp>

namespace buda::numerics {
namespace {

bool portable_only = false;

}  // namespace

void use_portable_versions() { portable_only = true; }
bool uses_portable_versions() { return portable_only; }

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
    if (portable_only) return portable_kernels();
    if (const Kernels* k = runnable_avx512_kernels()) return *k;
    if (const Kernels* k = runnable_avx2_kernels()) return *k;
    return portable_kernels();
  }();
  return best;
}

}  // namespace buda::numerics
