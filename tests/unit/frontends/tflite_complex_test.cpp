// SPDX-License-Identifier: Apache-2.0
// Spectra in TensorFlow Lite models, against sums written here.
#include "tflite_fixture.hpp"

#include <cmath>
#include <complex>
#include <numbers>

namespace buda::test {
namespace {

using ::testing::HasSubstr;
using tfl::BuiltinOperator;
using tfl::TensorType;
using Dims = TfliteModel::Dims;
using Number = std::complex<double>;

// The points 0 to columns / 2 of each row of a transform of so many rows and columns, of x cut or filled up with zeros.
std::vector<Number> transform(const std::vector<float>& x, const Dims& shape, const Dims& lengths) {
  std::vector<Number> out;
  for (int k = 0; k < lengths[0]; ++k)
    for (int l = 0; l <= lengths[1] / 2; ++l) {
      Number sum = 0;
      for (int i = 0; i < std::min(shape[0], lengths[0]); ++i)
        for (int j = 0; j < std::min(shape[1], lengths[1]); ++j) {
          const double turn = static_cast<double>(k) * i / lengths[0] + static_cast<double>(l) * j / lengths[1];
          sum += static_cast<double>(x[static_cast<std::size_t>(i * shape[1] + j)]) * std::polar(1.0, -2 * std::numbers::pi * turn);
        }
      out.push_back(sum);
    }
  return out;
}

template <class F>
std::vector<float> each(const std::vector<Number>& numbers, F f) {
  std::vector<float> out;
  for (const Number& z : numbers) out.push_back(static_cast<float>(f(z)));
  return out;
}

// Of sums of up to 100 numbers, in fp32.
constexpr double kTolerance = 1e-5;

TEST_F(Tflite, SpectraOfRealNumbers) {
  struct Case {
    Dims shape, lengths;
  };
  for (const Case& c : {Case{{1, 16}, {1, 16}}, Case{{4, 8}, {4, 8}}, Case{{3, 12}, {2, 16}}, Case{{5, 20}, {8, 16}}}) {
    SCOPED_TRACE(cat(c.shape[0], 'x', c.shape[1], " to ", c.lengths[0], 'x', c.lengths[1]));
    const Dims result{c.lengths[0], c.lengths[1] / 2 + 1};
    Tensor x = pattern({c.shape[0], c.shape[1]});
    TfliteModel m;
    int in = m.input("x", c.shape), lengths = m.constant("lengths", {2}, std::vector<std::int32_t>(c.lengths.begin(), c.lengths.end()));
    int spectrum = m.tensor("spectrum", result, TensorType::COMPLEX64);
    m.op(BuiltinOperator::RFFT2D, {in, lengths}, {spectrum});
    for (auto [code, name] :
         {std::pair(BuiltinOperator::COMPLEX_ABS, "abs"), {BuiltinOperator::REAL, "real"}, {BuiltinOperator::IMAG, "imag"}}) {
      int y = m.tensor(name, result);
      m.op(code, {spectrum}, {y});
      m.output(y);
    }
    NamedTensors out = run_all(m, {x});
    const auto expected = transform(x.to_f32(), c.shape, c.lengths);
    expect_near(out.at("abs").to_f32(), each(expected, [](const Number& z) { return std::abs(z); }), kTolerance);
    expect_near(out.at("real").to_f32(), each(expected, [](const Number& z) { return z.real(); }), kTolerance);
    expect_near(out.at("imag").to_f32(), each(expected, [](const Number& z) { return z.imag(); }), kTolerance);
  }
}

// As TensorFlow's RFFT is converted: with an axis for the second length, which goes again behind it.
TEST_F(Tflite, SpectraOfFrames) {
  Tensor x = pattern({3, 8});
  TfliteModel m;
  int in = m.input("x", {3, 8}), axis = m.constant("axis", {}, std::vector<std::int32_t>{1}), wide = m.tensor("wide", {3, 1, 8});
  m.op(BuiltinOperator::EXPAND_DIMS, {in, axis}, {wide});
  int lengths = m.constant("lengths", {2}, std::vector<std::int32_t>{1, 8}), all = m.tensor("all", {3, 1, 5}, TensorType::COMPLEX64);
  m.op(BuiltinOperator::RFFT2D, {wide, lengths}, {all});
  int frames = m.tensor("frames", {3, 5}, TensorType::COMPLEX64);
  tfl::SqueezeOptionsT squeeze;
  squeeze.squeeze_dims = {1};
  m.op(BuiltinOperator::SQUEEZE, {all}, {frames}, squeeze);
  int flat = m.tensor("flat", {15}, TensorType::COMPLEX64), shape = m.constant("shape", {1}, std::vector<std::int32_t>{-1});
  m.op(BuiltinOperator::RESHAPE, {frames, shape}, {flat});
  int y = m.tensor("y", {15});
  m.op(BuiltinOperator::COMPLEX_ABS, {flat}, {y});
  m.output(y);
  std::vector<float> expected;
  for (std::size_t row = 0; row < 3; ++row) {
    const std::vector<float> numbers = x.to_f32(), one(numbers.begin() + static_cast<std::ptrdiff_t>(8 * row),
                                                       numbers.begin() + static_cast<std::ptrdiff_t>(8 * row + 8));
    for (const Number& z : transform(one, {1, 8}, {1, 8})) expected.push_back(static_cast<float>(std::abs(z)));
  }
  expect_near(run(m, {x}).to_f32(), expected);
}

TEST_F(Tflite, ComplexNumbersWhereTheyAreNotRead) {
  TfliteModel m;
  int in = m.input("x", {2, 8}), lengths = m.constant("lengths", {2}, std::vector<std::int32_t>{2, 8});
  int spectrum = m.tensor("spectrum", {2, 5}, TensorType::COMPLEX64), y = m.tensor("y", {2, 5}, TensorType::COMPLEX64);
  m.op(BuiltinOperator::RFFT2D, {in, lengths}, {spectrum});
  m.op(BuiltinOperator::NEG, {spectrum}, {y});
  m.output(y);
  EXPECT_THAT(refusal(m.bytes()), HasSubstr("its input 'spectrum' holds complex numbers, for which this operator is not read"));
  m.graph().outputs = {spectrum};
  m.graph().operators.pop_back();
  EXPECT_THAT(refusal(m.bytes()), HasSubstr("output 'spectrum' holds complex numbers, which no output may"));
}

}  // namespace
}  // namespace buda::test
