// SPDX-License-Identifier: Apache-2.0
// Arguments of PyBuda's convolutions, pools and normalization, against what they stand for.
#include <buda/graph/graph.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/ops/whole_graph/windows.hpp>
#include <buda/tensor/tensor.hpp>

#include <gmock/gmock.h>

#include <cmath>
#include <functional>

namespace buda::ops {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::Pointwise;
using Ref = Builder::Ref;

Tensor waves(Shape shape) {
  std::vector<float> v(static_cast<std::size_t>(*shape.volume()));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = std::sin(static_cast<float>(7 * i + 1));
  return Tensor(std::move(shape), std::move(v));
}

Result<Tensor> computed(const Tensor& x, const std::function<Ref(Builder&, Ref)>& build) {
  Builder b("g");
  b.output("y", build(b, b.input("x", x.shape())));
  BUDA_ASSIGN(auto graph, b.finish());
  BUDA_ASSIGN(auto outputs, evaluate_graph(graph, {{"x", x}}));
  return outputs.at("y");
}

void expect_equal(const Result<Tensor>& a, const Result<Tensor>& b) {
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(a->shape(), b->shape());
  EXPECT_THAT(a->to_f32(), Pointwise(FloatNear(1e-5F), b->to_f32()));
}

TEST(Windows, PaddingThatKeepsTheSize) {
  const Tensor x = waves({1, 2, 7, 8}), w = waves({3, 2, 3, 4});
  auto same = computed(
      x, [&](Builder& b, Ref in) { return conv2d(b, in, b.parameter("w", w), {}, {.padding = Padding::same(), .dilation = {2}}); });
  // Rows: 2 * 2 in all; columns: 2 * 3 in all.
  auto sides = computed(x, [&](Builder& b, Ref in) {
    return b.conv2d(in, b.parameter("w", w), {{"padding", Builder::Dims{2, 3, 2, 3}}, {"dilation", Builder::Dims{2, 2}}});
  });
  expect_equal(same, sides);
  EXPECT_EQ(same->shape(), (Shape{1, 3, 7, 8}));
  // Seven rows: two in all; eight columns: two in all, for a kernel of four.
  auto odd =
      computed(x, [&](Builder& b, Ref in) { return conv2d(b, in, b.parameter("w", w), {}, {.stride = {2}, .padding = Padding::same()}); });
  auto odd_sides = computed(x, [&](Builder& b, Ref in) {
    return b.conv2d(in, b.parameter("w", w), {{"padding", Builder::Dims{1, 1, 1, 1}}, {"stride", Builder::Dims{2, 2}}});
  });
  expect_equal(odd, odd_sides);
  EXPECT_EQ(odd->shape(), (Shape{1, 3, 4, 4}));
}

TEST(Windows, SidesAreLeftRightTopBottom) {
  const Tensor x = waves({1, 1, 4, 4}), w = waves({1, 1, 3, 3});
  expect_equal(computed(x,
                        [&](Builder& b, Ref in) {
                          return conv2d(b, in, b.parameter("w", w), {}, {.padding = Padding({1, 2, 3, 4})});
                        }),
               computed(x, [&](Builder& b, Ref in) {
                 return b.conv2d(in, b.parameter("w", w), {{"padding", Builder::Dims{3, 1, 4, 2}}});
               }));
}

TEST(Windows, ChannelsBehindRowsAndColumns) {
  const Tensor x = waves({2, 5, 6, 4}), w = waves({4, 2, 3, 3}), bias = waves({4});
  auto last = computed(x, [&](Builder& b, Ref in) {
    auto weights = b.parameter("w", w);
    return conv2d(b, in, weights, b.parameter("bias", bias), {.stride = {2, 1}, .padding = 1, .groups = 2, .channel_last = true});
  });
  auto first = computed(x, [&](Builder& b, Ref in) {
    auto weights = b.parameter("w", w), offset = b.parameter("bias", bias);
    AttrMap attrs{{"stride", Builder::Dims{2, 1}}, {"padding", Builder::Dims{1, 1, 1, 1}}, {"groups", std::int64_t{2}}};
    return b.transpose(b.conv2d(b.transpose(in, {0, 3, 1, 2}), weights, offset, std::move(attrs)), {0, 2, 3, 1});
  });
  expect_equal(last, first);
  EXPECT_EQ(last->shape(), (Shape{2, 3, 6, 4}));
  auto pool =
      computed(x, [](Builder& b, Ref in) { return max_pool2d(b, in, {2}, {.stride = {2}, .ceil_mode = true, .channel_last = true}); });
  ASSERT_TRUE(pool);
  EXPECT_EQ(pool->shape(), (Shape{2, 3, 3, 4}));
}

TEST(Windows, AnOddNumberOfPaddingIsLargerBehind) {
  const Tensor x = waves({1, 1, 8, 8}), w = waves({1, 1, 3, 3});
  auto same = [&](Builder& b, Ref in) { return conv2d(b, in, b.parameter("w", w), {}, {.stride = {2}, .padding = Padding::same()}); };
  auto sides = [&](Builder& b, Ref in) {
    return b.conv2d(in, b.parameter("w", w), {{"padding", Builder::Dims{0, 0, 1, 1}}, {"stride", Builder::Dims{2, 2}}});
  };
  expect_equal(computed(x, same), computed(x, sides));
  // Cut off a transposed one, the result of which is larger by the stride.
  auto transposed = computed(
      x, [&](Builder& b, Ref in) { return conv2d_transpose(b, in, b.parameter("w", w), {}, {.stride = {2}, .padding = Padding::same()}); });
  ASSERT_TRUE(transposed);
  EXPECT_EQ(transposed->shape(), (Shape{1, 1, 16, 16}));
  auto small = computed(
      x, [&](Builder& b, Ref in) { return conv2d_transpose(b, in, b.parameter("w", w), {}, {.stride = {4}, .padding = Padding::same()}); });
  EXPECT_FALSE(small);
}

TEST(Windows, TransposedConvolutionsAndPools) {
  const Tensor x = waves({1, 2, 4, 4}), w = waves({2, 3, 3, 3});
  expect_equal(
      computed(x, [&](Builder& b, Ref in) { return conv2d_transpose(b, in, b.parameter("w", w), {}, {.stride = {2}, .padding = 1}); }),
      computed(x, [&](Builder& b, Ref in) {
        return b.conv2d_transpose(in, b.parameter("w", w), {{"stride", Builder::Dims{2, 2}}, {"padding", Builder::Dims{1, 1, 1, 1}}});
      }));
  const Tensor ones(Shape{1, 1, 2, 2}, std::vector<float>{1, 2, 3, 4});
  auto average = [&](const Windows& windows) {
    return computed(ones, [&](Builder& b, Ref in) { return avg_pool2d(b, in, {2}, windows); })->to_f32();
  };
  EXPECT_THAT(average({.divisor_override = 5}), ElementsAre(2));
  EXPECT_THAT(average({.stride = {2}, .padding = 1, .count_include_pad = false}), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(average({.stride = {2}, .padding = Padding({1, 0}), .count_include_pad = true}), ElementsAre(0.75, 1.75));
}

TEST(Windows, NormalizationAlongAnyAxis) {
  const Tensor x = waves({2, 3, 4}), weights = waves({3}), bias = waves({3});
  for (std::int64_t dim : {1, -2})
    expect_equal(computed(x,
                          [&](Builder& b, Ref in) {
                            auto w = b.parameter("w", weights), o = b.parameter("o", bias);
                            return layernorm(b, in, w, o, dim);
                          }),
                 computed(x, [&](Builder& b, Ref in) {
                   auto w = b.parameter("w", weights), o = b.parameter("o", bias);
                   return b.transpose(b.layernorm(b.transpose(in, {0, 2, 1}), w, o), {0, 2, 1});
                 }));
  auto none = computed(x, [&](Builder& b, Ref in) {
    auto w = b.parameter("w", weights), o = b.parameter("o", bias);
    return layernorm(b, in, w, o, 3);
  });
  EXPECT_FALSE(none);
}

}  // namespace
}  // namespace buda::ops
