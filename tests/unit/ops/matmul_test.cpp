// SPDX-License-Identifier: Apache-2.0
// Matrix products against NumPy's and against sums written out.
#include "running.hpp"

#include <buda/base/rng.hpp>
#include <buda/tensor/tensor.hpp>

namespace buda::ops {
namespace {

Tensor matmul_random(const Shape& shape, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> v(static_cast<std::size_t>(*shape.volume()));
  for (float& x : v) x = static_cast<float>(rng.uniform(-1, 1));
  return Tensor(shape, std::move(v));
}

// The definition, in fp64.
std::vector<double> product(const Tensor& a, const Tensor& b, std::size_t m, std::size_t n, std::size_t k, bool ta, bool tb) {
  std::vector<double> out(m * n);
  auto x = a.as<float>(), y = b.as<float>();
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t l = 0; l < k; ++l) out[i * n + j] += double{x[ta ? l * m + i : i * k + l]} * double{y[tb ? j * k + l : l * n + j]};
  return out;
}

TEST(Matmul, BatchesBroadcastAsNumPy) {
  // np.matmul(np.arange(12).reshape(2,1,2,3), np.arange(18).reshape(3,3,2) - 5)
  Tensor a = counting({2, 1, 2, 3});
  std::vector<float> b(18);
  for (std::size_t i = 0; i < 18; ++i) b[i] = static_cast<float>(i) - 5;
  expect_near(run("matmul", {a, f32({3, 3, 2}, b)}), {2, 3, 2, 2},
              {-5, -2, -32, -20, 13, 16, 40, 52, 31, 34, 112, 124, -59, -38, -86, -56, 67, 88, 94, 124, 193, 214, 274, 304});
}

TEST(Matmul, VectorsCountAsMatrices) {
  Tensor v = f32({3}, {1, 2, 3}), m = f32({3, 2}, {1, 2, 3, 4, 5, 6});
  expect_near(run("matmul", {v, v}), {}, {14});
  expect_near(run("matmul", {v, m}), {2}, {22, 28});
  expect_near(run("matmul", {f32({2, 3}, {1, 0, 0, 0, 1, 0}), v}), {2}, {1, 2});
  expect_near(run("matmul", {f32({2, 1, 3}, {1, 0, 0, 0, 1, 0}), v}), {2, 1}, {1, 2});
}

TEST(Matmul, AddsABiasToEveryRow) {
  Tensor a = f32({2, 2}, {1, 2, 3, 4}), b = f32({2, 3}, {1, 0, 1, 0, 1, 1});
  expect_near(run("matmul", {a, b, f32({3}, {10, 20, 30})}), {2, 3}, {11, 22, 33, 13, 24, 37});
}

TEST(Matmul, EmptySums) {
  expect_near(run("matmul", {f32({2, 0}, {}), f32({0, 2}, {})}), {2, 2}, {0, 0, 0, 0});
  expect_near(run("matmul", {f32({0, 2}, {}), f32({2, 2}, {1, 2, 3, 4})}), {0, 2}, {});
}

TEST(Matmul, LargeOnesGoThroughOneDnnWithAnyNumberOfThreads) {
  Tensor a = matmul_random({300, 260}, 1), b = matmul_random({260, 150}, 2);
  auto one = try_run(Level::tensor, "matmul", {a, b}, {}, 1), three = try_run(Level::tensor, "matmul", {a, b}, {}, 3);
  ASSERT_TRUE(one && three);
  EXPECT_EQ(*one, *three);
  expect_near(*one, {300, 150}, product(a, b, 300, 150, 260, false, false), 5e-5);
  // Few rows, many columns: the other way of cutting.
  Tensor c = matmul_random({8, 512}, 3), d = matmul_random({512, 2100}, 4);
  auto wide1 = try_run(Level::tensor, "matmul", {c, d}, {}, 1), wide3 = try_run(Level::tensor, "matmul", {c, d}, {}, 3);
  ASSERT_TRUE(wide1 && wide3);
  EXPECT_EQ(*wide1, *wide3);
  expect_near(*wide1, {8, 2100}, product(c, d, 8, 2100, 512, false, false), 5e-5);
}

TEST(Gemm, TransposesInBothSizes) {
  for (std::int64_t scale : {1, 20})
    for (bool ta : {false, true})
      for (bool tb : {false, true}) {
        std::int64_t m = 7 * scale, n = 5 * scale, k = 11 * scale * (scale == 1 ? 1 : 4);
        Tensor a = matmul_random(ta ? Shape{k, m} : Shape{m, k}, 5), b = matmul_random(tb ? Shape{n, k} : Shape{k, n}, 6);
        SCOPED_TRACE(testing::Message() << m << 'x' << n << 'x' << k << ta << tb);
        expect_near(run("gemm", {a, b}, {{"trans_a", ta}, {"trans_b", tb}}), {m, n},
                    product(a, b, static_cast<std::size_t>(m), static_cast<std::size_t>(n), static_cast<std::size_t>(k), ta, tb), 5e-5);
      }
}

TEST(Gemm, ScalesAndAdds) {
  Tensor a = f32({1, 2}, {1, 2}), b = f32({2, 2}, {1, 2, 3, 4});
  expect_near(run("gemm", {a, b, f32({1}, {10})}, {{"alpha", 0.5}, {"beta", -2.0}}), {1, 2}, {-16.5, -15});
  // beta = 0 leaves c out, even where it is not finite.
  expect_near(run("gemm", {a, b, f32({1}, {INFINITY})}, {{"beta", 0.0}}), {1, 2}, {7, 10});
  auto whole = run("gemm", {i32({1, 2}, {3, 4}), i32({2, 1}, {5, 6}), i32({1, 1}, {7})}, {{"alpha", std::int64_t{2}}});
  EXPECT_EQ(whole.as<std::int32_t>()[0], 85);
}

TEST(Matmul, IntegersAreExact) {
  Tensor a = i64({1, 2}, {(1LL << 40) + 1, -3}), b = i64({2, 1}, {1LL << 20, 5});
  EXPECT_EQ(run("matmul", {a, b}).as<std::int64_t>()[0], (1LL << 60) + (1LL << 20) - 15);
}

TEST(Matmul, Refusals) {
  EXPECT_EQ(error_of("matmul", {f32({2, 3}, {1, 2, 3, 4, 5, 6}), f32({2, 3}, {1, 2, 3, 4, 5, 6})}),
            "OP003: the inner sizes of [2, 3] and [2, 3] differ: 3 and 2");
  EXPECT_EQ(error_of("matmul", {f32({}, {1}), f32({1}, {1})}), "OP003: a matrix product is not defined for scalars");
  EXPECT_EQ(error_of("matmul", {f32({1, 1}, {1}), f32({1, 1}, {1}), f32({2}, {1, 2})}),
            "OP003: the bias [2] does not broadcast to the product's shape [1, 1]");
  EXPECT_EQ(error_of("gemm", {f32({1, 1, 1}, {1}), f32({1, 1}, {1})}), "OP003: gemm takes matrices, not [1, 1, 1] and [1, 1]");
  EXPECT_EQ(error_of("gemm", {f32({2, 1}, {1, 2}), f32({2, 1}, {1, 2})}, {{"trans_b", true}, {"alhpa", 1.0}}),
            "OP002: 'gemm' has no attribute 'alhpa'");
}

}  // namespace
}  // namespace buda::ops
