// SPDX-License-Identifier: Apache-2.0
// Matrix multiplication: right, and the same to the last bit on every path.
#include <buda/arith/gemm.hpp>
#include <buda/arith/precision.hpp>
#include <buda/base/rng.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

namespace buda::arith {
namespace {

std::vector<float> numbers(std::size_t count, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> out(count);
  for (float& v : out) v = static_cast<float>(rng.uniform(-1, 1));
  return out;
}

// The definition, as the header gives it.
std::vector<float> expected(const Gemm& g) {
  std::vector<float> c(g.c, g.c + g.m * g.ldc);
  for (std::size_t i = 0; i < g.m; ++i)
    for (std::size_t j = 0; j < g.n; ++j)
      for (std::size_t p = 0; p < g.k; ++p) {
        float& sum = c[i * g.ldc + j];
        sum = std::fma(g.a[i * g.lda + p], g.b[p * g.ldb + j], sum);
        if ((p + 1) % g.step == 0 || p + 1 == g.k) round_in_dest(g.rounding, {&sum, 1});
      }
  return c;
}

struct Sizes {
  std::size_t m, n, k, step;
};

class GemmPaths : public testing::TestWithParam<Sizes> {};

TEST_P(GemmPaths, AllGiveTheBitsOfTheDefinition) {
  const auto [m, n, k, step] = GetParam();
  for (DestRounding rounding : {DestRounding::none, DestRounding::bf16, DestRounding::fp16}) {
    // Rows are longer than needed, to see that only the wanted part is touched.
    auto a = numbers(m * (k + 3), 1), b = numbers(k * (n + 5), 2), c = numbers(m * (n + 1), 3);
    round_in_dest(rounding, c);
    Gemm g{m, n, k, a.data(), k + 3, b.data(), n + 5, c.data(), n + 1, step, rounding};
    const auto want = expected(g);
    std::vector<const detail::Kernel*> kernels = {&detail::portable_kernel(), &detail::best_kernel()};
    if (detail::avx2_kernel() != nullptr && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
      kernels.push_back(detail::avx2_kernel());
    for (const auto* kernel : kernels) {
      for (unsigned threads : {1u, 3u}) {
        auto result = c;
        Gemm run = g;
        run.c = result.data();
        detail::gemm_with(*kernel, run, threads);
        EXPECT_EQ(std::memcmp(result.data(), want.data(), want.size() * sizeof(float)), 0)
            << kernel->name << ' ' << m << 'x' << n << 'x' << k << " threads " << threads;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, GemmPaths,
                         testing::Values(Sizes{1, 1, 1, 32}, Sizes{32, 32, 32, 32}, Sizes{1, 16, 64, 32}, Sizes{33, 47, 70, 32},
                                         Sizes{65, 513, 40, 64}, Sizes{16, 32, 600, 256}, Sizes{5, 700, 300, 100}));

TEST(Gemm, NothingToAdd) {
  std::vector<float> c = {1, 2};
  gemm({1, 2, 0, nullptr, 0, nullptr, 2, c.data(), 2, 32, DestRounding::none}, 1);
  EXPECT_EQ(c, (std::vector<float>{1, 2}));
}

}  // namespace
}  // namespace buda::arith
