// SPDX-License-Identifier: Apache-2.0
// Reductions.
#include <buda/tensor/tensor.hpp>

#include "running.hpp"

#include <limits>

namespace buda::ops {
namespace {

TEST(Reduce, AlongEachAxis) {
  Tensor x = counting({2, 3, 4});
  expect_near(run("reduce_sum", {x}, {{"dims", Ints{1}}}), {2, 1, 4}, {12, 15, 18, 21, 48, 51, 54, 57});
  expect_near(run("reduce_sum", {x}, {{"dims", Ints{-1}}, {"keep_dims", false}}), {2, 3}, {6, 22, 38, 54, 70, 86});
  expect_near(run("reduce_sum", {x}, {{"dims", Ints{2, 0}}}), {1, 3, 1}, {60, 92, 124});
  expect_near(run("reduce_avg", {x}, {{"dims", Ints{0}}, {"keep_dims", false}}), {3, 4}, {6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17});
  expect_near(run("reduce_max", {x}, {{"dims", Ints{1, 2}}}), {2, 1, 1}, {11, 23});
  expect_near(run("reduce_sum", {x}), {1, 1, 1}, {276});
  expect_near(run("reduce_max", {f32({}, {-3})}), {}, {-3});
}

TEST(Reduce, SumsInFp64) {
  // 2^24 + 1 + 1 + … : fp32 would stay at 2^24.
  std::vector<float> v(1001, 1.0f);
  v[0] = 16777216.0f;
  EXPECT_EQ(run("reduce_sum", {f32({1001}, v)}).as<float>()[0], 16778216.0f);
}

TEST(Reduce, ThreadsDoNotMatter) {
  Tensor x = counting({50, 70, 60});
  for (Ints dims : {Ints{0}, Ints{1}, Ints{2}, Ints{0, 2}}) {
    auto one = try_run(Level::tensor, "reduce_avg", {x}, {{"dims", dims}}, 1),
         four = try_run(Level::tensor, "reduce_avg", {x}, {{"dims", dims}}, 4);
    ASSERT_TRUE(one && four);
    EXPECT_EQ(*one, *four);
  }
}

TEST(Reduce, NothingAndNan) {
  expect_near(run("reduce_sum", {f32({0, 2}, {})}, {{"dims", Ints{0}}}), {1, 2}, {0, 0});
  EXPECT_EQ(run("reduce_max", {f32({0}, {})}).as<float>()[0], -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(run("reduce_max", {f32({3}, {1, NAN, 2})}).as<float>()[0]));
  EXPECT_TRUE(std::isnan(run("reduce_avg", {f32({0}, {})}).as<float>()[0]));
}

TEST(Reduce, IntegersAreExact) {
  Tensor x = i64({3}, {(1LL << 53) + 1, 2, -4});
  EXPECT_EQ(run("reduce_sum", {x}).as<std::int64_t>()[0], (1LL << 53) - 1);
  EXPECT_EQ(run("reduce_avg", {i64({2}, {-3, 0})}).as<std::int64_t>()[0], -1);
  EXPECT_EQ(run("reduce_max", {x}).as<std::int64_t>()[0], (1LL << 53) + 1);
}

TEST(Reduce, Refusals) {
  Tensor x = counting({2, 3});
  EXPECT_EQ(error_of("reduce_sum", {x}, {{"dims", Ints{2}}}), "OP003: there is no axis 2 in a value of shape [2, 3]; it has axes -2 to 1");
  EXPECT_EQ(error_of("reduce_sum", {x}, {{"dims", Ints{0, -2}}}), "OP003: axis 0 is named twice in [0, -2]");
  EXPECT_EQ(error_of("reduce_sum", {x}, {{"dims", std::int64_t{1}}}),
            "OP002: attribute 'dims' of 'reduce_sum' is a list of integers, not an integer 1");
}

}  // namespace
}  // namespace buda::ops
