// SPDX-License-Identifier: Apache-2.0
// TensorFlow Lite models, built here, against formulas written here.
#include "tflite_fixture.hpp"

#include <algorithm>
#include <cstring>

#include <buda/base/rng.hpp>

#include <gmock/gmock.h>

#include <cmath>
#include <functional>

namespace buda::test {
namespace {

using tfl::Activation;
using tfl::BuiltinOperator;
using tfl::Padding;
using tfl::TensorType;
using Dims = TfliteModel::Dims;
using ::testing::HasSubstr;

float at(const std::vector<float>& x, const Dims& shape, int n, int r, int c, int d) {
  return x[static_cast<std::size_t>(((n * shape[1] + r) * shape[2] + c) * shape[3] + d)];
}

TEST_F(Tflite, FunctionsOfEachElement) {
  Tensor any = pattern({3, 5});
  std::vector<float> x = any.to_f32();
  struct Case {
    BuiltinOperator op;
    float (*f)(float);
  };
  const Case cases[] = {
      {BuiltinOperator::ABS, [](float v) { return std::abs(v); }},
      {BuiltinOperator::RELU, [](float v) { return v > 0 ? v : 0.0f; }},
      {BuiltinOperator::RELU6, [](float v) { return std::min(std::max(v, 0.0f), 6.0f); }},
      {BuiltinOperator::RELU_N1_TO_1, [](float v) { return std::min(std::max(v, -1.0f), 1.0f); }},
      {BuiltinOperator::LOGISTIC, [](float v) { return 1 / (1 + std::exp(-v)); }},
      {BuiltinOperator::TANH, [](float v) { return std::tanh(v); }},
      {BuiltinOperator::HARD_SWISH, [](float v) { return v * std::min(std::max(v + 3, 0.0f), 6.0f) / 6; }},
      {BuiltinOperator::EXP, [](float v) { return std::exp(v); }},
      {BuiltinOperator::NEG, [](float v) { return -v; }},
      {BuiltinOperator::SQUARE, [](float v) { return v * v; }},
      {BuiltinOperator::ELU, [](float v) { return v < 0 ? std::exp(v) - 1 : v; }},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(tfl::EnumNameBuiltinOperator(c.op));
    std::vector<float> expected = x;
    for (float& v : expected) v = c.f(v);
    expect_near(run(one_op(c.op, {{3, 5}}, {3, 5}), {any}).to_f32(), expected);
  }
}

TEST_F(Tflite, ArithmeticBroadcastsAndHasActivations) {
  Tensor a = pattern({2, 3}), b({3}, std::vector<float>{0.5f, -2, 4});
  TfliteModel m;
  int x0 = m.input("x0", {2, 3}), x1 = m.input("x1", {3}), y = m.tensor("y", {2, 3});
  tfl::SubOptionsT options;
  options.activation = Activation::RELU;
  m.op(BuiltinOperator::SUB, {x0, x1}, {y}, options);
  m.output(y);
  std::vector<float> expected = a.to_f32();
  for (std::size_t i = 0; i < 6; ++i) expected[i] = std::max(0.0f, expected[i] - b.to_f32()[i % 3]);
  expect_near(run(m, {a, b}).to_f32(), expected);
}

// [outputs, rows, columns, inputs] kernels on images with channels last; SAME padding has the odd element at the end.
TEST_F(Tflite, Convolution) {
  const Dims xs{2, 5, 6, 3}, ws{4, 3, 2, 3}, ys{2, 3, 3, 4};
  Tensor x = pattern({2, 5, 6, 3}), w = pattern({4, 3, 2, 3}, 0.1f), b = pattern({4}, 0.7f);
  TfliteModel m;
  int in = m.input("x", xs), weights = m.constant("w", ws, w.to_f32()), bias = m.constant("b", {4}, b.to_f32()), y = m.tensor("y", ys);
  tfl::Conv2DOptionsT options;
  options.padding = Padding::SAME;
  options.stride_h = options.stride_w = 2;
  options.activation = Activation::RELU6;
  m.op(BuiltinOperator::CONV_2D, {in, weights, bias}, {y}, options);
  m.output(y);
  std::vector<float> expected;
  auto xv = x.to_f32(), wv = w.to_f32(), bv = b.to_f32();
  // 5 rows, kernel 3, stride 2: one row before and one after; 6 columns, kernel 2: none.
  for (int n = 0; n < 2; ++n)
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c)
        for (int o = 0; o < 4; ++o) {
          double sum = bv[static_cast<std::size_t>(o)];
          for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 2; ++j)
              for (int d = 0; d < 3; ++d) {
                int row = 2 * r + i - 1, column = 2 * c + j;
                if (row >= 0 && row < 5 && column < 6) sum += double{at(xv, xs, n, row, column, d)} * at(wv, ws, o, i, j, d);
              }
          expected.push_back(static_cast<float>(std::min(std::max(sum, 0.0), 6.0)));
        }
  Tensor result = run(m, {x});
  EXPECT_EQ(result.shape(), Shape({2, 3, 3, 4}));
  expect_near(result.to_f32(), expected, 1e-5);
}

TEST_F(Tflite, DepthwiseConvolutionThenMean) {
  const Dims xs{1, 4, 4, 2};
  Tensor x = pattern({1, 4, 4, 2}), w = pattern({1, 3, 3, 4}, 0.2f);
  TfliteModel m;
  int in = m.input("x", xs), weights = m.constant("w", {1, 3, 3, 4}, w.to_f32()), image = m.tensor("image", {1, 2, 2, 4});
  int axes = m.constant("axes", {2}, std::vector<std::int32_t>{1, 2}), y = m.tensor("y", {1, 4});
  tfl::DepthwiseConv2DOptionsT options;
  options.padding = Padding::VALID;
  options.stride_h = options.stride_w = 1;
  options.depth_multiplier = 2;
  m.op(BuiltinOperator::DEPTHWISE_CONV_2D, {in, weights}, {image}, options);
  m.op(BuiltinOperator::MEAN, {image, axes}, {y}, tfl::ReducerOptionsT());
  m.output(y);
  std::vector<float> expected(4, 0.0f);
  auto xv = x.to_f32(), wv = w.to_f32();
  for (int o = 0; o < 4; ++o)
    for (int r = 0; r < 2; ++r)
      for (int c = 0; c < 2; ++c)
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j)
            expected[static_cast<std::size_t>(o)] += at(xv, xs, 0, r + i, c + j, o / 2) * at(wv, {1, 3, 3, 4}, 0, i, j, o) / 4;
  expect_near(run(m, {x}).to_f32(), expected, 1e-5);
  // Nobody uses the image with channels last, so that no transpose is left behind the convolution.
  int transposes = 0;
  graph::Graph graph = imported(m.bytes());
  for (std::size_t i = 0; i < graph.id_bound(); ++i) {
    graph::NodeId id(static_cast<graph::NodeId::rep>(i));
    transposes += graph.contains(id) && graph.node(id).op() == "transpose" ? 1 : 0;
  }
  EXPECT_EQ(transposes, 2) << "one of the input, one of the weights";
}

TEST_F(Tflite, FullyConnectedFlattensAndTakesAnotherBatch) {
  Tensor w = pattern({2, 6}, 0.3f), b({2}, std::vector<float>{1, -1});
  TfliteModel m;
  int x = m.input("x", {1, 2, 3}), weights = m.constant("w", {2, 6}, w.to_f32()), bias = m.constant("b", {2}, b.to_f32());
  int y = m.tensor("y", {1, 2});
  m.op(BuiltinOperator::FULLY_CONNECTED, {x, weights, bias}, {y}, tfl::FullyConnectedOptionsT());
  m.output(y);
  Tensor in = pattern({3, 2, 3});
  Tensor result = run(m, {in}, {"x.0=3"});
  EXPECT_EQ(result.shape(), Shape({3, 2}));
  std::vector<float> expected;
  for (std::size_t n = 0; n < 3; ++n)
    for (std::size_t o = 0; o < 2; ++o) {
      float sum = b.to_f32()[o];
      for (std::size_t k = 0; k < 6; ++k) sum += in.to_f32()[n * 6 + k] * w.to_f32()[o * 6 + k];
      expected.push_back(sum);
    }
  expect_near(result.to_f32(), expected, 1e-5);
}

TEST_F(Tflite, StridedSliceWithMasks) {
  TfliteModel m;
  int x = m.input("x", {2, 5, 3}), y = m.tensor("y", {1, 2, 3});
  int begin = m.constant("begin", {4}, std::vector<std::int32_t>{0, 0, -1, 0}),
      end = m.constant("end", {4}, std::vector<std::int32_t>{1, 1, -6, 9});
  int steps = m.constant("steps", {4}, std::vector<std::int32_t>{1, 1, -3, 1});
  tfl::StridedSliceOptionsT options;
  options.new_axis_mask = 1;     // [newaxis,
  options.shrink_axis_mask = 2;  // 0,
  options.end_mask = 8;          // 4:-6:-3, 0:]
  m.op(BuiltinOperator::STRIDED_SLICE, {x, begin, end, steps}, {y}, options);
  m.output(y);
  Tensor in = pattern({2, 5, 3});
  auto v = in.to_f32();
  Tensor result = run(m, {in});
  EXPECT_EQ(result.shape(), Shape({1, 2, 3}));
  expect_near(result.to_f32(), {v[12], v[13], v[14], v[3], v[4], v[5]});
}

TEST_F(Tflite, SymmetricPaddingRepeatsTheBorder) {
  TfliteModel m;
  int x = m.input("x", {3}), pads = m.constant("pads", {1, 2}, std::vector<std::int32_t>{2, 1}), y = m.tensor("y", {6});
  tfl::MirrorPadOptionsT options;
  options.mode = tfl::MirrorPadMode::SYMMETRIC;
  m.op(BuiltinOperator::MIRROR_PAD, {x, pads}, {y}, options);
  m.output(y);
  expect_near(run(m, {Tensor({3}, std::vector<float>{1, 2, 3})}).to_f32(), {2, 1, 1, 2, 3, 3});
}

TEST_F(Tflite, TransposedConvolutionOfAnOddSize) {
  // 1 x 1 inputs times a kernel of 3, stride 2, SAME: a result of 5 has the convolution's windows at -1, 1, 3.
  TfliteModel m;
  int shape = m.constant("shape", {4}, std::vector<std::int32_t>{1, 1, 5, 1}),
      w = m.constant("w", {1, 1, 3, 1}, std::vector<float>{1, 10, 100});
  int x = m.input("x", {1, 1, 3, 1}), y = m.tensor("y", {1, 1, 5, 1});
  tfl::TransposeConvOptionsT options;
  options.padding = Padding::SAME;
  options.stride_h = options.stride_w = 2;
  m.op(BuiltinOperator::TRANSPOSE_CONV, {shape, w, x}, {y}, options);
  m.output(y);
  expect_near(run(m, {Tensor({1, 1, 3, 1}, std::vector<float>{1, 2, 3})}).to_f32(), {10, 102, 20, 203, 30});
}

// ---- quantised

TEST_F(Tflite, FullyConnectedInIntegers) {
  TfliteModel m;
  int x = m.input("x", {1, 4}, TensorType::INT8), y = m.tensor("y", {1, 2}, TensorType::INT8);
  const int weights[2][4] = {{10, -20, 30, 127}, {-128, 5, 64, -3}};
  std::vector<std::uint8_t> bytes;
  for (const auto& row : weights)
    for (int v : row) bytes.push_back(as_byte(v));
  int w = m.bytes_constant("w", {2, 4}, TensorType::INT8, bytes), b = m.constant("b", {2}, std::vector<std::int32_t>{100, -77});
  m.scale(x, {0.11f}, {-3}).scale(w, {0.02f, 0.05f}, {0, 0}, 0).scale(b, {0.0022f, 0.0055f}, {0, 0}, 0).scale(y, {0.3f}, {7});
  tfl::FullyConnectedOptionsT options;
  options.activation = Activation::RELU;
  m.op(BuiltinOperator::FULLY_CONNECTED, {x, w, b}, {y}, options);
  m.output(y);
  Rng rng(5);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::int8_t> in;
    for (int i = 0; i < 4; ++i) in.push_back(static_cast<std::int8_t>(static_cast<int>(rng.below(256)) - 128));
    Tensor result = run(m, {Tensor({1, 4}, in)});
    ASSERT_EQ(result.dtype(), DType::i8);
    for (int o = 0; o < 2; ++o) {
      std::int32_t sum = o == 0 ? 100 : -77;
      for (int i = 0; i < 4; ++i) sum += (in[static_cast<std::size_t>(i)] + 3) * weights[o][i];
      double factor = double{0.11f} * double{o == 0 ? 0.02f : 0.05f} / double{0.3f};
      int expected = std::clamp(reference_scaled(sum, factor) + 7, 7, 127);
      EXPECT_EQ(result.as<std::int8_t>()[static_cast<std::size_t>(o)], expected);
    }
  }
}

TEST_F(Tflite, AdditionInIntegers) {
  TfliteModel m;
  int a = m.input("a", {5}, TensorType::INT8), b = m.input("b", {5}, TensorType::INT8), y = m.tensor("y", {5}, TensorType::INT8);
  m.scale(a, {0.5f}, {1}).scale(b, {0.03f}, {-20}).scale(y, {0.41f}, {-5});
  m.op(BuiltinOperator::ADD, {a, b}, {y}, tfl::AddOptionsT());
  m.output(y);
  std::vector<std::int8_t> av{-128, -1, 0, 77, 127}, bv{127, 3, -128, -55, 127};
  Tensor result = run(m, {Tensor({5}, av), Tensor({5}, bv)});
  double common = 2 * double{0.5f};
  for (std::size_t i = 0; i < 5; ++i) {
    std::int32_t sum = reference_scaled((av[i] - 1) * (1 << 20), double{0.5f} / common) +
                       reference_scaled((bv[i] + 20) * (1 << 20), double{0.03f} / common);
    int expected = std::clamp(reference_scaled(sum, common / ((1 << 20) * double{0.41f})) - 5, -128, 127);
    EXPECT_EQ(result.as<std::int8_t>()[i], expected) << i;
  }
}

TEST_F(Tflite, AveragePoolInIntegersRoundsHalvesAwayFromZero) {
  TfliteModel m;
  int x = m.input("x", {1, 1, 4, 1}, TensorType::INT8), y = m.tensor("y", {1, 1, 2, 1}, TensorType::INT8);
  m.scale(x, {0.1f}, {4}).scale(y, {0.1f}, {4});
  tfl::Pool2DOptionsT options;
  options.padding = Padding::VALID;
  options.stride_h = 1;
  options.stride_w = 2;
  options.filter_height = 1;
  options.filter_width = 2;
  m.op(BuiltinOperator::AVERAGE_POOL_2D, {x}, {y}, options);
  m.output(y);
  Tensor result = run(m, {Tensor({1, 1, 4, 1}, std::vector<std::int8_t>{-3, -4, 3, 2})});
  EXPECT_EQ(result.to_f32(), (std::vector<float>{-4, 3}));
}

TEST_F(Tflite, QuantisedNumbersOfOtherOperatorsGoThroughRealOnes) {
  TfliteModel m;
  int x = m.input("x", {4}, TensorType::UINT8), y = m.tensor("y", {4}, TensorType::UINT8);
  m.scale(x, {0.05f}, {100}).scale(y, {1.0f / 256}, {0});
  m.op(BuiltinOperator::LOGISTIC, {x}, {y});
  m.output(y);
  std::vector<std::uint8_t> in{0, 90, 100, 255};
  Tensor result = run(m, {Tensor({4}, in)});
  for (std::size_t i = 0; i < 4; ++i) {
    double expected = 256 / (1 + std::exp(-0.05 * (static_cast<double>(in[i]) - 100)));
    EXPECT_NEAR(result.to_f32()[i], std::min(expected, 255.0), 0.51) << i;
  }
}

TEST_F(Tflite, RealArithmeticKeepsTheInterface) {
  TfliteModel m;
  int x = m.input("x", {1, 2}, TensorType::INT8), y = m.tensor("y", {1, 1}, TensorType::INT8);
  int w = m.bytes_constant("w", {1, 2}, TensorType::INT8, {as_byte(100), as_byte(-50)});
  m.scale(x, {0.1f}, {0}).scale(w, {0.01f}).scale(y, {0.05f}, {-10});
  m.op(BuiltinOperator::FULLY_CONNECTED, {x, w}, {y}, tfl::FullyConnectedOptionsT());
  m.output(y);
  set_option("arithmetic", "real");
  Tensor result = run(m, {Tensor({1, 2}, std::vector<std::int8_t>{40, 20})});
  EXPECT_EQ(result.dtype(), DType::i8);
  EXPECT_EQ(result.to_f32(), (std::vector<float>{50}));  // 4 * 1 - 2 * 0.5 = 3 = 60 * 0.05
}

// ---- refusals

TEST_F(Tflite, OperatorsThatAreNotReadAreToldTogether) {
  TfliteModel m;
  int x = m.input("x", {4}), a = m.tensor("a", {4}), b = m.tensor("b", {4}), c = m.tensor("c", {4});
  m.op(BuiltinOperator::SEGMENT_SUM, {x}, {a});
  m.op(BuiltinOperator::CUSTOM, {a}, {b});
  m.op(BuiltinOperator::SEGMENT_SUM, {b}, {c});
  m.model().operator_codes[1]->custom_code = "FancyThing";
  m.output(c);
  std::string said = refusal(m.bytes());
  EXPECT_THAT(said, HasSubstr("TF030 the model uses 2 operators that are not supported"));
  EXPECT_THAT(
      said,
      HasSubstr(
          "op type FancyThing (a custom operator): it is code outside of the file: convert the model without it (allow_custom_ops=False), "
          "or leave it out and compute it before or after the model; used by 1 node: b"));
  EXPECT_THAT(said, HasSubstr("op type SEGMENT_SUM (version 1): not read yet: write this part of the model with operators that are"));
  EXPECT_THAT(said, HasSubstr("used by 2 nodes: a, c"));
}

// ---- MediaPipe's custom operators

void be_custom(TfliteModel& m, std::size_t op, const std::string& name, const std::vector<std::int32_t>& options) {
  auto code = std::make_unique<tfl::OperatorCodeT>(*m.model().operator_codes[0]);
  code->custom_code = name;
  auto& record = *m.model().subgraphs[0]->operators[op];
  record.opcode_index = static_cast<std::uint32_t>(m.model().operator_codes.size());
  m.model().operator_codes.push_back(std::move(code));
  auto& bytes = record.custom_options;
  bytes.resize(4 * options.size());
  std::memcpy(bytes.data(), options.data(), bytes.size());
}

// The largest of each window and its number in the window, plus 0.1, and these put back; windows that lie next to each other.
TEST_F(Tflite, PoolsThatKeepPlacesAndWhatPutsThemBack) {
  struct Size {
    int rows, columns, channels, window_rows, window_columns;
  };
  for (const Size s : {Size{4, 4, 2, 2, 2}, Size{5, 7, 1, 2, 3}, Size{3, 9, 3, 3, 3}}) {
    for (const bool same : {true, false}) {
      const int rows = same ? (s.rows + s.window_rows - 1) / s.window_rows : s.rows / s.window_rows;
      const int columns = same ? (s.columns + s.window_columns - 1) / s.window_columns : s.columns / s.window_columns;
      const int top = same ? (rows * s.window_rows - s.rows) / 2 : 0, left = same ? (columns * s.window_columns - s.columns) / 2 : 0;
      const Tensor x = pattern({1, s.rows, s.columns, s.channels}, 0.3f);
      const auto given = x.to_f32();
      std::vector<float> put(static_cast<std::size_t>(rows * s.window_rows * columns * s.window_columns * s.channels), 0.0f), at;
      for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c)
          for (int k = 0; k < s.channels; ++k) {
            float best = -1e30f;
            int place = 0;
            for (int i = 0; i < s.window_rows * s.window_columns; ++i) {
              const int y = r * s.window_rows - top + i / s.window_columns, z = c * s.window_columns - left + i % s.window_columns;
              if (y < 0 || z < 0 || y >= s.rows || z >= s.columns) continue;
              const float v = given[static_cast<std::size_t>((y * s.columns + z) * s.channels + k)];
              if (v > best) best = v, place = i;
            }
            at.push_back(static_cast<float>(place) + 0.1f);
            const int y = r * s.window_rows + place / s.window_columns, z = c * s.window_columns + place % s.window_columns;
            put[static_cast<std::size_t>((y * columns * s.window_columns + z) * s.channels + k)] = best;
          }
      for (const bool indices : {true, false}) {
        TfliteModel m;
        int in = m.input("x", {1, s.rows, s.columns, s.channels}), values = m.tensor("values", {1, rows, columns, s.channels});
        int places = m.tensor("places", {1, rows, columns, s.channels});
        int y = m.tensor("y", {1, rows * s.window_rows, columns * s.window_columns, s.channels});
        m.op(BuiltinOperator::CUSTOM, {in}, {values, places});
        m.op(BuiltinOperator::CUSTOM, {values, places}, {y});
        const std::vector<std::int32_t> options{same ? 1 : 2, s.window_columns, s.window_rows, s.window_columns, s.window_rows, 0};
        be_custom(m, 0, "MaxPoolingWithArgmax2D", options);
        be_custom(m, 1, "MaxUnpooling2D", options);
        m.output(indices ? places : y);
        expect_near(run(m, {x}).to_f32(), indices ? at : put);
      }
    }
  }
}

TEST_F(Tflite, TransposedConvolutionsWithABias) {
  struct Size {
    int rows, columns, in, out, window, stride;
  };
  for (const Size s : {Size{4, 4, 3, 2, 3, 2}, Size{5, 3, 1, 4, 2, 2}, Size{3, 7, 2, 3, 5, 3}}) {
    for (const bool same : {true, false}) {
      const auto padding = [&](int size) { return same ? std::max(0, s.window - (size - 1) % s.stride - 1) : 0; };
      const int rows = s.stride * (s.rows - 1) + s.window - padding(s.rows),
                columns = s.stride * (s.columns - 1) + s.window - padding(s.columns);
      const Tensor x = pattern({1, s.rows, s.columns, s.in}), w = pattern({s.out, s.window, s.window, s.in}, 0.9f),
                   b = pattern({s.out}, 1.7f);
      const auto given = x.to_f32(), weights = w.to_f32(), bias = b.to_f32();
      std::vector<float> expected;
      for (int i = 0; i < rows * columns; ++i) expected.insert(expected.end(), bias.begin(), bias.end());
      for (int r = 0; r < s.rows * s.columns * s.window * s.window; ++r) {
        const int fx = r % s.window, fy = r / s.window % s.window, ix = r / s.window / s.window % s.columns,
                  iy = r / s.window / s.window / s.columns;
        const int y = iy * s.stride - padding(s.rows) / 2 + fy, z = ix * s.stride - padding(s.columns) / 2 + fx;
        if (y < 0 || z < 0 || y >= rows || z >= columns) continue;
        for (int o = 0; o < s.out; ++o)
          for (int c = 0; c < s.in; ++c)
            expected[static_cast<std::size_t>((y * columns + z) * s.out + o)] +=
                given[static_cast<std::size_t>((iy * s.columns + ix) * s.in + c)] *
                weights[static_cast<std::size_t>(((o * s.window + fy) * s.window + fx) * s.in + c)];
      }
      TfliteModel m;
      int in = m.input("x", {1, s.rows, s.columns, s.in}), kernel = m.constant("w", {s.out, s.window, s.window, s.in}, weights);
      int added = m.constant("b", {s.out}, bias), y = m.tensor("y", {1, rows, columns, s.out});
      m.op(BuiltinOperator::CUSTOM, {in, kernel, added}, {y});
      be_custom(m, 0, "Convolution2DTransposeBias", {same ? 1 : 2, s.stride, s.stride});
      m.output(y);
      Tensor got = run(m, {x});
      EXPECT_EQ(got.shape(), (Shape{1, rows, columns, s.out}));
      expect_near(got.to_f32(), expected, 1e-5);
    }
  }
}

TEST_F(Tflite, CustomOptionsThatDoNotFit) {
  TfliteModel m;
  int x = m.input("x", {1, 4, 4, 1}), y = m.tensor("y", {1, 2, 2, 1}), at = m.tensor("at", {1, 2, 2, 1});
  m.op(BuiltinOperator::CUSTOM, {x}, {y, at});
  m.output(y);
  be_custom(m, 0, "MaxPoolingWithArgmax2D", {1, 2});
  EXPECT_THAT(refusal(m.bytes()), HasSubstr("its options have 8 bytes; 20 are needed"));
  be_custom(m, 0, "MaxPoolingWithArgmax2D", {1, 1, 1, 2, 2, 0});
  EXPECT_THAT(refusal(m.bytes()), HasSubstr("windows that lie next to each other are supported"));
  be_custom(m, 0, "MaxPoolingWithArgmax2D", {7, 2, 2, 2, 2, 0});
  EXPECT_THAT(refusal(m.bytes()), HasSubstr("its padding is 7"));
}

// As Vela writes a model for Ethos-U: the operator has memory for itself among its inputs, which nothing computes.
TEST_F(Tflite, ACustomOperatorMayHaveMemoryOfItsOwn) {
  TfliteModel m;
  int x = m.input("x", {4}), scratch = m.tensor("scratch", {16}), y = m.tensor("y", {4});
  m.op(BuiltinOperator::CUSTOM, {x, scratch}, {y});
  m.model().operator_codes[0]->custom_code = "ethos-u";
  m.output(y);
  const std::string said = refusal(m.bytes());
  EXPECT_THAT(said, HasSubstr("import the model from which Vela compiled this one; used by 1 node: y"));
  EXPECT_THAT(said, testing::Not(HasSubstr("TF033")));
}

// Old files have the number of an operator in a byte alone, new ones in both fields.
TEST_F(Tflite, BothFieldsOfAnOperatorsNumber) {
  TfliteModel m = one_op(BuiltinOperator::TANH, {{2}}, {2});
  m.model().operator_codes[0]->builtin_code = BuiltinOperator::ADD;  // 0, which is not written
  Tensor x({2}, std::vector<float>{0.5f, -1});
  expect_near(run(m, {x}).to_f32(), {std::tanh(0.5f), std::tanh(-1.0f)});
  m.model().operator_codes[0]->deprecated_builtin_code = 0;
  m.model().operator_codes[0]->builtin_code = BuiltinOperator::TANH;
  expect_near(run(m, {x}).to_f32(), {std::tanh(0.5f), std::tanh(-1.0f)});
}

TEST_F(Tflite, ShapesOfInputsKeepTheirRankAndType) {
  fs_.put("dir/m.tflite", one_op(tfl::BuiltinOperator::ABS, {{2, 3}}, {2, 3}).bytes());
  const auto with = [&](const std::string& shape) {
    importer::Options options{.model = "dir/m.tflite", .output = "out/m.graph.json", .frontend = {}, .name = {}, .input_shapes = {shape}};
    auto done = ImportTest::run(options);
    return done ? "imported" : text_of(done.failure());
  };
  EXPECT_EQ(with("x0=4,3"), "imported");
  for (const char* shape : {"x0=6", "x0=2,3:I32"})
    EXPECT_THAT(with(shape), HasSubstr("TF021 input 'x0' has type F32 and shape [2, 3]; --input-shape gives another type, or "));
}

TEST_F(Tflite, WhatAShapeDependsOnMustBeKnown) {
  TfliteModel m;
  int x = m.input("x", {4, 4}), axes = m.input("axes", {1}, TensorType::INT32), y = m.tensor("y", {4});
  m.op(BuiltinOperator::SUM, {x, axes}, {y}, tfl::ReducerOptionsT());
  m.output(y);
  std::string said = refusal(m.bytes());
  EXPECT_THAT(said, HasSubstr("node 'y' (op type SUM, operator 0, version 1): its axes (input 1, 'axes') is computed at run time"));
  EXPECT_THAT(said, HasSubstr("--value axes=FILE"));
}

TEST_F(Tflite, NumbersThatLeadOutOfTheFile) {
  TfliteModel m = one_op(BuiltinOperator::TANH, {{2}}, {2});
  m.graph().operators[0]->inputs = {7};
  EXPECT_THAT(refusal(m.bytes()), HasSubstr("TF002 the inputs of operator 0 name tensor 7; there are 2"));
  m.graph().operators[0]->inputs = {0};
  m.graph().tensors[0]->buffer = 9;
  EXPECT_THAT(refusal(m.bytes()), HasSubstr("TF002 tensor 0 names buffer 9"));
  m.graph().tensors[0]->buffer = 0;
  m.graph().operators[0]->opcode_index = 3;
  EXPECT_THAT(refusal(m.bytes()), HasSubstr("TF002 operator 0 names operator code 3; there are 1"));
}

// ---- damaged files: every answer is a graph or a diagnostic

std::string convolutional_model() {
  TfliteModel m;
  int x = m.input("x", {1, 4, 4, 1}, TensorType::INT8),
      w = m.bytes_constant("w", {2, 3, 3, 1}, TensorType::INT8, std::vector<std::uint8_t>(18, 3));
  int image = m.tensor("image", {1, 4, 4, 2}, TensorType::INT8),
      pads = m.constant("pads", {4, 2}, std::vector<std::int32_t>{0, 0, 1, 0, 0, 1, 0, 0});
  int padded = m.tensor("padded", {1, 5, 5, 2}, TensorType::INT8), shape = m.constant("shape", {2}, std::vector<std::int32_t>{1, -1});
  int flat = m.tensor("flat", {1, 50}, TensorType::INT8), y = m.tensor("y", {1, 50}, TensorType::INT8);
  m.scale(x, {0.1f}, {3})
      .scale(w, {0.1f, 0.2f}, {0, 0}, 0)
      .scale(image, {0.2f}, {-1})
      .scale(padded, {0.2f}, {-1})
      .scale(flat, {0.2f}, {-1});
  m.scale(y, {1.0f / 256}, {-128});
  tfl::Conv2DOptionsT options;
  options.stride_h = options.stride_w = 1;
  m.op(BuiltinOperator::CONV_2D, {x, w}, {image}, options);
  m.op(BuiltinOperator::PAD, {image, pads}, {padded});
  m.op(BuiltinOperator::RESHAPE, {padded, shape}, {flat});
  tfl::SoftmaxOptionsT beta;
  beta.beta = 1;
  m.op(BuiltinOperator::SOFTMAX, {flat}, {y}, beta);
  m.output(y);
  return m.bytes();
}

TEST_F(Tflite, DamagedFiles) {
  std::string whole = convolutional_model();
  auto graph = import(whole);
  ASSERT_TRUE(graph) << text_of(graph.failure());
  auto tried = [&](const std::string& bytes) {
    auto result = import(bytes);
    if (result) return true;
    EXPECT_FALSE(result.failure().diagnostics().empty());
    for (const auto& d : result.failure().diagnostics()) {
      EXPECT_FALSE(d.message.empty());
      EXPECT_NE(d.fault, Fault::bug) << d.message;
    }
    return false;
  };
  Rng rng(7);
  for (std::size_t size = 0; size + 8 < whole.size(); size += 13) tried(whole.substr(0, size));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(static_cast<unsigned char>(damaged[i]) ^ (1u << rng.below(8)));
    tried(damaged);
    damaged[i] = i % 2 == 0 ? static_cast<char>(0xff) : '\0';
    tried(damaged);
  }
}

TEST_F(Tflite, ThePageListsWhatIsRead) { expect_page_lists_operators("tflite"); }

TEST_F(Tflite, AnOutputOfAnotherShapeThanDeclaredIsTold) {
  imported(one_op(BuiltinOperator::ABS, {{3, 5}}, {5, 3}).bytes());
  ASSERT_EQ(sink_.diagnostics().size(), 1u);
  const Diagnostic& d = sink_.diagnostics().front();
  EXPECT_EQ(d.severity, Severity::warning);
  EXPECT_EQ(d.code, "TF042");
  EXPECT_EQ(d.message, "output 'y' is declared with shape [5, 3], and its operators compute shape [3, 5]");
}

}  // namespace
}  // namespace buda::test
