// SPDX-License-Identifier: Apache-2.0
// Batch and local response normalisation against numbers worked out by hand.
#include <buda/tensor/tensor.hpp>

#include "running.hpp"

namespace buda::ops {
namespace {

TEST(BatchNorm, ByChannel) {
  Tensor x = f32({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  std::vector<Tensor> in{x, f32({2}, {2, 1}), f32({2}, {0, 10}), f32({2}, {1, 3}), f32({2}, {3, 0.24})};
  expect_near(run("batchnorm", in, {{"epsilon", 1.0}}), {2, 2, 2},
              {0, 1, 10, 10 + 1 / std::sqrt(1.24), 4, 5, 10 + 4 / std::sqrt(1.24), 10 + 5 / std::sqrt(1.24)});
  in[4] = f32({1}, {1});
  EXPECT_EQ(error_of("batchnorm", in), "OP003: the variance is [1]; it needs one number for each of 2 channels");
}

TEST(Lrn, NeighbouringChannels) {
  Tensor x = f32({1, 4, 1}, {1, 2, 3, 4});
  AttrMap attrs{{"size", std::int64_t{3}}, {"alpha", 3.0}, {"beta", 1.0}, {"bias", 2.0}};
  expect_near(run("lrn", {x}, attrs), {1, 4, 1}, {1.0 / 7, 2.0 / 16, 3.0 / 31, 4.0 / 27});
  // Of an even size the longer half lies behind.
  attrs["size"] = std::int64_t{2};
  attrs["alpha"] = 2.0;
  expect_near(run("lrn", {x}, attrs), {1, 4, 1}, {1.0 / 7, 2.0 / 15, 3.0 / 27, 4.0 / 18});
  attrs["size"] = std::int64_t{1} << 62;
  attrs["alpha"] = 0.0;
  expect_near(run("lrn", {x}, attrs), {1, 4, 1}, {0.5, 1, 1.5, 2});
  attrs["size"] = std::int64_t{0};
  EXPECT_EQ(error_of("lrn", {x}, attrs), "OP003: a neighbourhood of 0 channels is impossible");
}

}  // namespace
}  // namespace buda::ops
