// The kernels for any processor: number by number. And the choice among all.
#include <buda/numerics/kernels.hpp>
#include <buda/numerics/matrix_unit.hpp>

#include <algorithm>
#include <cstdlib>

namespace buda::numerics {
namespace {

// A group's sum from operands that are taken apart.
Term sum_of_group(const MvmulStep& s, std::size_t row, std::size_t col, std::size_t first) {
  const std::int16_t *be = s.b_exponents + row * s.b_stride, *bs = s.b_slices + row * s.b_stride;
  int largest = std::max(0, s.adjustment);
  for (std::size_t i = first; i < first + kGroup; ++i) largest = std::max(largest, s.a_exponents[i * kPanel + col] + be[i] + s.adjustment);
  if (largest == 0) return {};
  std::int32_t sum = 0;
  for (std::size_t i = first; i < first + kGroup; ++i) {
    const int product = s.a_slices[i * kPanel + col] / 4 * bs[i];
    const int distance = largest - (s.a_exponents[i * kPanel + col] + be[i] + s.adjustment);
    const int magnitude = std::abs(product), half = distance == 0 ? 0 : 1 << (std::min(distance, 20) - 1);
    const int aligned = (magnitude + half) >> std::min(distance, 20);
    sum += product < 0 ? -aligned : aligned;
  }
  return {largest, sum * (1 << 13)};
}

void run_mvmul(const MvmulStep& s) {
  for (std::size_t row = 0; row < s.rows; ++row)
    for (std::size_t col = 0; col < kPanel; ++col) {
      std::uint32_t& number = s.dest[row * kPanel + col];
      number = accumulate(s.form, sum_of_group(s, row, col, 0), sum_of_group(s, row, col, kGroup), number);
    }
}

void run_elwmul(const Elementwise& e) {
  for (std::size_t i = 0; i < e.count; ++i) e.dest[i] = elwmul({e.source, e.form, e.phase}, e.a[i], e.b[i], e.dest[i]);
}

void run_elwadd(const Elementwise& e, bool accumulates) {
  for (std::size_t i = 0; i < e.count; ++i) e.dest[i] = elwadd(e.source, e.form, e.a[i], e.b[i], accumulates ? e.dest[i] : 0);
}

bool portable_only = false;

}  // namespace

void use_portable_versions() { portable_only = true; }
bool uses_portable_versions() { return portable_only; }

const Kernels& portable_kernels() {
  static constexpr Kernels kernels = {"portable", &run_mvmul, &run_elwmul, &run_elwadd};
  return kernels;
}

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
