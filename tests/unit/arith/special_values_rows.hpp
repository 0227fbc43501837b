// SPDX-License-Identifier: Apache-2.0
// The rows of the table of docs/internals/special-values.md: ops by special operands, and how golden computes them.
#pragma once

#include <buda/arith/op.hpp>

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace buda::arith::special_values {

using netlist::Op;
using netlist::OpType;

inline constexpr float kInf = std::numeric_limits<float>::infinity(), kNaN = std::numeric_limits<float>::quiet_NaN();
inline const float kLargest = std::bit_cast<float>(0x7f7f0000u);  // of Float16_b
inline constexpr float kDenormal = 0x1p-130f;
inline constexpr std::size_t kSide = 32;

struct Formats {
  DataFormat in = DataFormat::float16_b, acc = DataFormat::float16_b, out = DataFormat::float16_b;
};

inline Op op_of(OpType type, const Formats& formats, std::size_t inputs) {
  Op op;
  op.name = "op";
  op.type = type;
  op.inputs.resize(inputs);
  for (auto& in : op.inputs) in.format = formats.in;
  op.out_format = formats.out;
  op.intermed_format = op.acc_format = formats.acc;
  op.attributes.m_k = op.attributes.u_kt = 1;
  op.attributes.reduce_dim = netlist::Dim::c;
  op.attributes.exp = 3;
  op.attributes.slope = 0.5;
  return op;
}

using Numbers = std::vector<float>;

inline ValuePtr tile(DataFormat format, Numbers numbers) {
  auto value = std::make_shared<Value>(netlist::TileShape{1, 1, 1}, TileDim{}, format);
  numbers.resize(kSide * kSide);
  value->floats = std::move(numbers);
  return value;
}

inline Numbers run(const Op& op, Mode mode, std::vector<Numbers> operands) {
  std::vector<ValuePtr> inputs;
  for (std::size_t i = 0; i < operands.size(); ++i) inputs.push_back(tile(op.inputs[i].format, std::move(operands[i])));
  const Outcome outcome = op_kind(op.type).run({op, inputs, mode, 1, nullptr, nullptr});
  const auto* value = std::get_if<Value>(&outcome);
  EXPECT_NE(value, nullptr) << std::get<std::string>(outcome);
  return value == nullptr ? Numbers(kSide * kSide) : value->floats;
}

// All pairs of these are operands.
inline const std::array<float, 16>& operands() {
  static const std::array<float, 16> values = {kNaN,     -kNaN,     kInf,      -kInf,      0.0f, -0.0f, kDenormal, -kDenormal,
                                               kLargest, -kLargest, 0x1p-126f, -0x1p-126f, 1.0f, -1.5f, 0x1p100f,  -0x1p40f};
  return values;
}

struct Pairs {
  Numbers a, b;
  Pairs() {
    for (float x : operands())
      for (float y : operands()) a.push_back(x), b.push_back(y);
    a.resize(kSide * kSide);
    b.resize(kSide * kSide);
  }
};

struct Row {
  std::string text;  // of the operation
  OpType type;
  std::optional<float> (*second)(float x);  // operand 1; null: of one operand
  double (*ieee)(double x, double y);
};

inline std::optional<float> zero(float) { return 0.0f; }
inline std::optional<float> one(float) { return 1.0f; }
inline std::optional<float> infinity(float) { return kInf; }
inline std::optional<float> itself(float x) { return x; }

inline double larger_of(double x, double y) { return std::isnan(x) || std::isnan(y) ? kNaN : std::max(x, y); }

inline std::vector<Row> table_rows() {
  const auto sum = [](double x, double y) { return x + y; };
  const auto difference = [](double x, double y) { return x - y; };
  const auto product = [](double x, double y) { return x * y; };
  return {{"x + 0", OpType::add, zero, sum},
          {"x + ∞", OpType::add, infinity, sum},
          {"x - x", OpType::subtract, itself, difference},
          {"x * 0", OpType::multiply, zero, product},
          {"x * 1", OpType::multiply, one, product},
          {"x * ∞", OpType::multiply, infinity, product},
          {"x * x", OpType::multiply, itself, product},
          {"max(x, 0)", OpType::maximum, zero, larger_of},
          {"max(x, ∞)", OpType::maximum, infinity, larger_of},
          {"copy", OpType::nop, nullptr, [](double x, double) { return x; }},
          {"abs", OpType::abs, nullptr, [](double x, double) { return std::abs(x); }},
          {"exp", OpType::exp, nullptr, [](double x, double) { return std::exp(x); }},
          {"log", OpType::log, nullptr, [](double x, double) { return std::log(x); }},
          {"sqrt", OpType::sqrt, nullptr, [](double x, double) { return std::sqrt(x); }},
          {"reciprocal", OpType::reciprocal, nullptr, [](double x, double) { return 1 / x; }},
          {"sigmoid", OpType::sigmoid, nullptr, [](double x, double) { return 1 / (1 + std::exp(-x)); }},
          {"tanh", OpType::tanh, nullptr, [](double x, double) { return std::tanh(x); }},
          {"gelu", OpType::gelu, nullptr,
           [](double x, double) { return std::isinf(x) && x < 0 ? 0 : x * 0.5 * std::erfc(-x / std::sqrt(2.0)); }},
          {"sine", OpType::sine, nullptr, [](double x, double) { return std::sin(x); }},
          {"cosine", OpType::cosine, nullptr, [](double x, double) { return std::cos(x); }},
          {"square", OpType::square, nullptr, [](double x, double) { return x * x; }}};
}

struct Column {
  const char* text;
  float value;
};
inline std::array<Column, 8> columns() {
  return {{{"NaN", kNaN},
           {"∞", kInf},
           {"-∞", -kInf},
           {"-0", -0.0f},
           {"denormal", kDenormal},
           {"-denormal", -kDenormal},
           {"largest", kLargest},
           {"-largest", -kLargest}}};
}

inline std::string name_of(float v) {
  if (std::isnan(v)) return "NaN";
  if (std::isinf(v)) return v > 0 ? "∞" : "-∞";
  if (v == 0) return std::signbit(v) ? "-0" : "0";
  if (std::abs(v) == kLargest) return v > 0 ? "largest" : "-largest";
  if (std::abs(v) < 0x1p-126f) return v > 0 ? "denormal" : "-denormal";
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", static_cast<double>(v));
  return text;
}

}  // namespace buda::arith::special_values
