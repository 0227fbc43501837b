// SPDX-License-Identifier: Apache-2.0
// Softmax and layer normalisation against values from PyTorch (float64).
#include <buda/tensor/tensor.hpp>

#include "running.hpp"

namespace buda::ops {
namespace {

const Tensor kNnX = f32({2, 3}, {1, 2, 3, 4, 5, 6.5});

TEST(Softmax, AlongEachAxis) {
  expect_near(run("softmax", {kNnX}, {{"dim", std::int64_t{1}}}), {2, 3},
              {0.0900305732, 0.244728471, 0.665240956, 0.0628900132, 0.17095278, 0.766157207});
  expect_near(run("softmax", {kNnX}, {{"dim", std::int64_t{-2}}}), {2, 3},
              {0.0474258732, 0.0474258732, 0.0293122308, 0.952574127, 0.952574127, 0.970687769});
  expect_near(run("log_softmax", {kNnX}, {{"dim", std::int64_t{1}}}), {2, 3},
              {-2.40760596, -1.40760596, -0.407605964, -2.7663679, -1.7663679, -0.2663679});
}

TEST(Softmax, StableUnlessToldOtherwise) {
  Tensor big = f32({3}, {1000, 1001, 999});
  expect_near(run("softmax", {big}, {{"dim", std::int64_t{0}}}), {3}, {0.244728471, 0.665240956, 0.0900305732});
  EXPECT_TRUE(std::isnan(run("softmax", {big}, {{"dim", std::int64_t{0}}, {"stable", false}}).as<float>()[0]));
  expect_near(run("softmax", {kNnX}, {{"dim", std::int64_t{1}}, {"stable", false}}), {2, 3},
              {0.0900305732, 0.244728471, 0.665240956, 0.0628900132, 0.17095278, 0.766157207});
}

TEST(Softmax, ManyLinesWithThreads) {
  Tensor x = counting({40, 50, 60});
  for (std::int64_t dim : {0, 1, 2}) {
    auto one = try_run(Level::tensor, "softmax", {x}, {{"dim", dim}}, 1), four = try_run(Level::tensor, "softmax", {x}, {{"dim", dim}}, 4);
    ASSERT_TRUE(one && four);
    EXPECT_EQ(*one, *four);
    Tensor sums = run("reduce_sum", {*one}, {{"dims", Ints{dim}}});
    for (float s : sums.as<float>()) ASSERT_NEAR(s, 1, 1e-6);
  }
  EXPECT_EQ(run("softmax", {f32({2, 0}, {})}, {{"dim", std::int64_t{1}}}).shape(), (Shape{2, 0}));
}

TEST(Layernorm, LastAxisAndSeveralAxes) {
  Tensor w = f32({3}, {1, 2, 0.5}), b = f32({3}, {0, 1, -1});
  expect_near(run("layernorm", {kNnX, w, b}), {2, 3}, {-1.22473569, 1.0, -0.387632157, -1.13554457, 0.675558695, -0.351117389});
  expect_near(run("layernorm", {kNnX}, {{"dim", std::int64_t{0}}, {"epsilon", 1e-3}}), {2, 3},
              {-1.40742857, -0.862617508, -0.31780645, 0.227004607, 0.771815665, 1.58903225});
}

TEST(Layernorm, Refusals) {
  EXPECT_EQ(error_of("layernorm", {kNnX, f32({2}, {1, 2})}),
            "OP003: the weights [2] do not broadcast to what is normalised, which is of shape [3]");
  EXPECT_EQ(error_of("softmax", {f32({}, {1})}, {{"dim", std::int64_t{0}}}),
            "OP003: there is no axis 0 in a value of shape []; it has none");
  EXPECT_EQ(error_of("softmax", {i64({1}, {1})}, {{"dim", std::int64_t{0}}}), "OP004: a floating-point type is needed, not I64");
}

}  // namespace
}  // namespace buda::ops
