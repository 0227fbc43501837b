// SPDX-License-Identifier: Apache-2.0
// Pools: by hand, or from PyTorch where a comment says so.
#include <buda/ops/table/evaluate_call.hpp>

#include "running.hpp"

#include <limits>

namespace buda::ops {
namespace {

TEST(MaxPool, WindowsPaddingAndDilation) {
  Tensor x = f32({1, 1, 6}, {-3, -1, -4, -1, -5, -9});
  expect_near(run("max_pool1d", {x}, {{"kernel", Ints{2}}, {"stride", Ints{2}}}), {1, 1, 3}, {-1, -1, -5});
  // Padding never wins, not even against negative numbers.
  expect_near(run("max_pool1d", {x}, {{"kernel", Ints{3}}, {"stride", Ints{3}}, {"padding", Ints{2, 1}}}), {1, 1, 3}, {-3, -1, -5});
  expect_near(run("max_pool1d", {x}, {{"kernel", Ints{2}}, {"dilation", Ints{3}}}), {1, 1, 3}, {-1, -1, -4});
  Tensor nan = f32({1, 1, 3}, {1, std::nanf(""), 2});
  auto y = elements<float>(run("max_pool1d", {nan}, {{"kernel", Ints{2}}}));
  EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]));
}

TEST(MaxPool, CeilModeDropsWindowsThatBeginInPadding) {
  Tensor x = counting({1, 1, 5});
  expect_near(run("max_pool1d", {x}, {{"kernel", Ints{2}}, {"stride", Ints{2}}, {"ceil_mode", true}}), {1, 1, 3}, {1, 3, 4});
  // torch.nn.functional.max_pool1d(x, 2, 3, 1, ceil_mode=True) has 2 windows.
  expect_near(run("max_pool1d", {x}, {{"kernel", Ints{2}}, {"stride", Ints{3}}, {"padding", Ints{1, 1}}, {"ceil_mode", true}}), {1, 1, 2},
              {0, 3});
}

TEST(MaxPool, IndicesInBothOrders) {
  const OpDef* def = standard_ops().find(Level::tensor, "max_pool2d");
  Tensor x = f32({1, 2, 2, 3}, {1, 5, 2, 4, 3, 5, 0, 0, 0, 9, 0, 9});
  for (bool column : {false, true}) {
    auto results = evaluate(*def, std::vector<Tensor>{x},
                            {{"kernel", Ints{2, 2}}, {"indices", std::string(column ? "column_major" : "row_major")}}, 2);
    ASSERT_TRUE(results);
    ASSERT_EQ(results->size(), 2u);
    expect_near((*results)[0], {1, 2, 1, 2}, {5, 5, 9, 9});
    // Of equal elements the first counts.
    EXPECT_EQ(elements<std::int64_t>((*results)[1]), column ? (Ints{2, 2, 7, 11}) : (Ints{1, 1, 9, 11}));
  }
}

TEST(MaxPool, OfBytes) {
  Tensor x(Shape{1, 1, 4}, std::vector<std::uint8_t>{1, 255, 7, 0});
  EXPECT_EQ(elements<std::uint8_t>(run("max_pool1d", {x}, {{"kernel", Ints{2}}, {"stride", Ints{2}}})),
            (std::vector<std::uint8_t>{255, 7}));
}

TEST(AvgPool, WhatCounts) {
  Tensor x = f32({1, 1, 4}, {2, 4, 6, 9});
  AttrMap attrs{{"kernel", Ints{3}}, {"stride", Ints{2}}, {"padding", Ints{1, 1}}};
  expect_near(run("avg_pool1d", {x}, attrs), {1, 1, 2}, {2, 19.0 / 3});
  attrs["count_include_pad"] = false;
  expect_near(run("avg_pool1d", {x}, attrs), {1, 1, 2}, {3, 19.0 / 3});
  attrs["divisor_override"] = 2.0;
  expect_near(run("avg_pool1d", {x}, attrs), {1, 1, 2}, {3, 9.5});
  // torch.nn.functional.avg_pool1d(x, 3, 2, 1, ceil_mode=True): the last window has elements 3 and 4, of which one is padding.
  expect_near(run("avg_pool1d", {x}, {{"kernel", Ints{3}}, {"stride", Ints{2}}, {"padding", Ints{1, 1}}, {"ceil_mode", true}}), {1, 1, 3},
              {2, 19.0 / 3, 4.5});
}

TEST(AvgPool, TwoAndThreeAxes) {
  expect_near(run("avg_pool2d", {counting({1, 1, 3, 4})}, {{"kernel", Ints{2, 3}}, {"stride", Ints{1, 1}}}), {1, 1, 2, 2}, {3, 4, 7, 8});
  expect_near(run("avg_pool3d", {counting({1, 2, 2, 2, 2})}, {{"kernel", Ints{2, 2, 2}}}), {1, 2, 1, 1, 1}, {3.5, 11.5});
}

TEST(Pool, ThreadsAndEmptyOnes) {
  Tensor x = counting({2, 16, 20, 21});
  AttrMap attrs{{"kernel", Ints{3, 3}}, {"stride", Ints{2, 2}}, {"padding", Ints{1, 1, 1, 1}}};
  for (const char* op : {"max_pool2d", "avg_pool2d"}) {
    auto one = try_run(Level::tensor, op, {x}, attrs, 1), three = try_run(Level::tensor, op, {x}, attrs, 3);
    ASSERT_TRUE(one && three);
    EXPECT_TRUE(*one == *three);
  }
  EXPECT_EQ(run("max_pool1d", {f32({2, 0, 4}, {})}, {{"kernel", Ints{2}}}).shape(), (Shape{2, 0, 3}));
  EXPECT_EQ(elements<float>(run("max_pool1d", {f32({1, 1, 0}, {})}, {{"kernel", Ints{2}}, {"padding", Ints{1, 1}}})),
            (std::vector<float>{-std::numeric_limits<float>::infinity()}));
}

// Nearly all of these windows is padding, and taps in it cost nothing.
TEST(Pool, KernelsFarLargerThanTheirInput) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 29;
  AttrMap attrs{{"kernel", Ints{kHuge, kHuge}}, {"stride", Ints{kHuge, kHuge}}, {"padding", Ints{kHuge, kHuge, 0, 0}}};
  Tensor x = f32({1, 1, 2, 2}, {-1, -2, -3, -4});
  EXPECT_EQ(elements<float>(run("max_pool2d", {x}, attrs)), (std::vector<float>{-std::numeric_limits<float>::infinity()}));
  attrs["padding"] = Ints{kHuge - 1, kHuge - 2, 0, 0};
  EXPECT_EQ(elements<float>(run("max_pool2d", {x}, attrs)), (std::vector<float>{-1}));
  attrs["count_include_pad"] = false;
  expect_near(run("avg_pool2d", {x}, attrs), {1, 1, 1, 1}, {-1.5});
}

TEST(Pool, Refusals) {
  EXPECT_EQ(error_of("max_pool2d", {counting({1, 1, 4, 4})}, {{"kernel", Ints{2}}}), "OP003: 'kernel' [2] needs 2 numbers here");
  EXPECT_EQ(error_of("avg_pool1d", {i64({1, 1, 2}, {1, 2})}, {{"kernel", Ints{2}}}), "OP004: a floating-point type is needed, not I64");
  EXPECT_EQ(error_of("max_pool1d", {counting({1, 1, 4})}, {{"kernel", Ints{0}}}), "OP003: a window of [0] elements is impossible");
}

TEST(MaxUnpool, PutsElementsBack) {
  Tensor x = f32({1, 1, 3}, {7, 8, 9});
  expect_near(run("max_unpool", {x, i64({1, 1, 3}, {4, 0, 1})}, {{"shape", Ints{1, 1, 5}}}), {1, 1, 5}, {8, 9, 0, 0, 7});
  EXPECT_EQ(error_of("max_unpool", {x, i64({1, 1, 3}, {4, 0, 5})}, {{"shape", Ints{1, 1, 5}}}),
            "OP003: index 2 is 5; the result has 5 elements");
  EXPECT_EQ(error_of("max_unpool", {x, i64({3}, {4, 0, 5})}, {{"shape", Ints{1, 1, 5}}}),
            "OP003: the indices are [3]; each element of x [1, 1, 3] needs one");
}

}  // namespace
}  // namespace buda::ops
