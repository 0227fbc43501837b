// SPDX-License-Identifier: Apache-2.0
// Operations that move elements.
#include <buda/tensor/tensor.hpp>

#include "running.hpp"

#include <limits>

namespace buda::ops {
namespace {

TEST(Movement, Reshape) {
  Tensor x = counting({2, 6});
  Tensor y = run("reshape", {x}, {{"shape", Ints{3, -1}}});
  EXPECT_EQ(y.shape(), (Shape{3, 4}));
  EXPECT_EQ(y.bytes().data(), x.bytes().data());
  EXPECT_EQ(run("reshape", {counting({1})}, {{"shape", Ints{}}}).shape(), Shape{});
  EXPECT_EQ(run("reshape", {f32({0, 3}, {})}, {{"shape", Ints{3, 0}}}).shape(), (Shape{3, 0}));
  EXPECT_EQ(error_of("reshape", {x}, {{"shape", Ints{5, -1}}}),
            "OP003: a value of shape [2, 6] has 12 elements and cannot take the shape [5, -1]");
  EXPECT_EQ(error_of("reshape", {x}, {{"shape", Ints{-1, -1}}}), "OP003: the shape [-1, -1] has more than one size of -1");
  EXPECT_EQ(error_of("reshape", {x}, {{"shape", Ints{-2, -6}}}), "OP003: the shape [-2, -6] is impossible");
  EXPECT_EQ(error_of("reshape", {f32({0}, {})}, {{"shape", Ints{0, -1}}}),
            "OP003: a value of shape [0] has 0 elements and cannot take the shape [0, -1]");
}

TEST(Movement, Transpose) {
  // np.arange(6).reshape(1,2,3).transpose(2,0,1)
  expect_near(run("transpose", {counting({1, 2, 3})}, {{"perm", Ints{2, 0, 1}}}), {3, 1, 2}, {0, 3, 1, 4, 2, 5});
  Tensor wide(Shape{2, 2}, std::vector<std::uint16_t>{1, 2, 3, 4});
  auto turned = run("transpose", {wide}, {{"perm", Ints{-1, -2}}});
  EXPECT_EQ(turned.as<std::uint16_t>()[1], 3);
  EXPECT_EQ(error_of("transpose", {counting({2, 3})}, {{"perm", Ints{0, 0}}}), "OP003: axis 0 occurs twice in the permutation [0, 0]");
  EXPECT_EQ(error_of("transpose", {counting({2, 3})}, {{"perm", Ints{0}}}),
            "OP003: the permutation [0] must name every axis of [2, 3] once");
}

TEST(Movement, LargeTransposeWithThreads) {
  Tensor x = counting({130, 7, 150});
  auto one = try_run(Level::tensor, "transpose", {x}, {{"perm", Ints{2, 1, 0}}}, 1);
  auto four = try_run(Level::tensor, "transpose", {x}, {{"perm", Ints{2, 1, 0}}}, 4);
  ASSERT_TRUE(one && four);
  EXPECT_EQ(*one, *four);
  auto v = one->as<float>();
  for (std::size_t k = 0; k < 150; k += 13)
    for (std::size_t j = 0; j < 7; ++j)
      for (std::size_t i = 0; i < 130; i += 11) ASSERT_EQ(v[(k * 7 + j) * 130 + i], static_cast<float>((i * 7 + j) * 150 + k));
}

TEST(Movement, SqueezeAndUnsqueeze) {
  Tensor x = counting({1, 3, 1, 2});
  EXPECT_EQ(run("squeeze", {x}).shape(), (Shape{3, 2}));
  EXPECT_EQ(run("squeeze", {x}, {{"dims", Ints{-2}}}).shape(), (Shape{1, 3, 2}));
  EXPECT_EQ(run("unsqueeze", {counting({3, 2})}, {{"dims", Ints{0, -1}}}).shape(), (Shape{1, 3, 2, 1}));
  EXPECT_EQ(run("unsqueeze", {f32({}, {1})}, {{"dims", Ints{0}}}).shape(), (Shape{1}));
  EXPECT_EQ(error_of("squeeze", {x}, {{"dims", Ints{1}}}), "OP003: axis 1 of [1, 3, 1, 2] has size 3; only axes of size 1 can be removed");
}

TEST(Movement, Broadcast) {
  expect_near(run("broadcast", {f32({2, 1}, {1, 2})}, {{"shape", Ints{2, 2, 3}}}), {2, 2, 3}, {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2});
  EXPECT_EQ(error_of("broadcast", {f32({2}, {1, 2})}, {{"shape", Ints{1}}}), "OP003: a value of shape [2] cannot be broadcast to [1]");
  EXPECT_EQ(error_of("broadcast", {f32({1}, {1})}, {{"shape", Ints{-1}}}), "OP003: a value of shape [1] cannot be broadcast to [-1]");
  // A result of 4 EiB: an error, not an attempt.
  EXPECT_EQ(error_of("broadcast", {f32({1}, {1})}, {{"shape", Ints{1LL << 30, 1LL << 30}}}).substr(0, 5), "OP006");
  EXPECT_EQ(error_of("broadcast", {f32({1}, {1})}, {{"shape", Ints{1LL << 31, 1LL << 30, 1}}}).substr(0, 5), "OP003");
}

TEST(Movement, SliceAsPython) {
  Tensor x = counting({10});
  auto sliced = [&](std::int64_t start, std::int64_t stop, std::int64_t step) {
    return run("slice", {x}, {{"dims", Ints{0}}, {"starts", Ints{start}}, {"stops", Ints{stop}}, {"steps", Ints{step}}}).to_f32();
  };
  constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max(), kBack = std::numeric_limits<std::int64_t>::min();
  using V = std::vector<float>;
  EXPECT_EQ(sliced(2, 5, 1), (V{2, 3, 4}));
  EXPECT_EQ(sliced(-3, kFar, 1), (V{7, 8, 9}));
  EXPECT_EQ(sliced(1, -1, 3), (V{1, 4, 7}));
  EXPECT_EQ(sliced(kFar, kBack, -4), (V{9, 5, 1}));
  EXPECT_EQ(sliced(-1, 0, -1), (V{9, 8, 7, 6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(sliced(5, 2, 1), V{});
  EXPECT_EQ(sliced(0, kFar, kFar), V{0});
  EXPECT_EQ(sliced(9, kBack, kBack), V{9});
  expect_near(
      run("slice", {counting({3, 4})}, {{"dims", Ints{1, 0}}, {"starts", Ints{1, 2}}, {"stops", Ints{3, 0}}, {"steps", Ints{1, -1}}}),
      {2, 2}, {9, 10, 5, 6});
  EXPECT_EQ(error_of("slice", {x}, {{"dims", Ints{0}}, {"starts", Ints{0}}, {"stops", Ints{1}}, {"steps", Ints{0}}}),
            "OP003: the step along axis 0 must not be 0");
  EXPECT_EQ(error_of("slice", {x}, {{"dims", Ints{0, 0}}, {"starts", Ints{0, 0}}, {"stops", Ints{1, 1}}}), "OP003: axis 0 is sliced twice");
}

TEST(Movement, Concatenate) {
  expect_near(run("concatenate", {counting({2, 1}), counting({2, 2}), f32({2, 0}, {})}, {{"dim", std::int64_t{-1}}}), {2, 3},
              {0, 0, 1, 1, 2, 3});
  expect_near(run("concatenate", {counting({1, 2}), counting({2, 2})}, {{"dim", std::int64_t{0}}}), {3, 2}, {0, 1, 0, 1, 2, 3});
  EXPECT_EQ(error_of("concatenate", {counting({2, 1}), counting({1, 1})}, {{"dim", std::int64_t{1}}}),
            "OP003: input 1 of shape [1, 1] does not continue [2, 1] along axis 1: all other sizes must be equal");
  EXPECT_EQ(error_of("concatenate", {counting({1})}), "OP002: 'concatenate' needs the attribute 'dim' (the axis, negative from the end)");
}

TEST(Movement, Pad) {
  expect_near(run("pad", {counting({2, 2})}, {{"before", Ints{1, 0}}, {"after", Ints{0, 2}}, {"value", -1.0}}), {3, 4},
              {-1, -1, -1, -1, 0, 1, -1, -1, 2, 3, -1, -1});
  Tensor whole = run("pad", {i32({1}, {5})}, {{"before", Ints{1}}, {"after", Ints{0}}, {"value", 7.9}});
  EXPECT_EQ(whole.as<std::int32_t>()[0], 7);
  EXPECT_EQ(error_of("pad", {counting({2})}, {{"before", Ints{-1}}, {"after", Ints{0}}}),
            "OP003: padding must not be negative; a slice removes elements");
  EXPECT_EQ(error_of("pad", {counting({2})}, {{"before", Ints{std::numeric_limits<std::int64_t>::max()}}, {"after", Ints{1}}}),
            "OP003: the result is too large");
}

}  // namespace
}  // namespace buda::ops
