// SPDX-License-Identifier: Apache-2.0
// The functions of ops, next to the C library's in double precision.
#include "../numerics/words.hpp"

#include <buda/numerics/fields.hpp>
#include <buda/numerics/vector_functions.hpp>
#include <buda/sfpu/functions.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

namespace buda::sfpu {
namespace {

using namespace numerics;

VectorCall called(const FunctionCall& call) {
  const Program* program = program_of(call);
  EXPECT_NE(program, nullptr) << call.name;
  VectorCall out;
  if (program == nullptr) return out;
  out.program = program->instructions.data();
  out.length = program->instructions.size();
  out.result = program->result;
  return out;
}

std::vector<float> applied(const FunctionCall& function, std::vector<float> numbers) {
  VectorCall call = called(function);
  numbers.resize((numbers.size() + 15) / 16 * 16, 1.0f);
  std::vector<std::uint32_t> words(numbers.size());
  std::transform(numbers.begin(), numbers.end(), words.begin(), [](float v) { return std::bit_cast<std::uint32_t>(v); });
  call.form = Dest::fp32;
  call.numbers = words.data();
  call.count = words.size();
  best_vector_unit().apply(call);
  std::transform(words.begin(), words.end(), numbers.begin(), [](std::uint32_t w) { return std::bit_cast<float>(w); });
  return numbers;
}

double phi(double x) { return std::exp(-0.5 * x * x) / std::sqrt(2 * std::acos(-1.0)); }
double cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

struct Function {
  const char* name;
  const char* function;
  double (*exact)(double);
  double low, high;
  double relative, absolute;  // the error is below one or the other
};

// The bounds are those of docs/internals/numerics.md.
const Function kFunctions[] = {
    {"exp", "exp", [](double x) { return std::exp(x); }, -87, 88.7, 3e-7, 0},
    {"log", "log", [](double x) { return std::log(x); }, 1e-30, 30, 3e-7, 2e-7},
    {"sqrt", "sqrt", [](double x) { return std::sqrt(x); }, 0, 1e6, 1.3e-7, 0},
    {"reciprocal", "reciprocal", [](double x) { return 1 / x; }, -50, 50, 2e-7, 0},
    {"sigmoid", "sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }, -80, 80, 6e-7, 0},
    {"tanh", "tanh", [](double x) { return std::tanh(x); }, -10, 10, 4e-7, 0},
    {"gelu", "gelu", [](double x) { return x * cdf(x); }, -10, 10, 3e-6, 3e-7},
    {"gelu_derivative", "gelu_derivative", [](double x) { return cdf(x) + x * phi(x); }, -10, 10, 3e-6, 3e-7},
    {"sine", "sine", [](double x) { return std::sin(x); }, -100, 100, 3e-7, 3e-7},
    {"cosine", "cosine", [](double x) { return std::cos(x); }, -100, 100, 3e-7, 3e-7},
    {"square", "square", [](double x) { return x * x; }, -100, 100, 6e-8, 0},
};

TEST(Functions, StayWithinTheirErrorBounds) {
  for (const Function& f : kFunctions) {
    std::vector<float> x;
    constexpr int kPoints = 4096;
    for (int i = 0; i <= kPoints; ++i) x.push_back(static_cast<float>(f.low + (f.high - f.low) * i / kPoints));
    // And close to zero, where relative errors show.
    for (int e = -20; e < 4; ++e)
      for (float sign : {1.0f, -1.0f})
        if (const float v = sign * std::ldexp(1.37f, e); v >= f.low && v <= f.high) x.push_back(v);
    const std::vector<float> y = applied({f.function, {}}, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double exact = f.exact(static_cast<double>(x[i])), error = std::fabs(static_cast<double>(y[i]) - exact);
      if (x[i] == 0 && std::string_view(f.function) == "reciprocal") continue;
      ASSERT_LE(error, std::max({f.relative * std::fabs(exact), f.absolute, 1.2e-38})) << f.name << '(' << x[i] << ") is " << y[i];
    }
  }
}

TEST(Functions, AtTheEnds) {
  const auto one = [](const char* f, float x) { return applied({f, {}}, {x})[0]; };
  EXPECT_EQ(one("exp", 100), kInfinity);
  EXPECT_EQ(one("exp", -200), 0.0f);
  EXPECT_EQ(one("exp", -kInfinity), 0.0f);
  EXPECT_EQ(one("exp", 0), 1.0f);
  EXPECT_EQ(one("log", 0), -kInfinity);
  EXPECT_EQ(one("log", 1), 0.0f);
  EXPECT_TRUE(std::isnan(one("log", -1)));
  EXPECT_EQ(one("reciprocal", -0.0f), -kInfinity);
  EXPECT_EQ(word(one("reciprocal", kInfinity)), 0u);
  EXPECT_EQ(one("reciprocal", 4), 0.25f);
  EXPECT_EQ(one("sqrt", 0), 0.0f);
  EXPECT_EQ(one("sqrt", 9), 3.0f);
  EXPECT_TRUE(std::isnan(one("sqrt", -4)));
  EXPECT_EQ(one("sigmoid", -kInfinity), 0.0f);
  EXPECT_EQ(one("sigmoid", 0), 0.5f);
  EXPECT_EQ(one("tanh", kInfinity), 1.0f);
  EXPECT_EQ(one("tanh", -kInfinity), -1.0f);
  EXPECT_EQ(one("gelu", 50), 50.0f);
  EXPECT_EQ(one("gelu", -50), 0.0f);
  EXPECT_EQ(one("gelu_derivative", 50), 1.0f);
  EXPECT_TRUE(std::isnan(one("sine", kInfinity)));
  for (const char* f : {"exp", "log", "tanh", "gelu", "sigmoid"})
    EXPECT_TRUE(std::isnan(one(f, std::numeric_limits<float>::quiet_NaN()))) << f;
}

TEST(Functions, WithArguments) {
  const std::vector<float> leaky = applied({"lrelu", {{"slope", word(0.25f)}}}, {-4, 4});
  EXPECT_EQ(leaky[0], -1.0f);
  EXPECT_EQ(leaky[1], 4.0f);
  EXPECT_EQ(applied({"power", {}, 5}, {-2})[0], -32.0f);
  EXPECT_EQ(applied({"power", {}, 0}, {-2})[0], 1.0f);
  EXPECT_EQ(applied({"power", {}, -2}, {4})[0], 0.0625f);
  EXPECT_EQ(applied({"scale", {{"by", word(2.0f)}}}, {3})[0], 6.0f);
}

using Words = std::array<std::uint32_t, 16>;
void apply(const char* function, Dest form, Words& words, const Words* second = nullptr) {
  VectorCall call = called({function, {}});
  call.form = form;
  call.numbers = words.data();
  call.count = words.size();
  call.second = second == nullptr ? nullptr : second->data();
  best_vector_unit().apply(call);
}

TEST(Functions, RoundOnTheWayToADestinationOf16Bits) {
  Words words;
  words.fill(word(1.0078125f));
  apply("square", Dest::bf16, words);
  EXPECT_EQ(words[0], word(1.015625f));  // 1.01568603515625
  words.fill(word_of_fp16(0x3c01));      // 1 + 2^-10
  apply("square", Dest::fp16, words);
  EXPECT_EQ(words[0], word_of_fp16(0x3c02));
  words.fill(word_of_fp16(0x7800));  // 2^15: its square is too large
  apply("square", Dest::fp16, words);
  EXPECT_EQ(words[0], kLargestFp16);
  Words second;
  words.fill(word(-3));
  second.fill(word(-2));
  apply("maximum", Dest::bf16, words, &second);
  EXPECT_EQ(words[7], word(-2));
}

}  // namespace
}  // namespace buda::sfpu
