// SPDX-License-Identifier: Apache-2.0
// Convolutions: small ones by hand or from PyTorch, large ones (oneDNN) against the sum that defines them.
#include "running.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

namespace buda::ops {
namespace {

// Small integers, so that sums are exact in fp32 whatever their order.
Tensor pattern(Shape shape, std::int64_t modulus, std::int64_t shift) {
  std::vector<float> v(static_cast<std::size_t>(*shape.volume()));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(static_cast<std::int64_t>(i * 7) % modulus - shift);
  return Tensor(std::move(shape), std::move(v));
}

TEST(Conv, OneAxisByHand) {
  Tensor x = f32({1, 1, 5}, {1, 2, 3, 4, 5}), w = f32({1, 1, 3}, {1, 0, -1}), b = f32({1}, {10});
  expect_near(run("conv1d", {x, w}), {1, 1, 3}, {-2, -2, -2});
  expect_near(run("conv1d", {x, w, b}, {{"padding", Ints{1, 2}}, {"stride", Ints{2}}}), {1, 1, 3}, {8, 8, 14});
  expect_near(run("conv1d", {x, w}, {{"dilation", Ints{2}}}), {1, 1, 1}, {-4});
}

TEST(Conv, TwoAxesWithEverything) {
  // torch.nn.functional.conv2d(pad(x, (1, 0, 0, 2)), w, b, stride=(2, 1), dilation=(1, 2), groups=2)
  Tensor x = counting({1, 2, 4, 4}), w = f32({2, 1, 2, 2}, {1, -1, 2, 0.5, 0, 1, 1, -2}), b = f32({2}, {0.5, -1});
  expect_near(run("conv2d", {x, w, b},
                  {{"stride", Ints{2, 1}}, {"dilation", Ints{1, 2}}, {"groups", std::int64_t{2}}, {"padding", Ints{0, 1, 2, 0}}}),
              {1, 2, 3, 3}, {2, 9.5, 12, -2, 29.5, 32, 0.5, 0.5, 0.5, -26, -7, -7, -34, -7, -7, -1, -1, -1});
}

TEST(Conv, ThreeAxesSumTheirWindow) {
  expect_near(run("conv3d", {counting({1, 1, 2, 2, 3}), f32({1, 1, 2, 2, 2}, std::vector<float>(8, 1))}), {1, 1, 1, 1, 2}, {40, 48});
}

TEST(Conv, IntegersAreExact) {
  Tensor x(Shape{1, 1, 3}, std::vector<std::int32_t>{2000000001, 3, -5}), w(Shape{1, 1, 2}, std::vector<std::int32_t>{1, -7});
  EXPECT_EQ(elements<std::int32_t>(run("conv1d", {x, w})), (std::vector<std::int32_t>{1999999980, 38}));
}

// The definition, one element after the other.
double defined(const Tensor& x, const Tensor& w, std::int64_t n, std::int64_t c, std::int64_t oh, std::int64_t ow, std::int64_t stride,
               std::int64_t pad) {
  auto xs = x.as<float>(), ws = w.as<float>();
  const Shape &a = x.shape(), &b = w.shape();
  double sum = 0;
  for (std::int64_t i = 0; i < b[1]; ++i)
    for (std::int64_t kh = 0; kh < b[2]; ++kh)
      for (std::int64_t kw = 0; kw < b[3]; ++kw) {
        std::int64_t h = oh * stride + kh - pad, v = ow * stride + kw - pad;
        if (h < 0 || h >= a[2] || v < 0 || v >= a[3]) continue;
        sum += static_cast<double>(xs[static_cast<std::size_t>(((n * a[1] + i) * a[2] + h) * a[3] + v)]) *
               static_cast<double>(ws[static_cast<std::size_t>(((c * b[1] + i) * b[2] + kh) * b[3] + kw)]);
      }
  return sum;
}

// Enough work for oneDNN, with channels cut into pieces and samples not, and the other way round.
TEST(Conv, LargeOnesWithAnyNumberOfThreads) {
  for (std::int64_t samples : {1, 5}) {
    Tensor x = pattern({samples, 32, 30, 31}, 11, 5), w = pattern({128, 32, 3, 3}, 5, 2);
    AttrMap attrs{{"stride", Ints{2, 2}}, {"padding", Ints{1, 1, 1, 1}}};
    auto one = try_run(Level::tensor, "conv2d", {x, w}, attrs, 1), four = try_run(Level::tensor, "conv2d", {x, w}, attrs, 4);
    ASSERT_TRUE(one && four);
    EXPECT_TRUE(*one == *four);
    ASSERT_EQ(one->shape(), (Shape{samples, 128, 15, 16}));
    auto y = one->as<float>();
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(y.size()); i += 97)
      ASSERT_EQ(static_cast<double>(y[static_cast<std::size_t>(i)]),
                defined(x, w, i / (128 * 240), i / 240 % 128, i / 16 % 15, i % 16, 2, 1))
          << i;
  }
}

// Groups, a bias and a third axis, large enough for oneDNN: against the same convolution in fp64, which is a product of matrices.
TEST(Conv, BothWaysAgree) {
  struct Case {
    const char* op;
    Shape x, weights;
    AttrMap attrs;
  };
  const Case cases[] = {
      {"conv1d", {1, 64, 900}, {128, 64, 7}, {{"dilation", Ints{2}}, {"padding", Ints{5, 0}}}},
      {"conv2d", {2, 64, 40, 40}, {64, 16, 3, 3}, {{"groups", std::int64_t{4}}, {"padding", Ints{1, 0, 0, 2}}}},
      {"conv3d", {1, 8, 12, 14, 16}, {64, 8, 3, 3, 2}, {{"stride", Ints{1, 2, 1}}}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.op);
    Tensor x = pattern(c.x, 11, 5), w = pattern(c.weights, 5, 2), b = pattern({c.weights[0]}, 7, 3);
    Tensor fast = run(c.op, {x, w, b}, c.attrs);
    Tensor plain = run(c.op, {x.cast(DType::f64), w.cast(DType::f64), b.cast(DType::f64)}, c.attrs);
    EXPECT_TRUE(fast == plain.cast(DType::f32));  // sums of small integers are exact
  }
}

TEST(Conv, TransposedByHand) {
  Tensor x = f32({1, 1, 3}, {1, 2, 3}), w = f32({1, 1, 2}, {10, 1});
  expect_near(run("conv1d_transpose", {x, w}), {1, 1, 4}, {10, 21, 32, 3});
  expect_near(run("conv1d_transpose", {x, w}, {{"stride", Ints{3}}, {"padding", Ints{1, 0}}, {"output_padding", Ints{1}}}), {1, 1, 8},
              {1, 0, 20, 2, 0, 30, 3, 0});
  expect_near(run("conv1d_transpose", {x, w, f32({1}, {0.5})}, {{"dilation", Ints{2}}}), {1, 1, 5}, {10.5, 20.5, 31.5, 2.5, 3.5});
}

TEST(Conv, TransposedOfGroupsAndSamples) {
  // torch.nn.functional.conv_transpose2d(x, w, stride=2, groups=2)
  Tensor x = counting({2, 2, 1, 2}), w = f32({2, 2, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  expect_near(run("conv2d_transpose", {x, w}, {{"stride", Ints{2, 2}}, {"groups", std::int64_t{2}}}), {2, 4, 1, 4},
              {0, 0, 1, 2, 0, 0, 3, 4, 10, 12, 15, 18, 14, 16, 21, 24, 4, 8, 5, 10, 12, 16, 15, 20, 30, 36, 35, 42, 42, 48, 49, 56});
}

TEST(Conv, EmptyOnes) {
  EXPECT_EQ(run("conv1d", {f32({0, 2, 4}, {}), f32({3, 2, 2}, std::vector<float>(12, 1))}).shape(), (Shape{0, 3, 3}));
  expect_near(run("conv1d", {f32({1, 0, 3}, {}), f32({1, 0, 2}, {})}), {1, 1, 2}, {0, 0});
}

TEST(Conv, Refusals) {
  Tensor x = counting({1, 4, 5, 5}), w = counting({2, 2, 3, 3});
  EXPECT_EQ(error_of("conv2d", {x, w}), "OP003: the weights [2, 2, 3, 3] are for 2 input channels per group; the input [1, 4, 5, 5] has 4");
  EXPECT_EQ(error_of("conv2d", {x, w}, {{"groups", std::int64_t{3}}}), "OP003: 4 input and 2 output channels cannot be cut into 3 groups");
  EXPECT_EQ(error_of("conv1d", {x, w}), "OP003: the input is [1, 4, 5, 5]; it needs 3 axes: two and then 1 for the window");
  AttrMap groups{{"groups", std::int64_t{2}}};
  EXPECT_EQ(error_of("conv2d", {x, w, f32({1}, {0})}, groups), "OP003: the bias is [1]; it needs one number for each of 2 channels");
  AttrMap wrong = groups;
  wrong["stride"] = Ints{1};
  EXPECT_EQ(error_of("conv2d", {x, w}, wrong), "OP003: 'stride' [1] needs 2 numbers here");
  wrong["stride"] = Ints{1, 0};
  EXPECT_EQ(error_of("conv2d", {x, w}, wrong), "OP003: 'stride' [1, 0] has 0; 1 to 1073741824 is possible");
  wrong["stride"] = Ints{1, 1};
  wrong["dilation"] = Ints{1, 3};
  EXPECT_EQ(error_of("conv2d", {x, w}, wrong),
            "OP003: a window of 7 elements does not fit into axis 3 of [1, 4, 5, 5], which has 5 with padding");
}

TEST(Conv, Flops) {
  const OpDef* conv = standard_ops().find(Level::tensor, "conv2d");
  const OpDef* transposed = standard_ops().find(Level::tensor, "conv2d_transpose");
  std::vector<ValueType> in{{DType::f32, {1, 4, 8, 8}, {}}, {DType::f32, {6, 4, 3, 3}, {}}}, out{{DType::f32, {1, 6, 6, 6}, {}}};
  EXPECT_EQ(flops(*conv, in, out, {}), 2.0 * 6 * 36 * 36);
  std::vector<ValueType> up{{DType::f32, {1, 4, 8, 8}, {}}, {DType::f32, {4, 5, 2, 2}, {}}};
  EXPECT_EQ(flops(*transposed, up, out, {}), 2.0 * 4 * 64 * 5 * 4);
}

}  // namespace
}  // namespace buda::ops
