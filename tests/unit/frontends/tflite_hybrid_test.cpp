// SPDX-License-Identifier: Apache-2.0
// Products of real numbers with 8-bit weights, against the reference's arithmetic written as loops.
#include "tflite_fixture.hpp"

#include <buda/base/rng.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

namespace buda::test {
namespace {

using tfl::Activation;
using tfl::BuiltinOperator;
using tfl::Padding;
using tfl::TensorType;
using Dims = TfliteModel::Dims;

// What the numbers of a slice are rounded to.
struct Rounded {
  std::vector<int> integers;  // less the zero point
  float scale = 1;
};

Rounded symmetric(const float* x, std::size_t count) {
  float range = 0;
  for (std::size_t i = 0; i < count; ++i) range = std::max(range, std::abs(x[i]));
  Rounded out{std::vector<int>(count, 0), 1};
  if (range == 0) return out;
  out.scale = range / 127;
  float inverse = 127 / range;
  for (std::size_t i = 0; i < count; ++i) out.integers[i] = std::clamp(static_cast<int>(std::round(x[i] * inverse)), -127, 127);
  return out;
}

Rounded asymmetric(const float* x, std::size_t count) {
  double least = 0, most = 0;
  for (std::size_t i = 0; i < count; ++i) {
    least = std::min(least, static_cast<double>(x[i]));
    most = std::max(most, static_cast<double>(x[i]));
  }
  Rounded out{std::vector<int>(count, 0), 1};
  if (least == most) return out;
  double scale = (most - least) / 255;
  bool from_least = 128 + std::abs(least / scale) < 127 + std::abs(most / scale);
  double zero = std::clamp(from_least ? -128 - least / scale : 127 - most / scale, -128.0, 127.0);
  int zero_point = static_cast<int>(std::round(zero));
  out.scale = static_cast<float>(scale);
  float inverse = 1 / out.scale;
  for (std::size_t i = 0; i < count; ++i) {
    float scaled = x[i] * inverse;
    out.integers[i] = std::clamp(static_cast<int>(std::round(static_cast<float>(zero_point) + scaled)), -128, 127) - zero_point;
  }
  return out;
}

std::vector<int> some_weights(std::size_t count) {
  Rng rng(7);
  std::vector<int> out(count);
  for (int& w : out) w = static_cast<int>(std::round(rng.uniform(-127, 127)));
  return out;
}

std::vector<std::uint8_t> as_bytes(const std::vector<int>& values) {
  std::vector<std::uint8_t> out;
  for (int v : values) out.push_back(as_byte(v));
  return out;
}

std::vector<float> some_numbers(std::size_t count, double least, double most, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> out(count);
  for (float& x : out) x = static_cast<float>(rng.uniform(least, most));
  return out;
}

class TfliteHybrid : public Tflite {
 protected:
  TfliteHybrid() { set_option("hybrid", "exact"); }
};

struct FullyConnected {
  std::vector<float> x, scales, bias = {};
  int rows, length, outputs;
  bool asymmetric = false;
  Activation activation = Activation::NONE;
  std::vector<int> weights = some_weights(static_cast<std::size_t>(outputs * length));

  TfliteModel model() const {
    TfliteModel m;
    int in = m.input("x", {rows, length}), w = m.bytes_constant("w", {outputs, length}, TensorType::INT8, as_bytes(weights));
    m.scale(w, scales, std::vector<std::int64_t>(scales.size(), 0));
    std::vector<int> inputs{in, w};
    if (!bias.empty()) inputs.push_back(m.constant("b", {outputs}, bias));
    int y = m.tensor("y", {rows, outputs});
    tfl::FullyConnectedOptionsT options;
    options.asymmetric_quantize_inputs = asymmetric;
    options.activation = activation;
    m.op(BuiltinOperator::FULLY_CONNECTED, inputs, {y}, options);
    m.output(y);
    return m;
  }

  std::vector<float> expected() const {
    std::vector<float> y;
    for (int r = 0; r < rows; ++r) {
      const float* row = x.data() + r * length;
      auto count = static_cast<std::size_t>(length);
      Rounded q = asymmetric ? test::asymmetric(row, count) : symmetric(row, count);
      for (int o = 0; o < outputs; ++o) {
        int sum = 0;
        for (int i = 0; i < length; ++i) sum += q.integers[static_cast<std::size_t>(i)] * weights[static_cast<std::size_t>(o * length + i)];
        float scale = q.scale * scales[scales.size() == 1 ? 0 : static_cast<std::size_t>(o)];
        float scaled = static_cast<float>(sum) * scale;
        float sum_with_bias = bias.empty() ? scaled : bias[static_cast<std::size_t>(o)] + scaled;
        y.push_back(activation == Activation::RELU ? std::max(sum_with_bias, 0.0f) : sum_with_bias);
      }
    }
    return y;
  }

  Tensor input() const { return Tensor(Shape{rows, length}, std::vector<float>(x)); }
};

TEST_F(TfliteHybrid, FullyConnectedGivesEveryBit) {
  for (bool asymmetric : {false, true}) {
    for (bool per_channel : {false, true}) {
      SCOPED_TRACE(cat(asymmetric, ' ', per_channel));
      FullyConnected layer{.x = some_numbers(6 * 61, -3, 5, 1),
                           .scales = per_channel ? some_numbers(9, 0.01, 0.02, 2) : std::vector<float>{0.0173f},
                           .bias = some_numbers(9, -10, 10, 3),
                           .rows = 6,
                           .length = 61,
                           .outputs = 9,
                           .asymmetric = asymmetric,
                           .activation = per_channel ? Activation::RELU : Activation::NONE};
      // Rows of zeros, of positive numbers only, of negative ones only.
      for (std::size_t i = 0; i < 61; ++i) {
        layer.x[i] = 0;
        layer.x[61 + i] = std::abs(layer.x[61 + i]);
        layer.x[2 * 61 + i] = -std::abs(layer.x[2 * 61 + i]);
      }
      EXPECT_EQ(run(layer.model(), {layer.input()}).to_f32(), layer.expected());
      layer.bias.clear();
      EXPECT_EQ(run(layer.model(), {layer.input()}).to_f32(), layer.expected());
    }
  }
}

// With 127 as the largest, x * (127 / 127) is exact.
TEST_F(TfliteHybrid, HalvesAreRoundedAwayFromZero) {
  FullyConnected layer{.x = {127, 0.5f, -0.5f, 2.5f, -2.5f, 126.5f},
                       .scales = {1},
                       .rows = 1,
                       .length = 6,
                       .outputs = 6,
                       .weights = std::vector<int>(36, 0)};
  for (std::size_t i = 0; i < 6; ++i) layer.weights[i * 6 + i] = 1;
  EXPECT_EQ(run(layer.model(), {layer.input()}).to_f32(), (std::vector<float>{127, 1, -1, 3, -3, 127}));
  // -100.5 to 154.5 is 255 steps of 1; both ends give a zero point of -27.5.
  layer.asymmetric = true;
  layer.x = {-100.5f, 154.5f, 0, 0.5f, -0.5f, 1};
  EXPECT_EQ(run(layer.model(), {layer.input()}).to_f32(), layer.expected());
  EXPECT_EQ(layer.expected()[2], 0);
}

TEST_F(TfliteHybrid, WithoutTheOptionWeightsAreDequantised) {
  set_option("hybrid", "real");
  FullyConnected layer{.x = some_numbers(8, -3, 5, 1), .scales = {0.0173f}, .rows = 1, .length = 8, .outputs = 4};
  std::vector<float> y = run(layer.model(), {layer.input()}).to_f32();
  for (std::size_t o = 0; o < 4; ++o) {
    float sum = 0;
    for (std::size_t i = 0; i < 8; ++i) sum += layer.x[i] * static_cast<float>(layer.weights[o * 8 + i]) * 0.0173f;
    EXPECT_NEAR(y[o], sum, 1e-4);
  }
}

struct Image {
  int n, r, c, d;
  std::size_t at(int i, int y, int x, int channel) const { return static_cast<std::size_t>(((i * r + y) * c + x) * d + channel); }
  Dims dims() const { return {n, r, c, d}; }
  std::size_t size() const { return static_cast<std::size_t>(n * r * c * d); }
};

// A window of 3 x 3 with one element of padding on each side, which adds nothing.
struct HybridConvolution {
  bool depthwise = false;
  std::vector<float> scales;
  Image in{2, 5, 4, 3};
  int outputs = 6;
  std::vector<float> x = some_numbers(in.size(), -1, 2, 4), bias = some_numbers(6, -10, 10, 5);
  std::vector<int> weights = some_weights(depthwise ? 9U * 6U : 9U * 6U * 3U);

  TfliteModel model() const {
    TfliteModel m;
    Dims shape = depthwise ? Dims{1, 3, 3, outputs} : Dims{outputs, 3, 3, in.d};
    int image = m.input("x", in.dims()), w = m.bytes_constant("w", shape, TensorType::INT8, as_bytes(weights));
    m.scale(w, scales, std::vector<std::int64_t>(scales.size(), 0), depthwise ? 3 : 0);
    int b = m.constant("b", {outputs}, bias), y = m.tensor("y", {in.n, in.r, in.c, outputs});
    if (depthwise) {
      tfl::DepthwiseConv2DOptionsT options;
      options.padding = Padding::SAME;
      options.stride_h = options.stride_w = 1;
      options.depth_multiplier = outputs / in.d;
      options.activation = Activation::RELU6;
      m.op(BuiltinOperator::DEPTHWISE_CONV_2D, {image, w, b}, {y}, options);
    } else {
      tfl::Conv2DOptionsT options;
      options.padding = Padding::SAME;
      options.stride_h = options.stride_w = 1;
      options.activation = Activation::RELU6;
      m.op(BuiltinOperator::CONV_2D, {image, w, b}, {y}, options);
    }
    m.output(y);
    return m;
  }

  int product(const Rounded& q, int y, int x_place, int o, int window_y, int window_x) const {
    int row = y + window_y - 1, column = x_place + window_x - 1;
    if (row < 0 || row >= in.r || column < 0 || column >= in.c) return 0;
    auto w = [&](int i) { return weights[static_cast<std::size_t>(i)]; };
    if (depthwise) return q.integers[in.at(0, row, column, o / (outputs / in.d))] * w((window_y * 3 + window_x) * outputs + o);
    int sum = 0;
    for (int d = 0; d < in.d; ++d) sum += q.integers[in.at(0, row, column, d)] * w(((o * 3 + window_y) * 3 + window_x) * in.d + d);
    return sum;
  }

  float scaled(int sum, float x_scale, int o) const {
    auto number = static_cast<float>(sum);
    float w_scale = scales[scales.size() == 1 ? 0 : static_cast<std::size_t>(o)];
    if (depthwise || scales.size() == 1) {
      float both = w_scale * x_scale;
      return number * both;
    }
    float part = number * w_scale;
    return part * x_scale;
  }

  std::vector<float> expected() const {
    std::vector<float> out;
    std::size_t one = in.size() / static_cast<std::size_t>(in.n);
    for (int i = 0; i < in.n; ++i) {
      const float* image = x.data() + static_cast<std::size_t>(i) * one;
      Rounded q = scales.size() == 1 ? symmetric(image, one) : asymmetric(image, one);
      for (int y = 0; y < in.r; ++y)
        for (int c = 0; c < in.c; ++c)
          for (int o = 0; o < outputs; ++o) {
            int sum = 0;
            for (int window = 0; window < 9; ++window) sum += product(q, y, c, o, window / 3, window % 3);
            float number = scaled(sum, q.scale, o);
            out.push_back(std::clamp(number + bias[static_cast<std::size_t>(o)], 0.0f, 6.0f));
          }
    }
    return out;
  }

  Tensor input() const { return Tensor(Shape{in.n, in.r, in.c, in.d}, std::vector<float>(x)); }
};

TEST_F(TfliteHybrid, ConvolutionsGiveEveryBit) {
  std::vector<float> scales = some_numbers(6, 0.01, 0.02, 6);
  for (const auto& c : {HybridConvolution{.depthwise = false, .scales = {0.0173f}}, HybridConvolution{.depthwise = false, .scales = scales},
                        HybridConvolution{.depthwise = true, .scales = scales}}) {
    SCOPED_TRACE(cat(c.depthwise, ' ', c.scales.size()));
    EXPECT_EQ(run(c.model(), {c.input()}).to_f32(), c.expected());
  }
}

}  // namespace
}  // namespace buda::test
