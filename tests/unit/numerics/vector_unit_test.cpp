// The vector unit: its multiply-add by hand, and its functions next to the C library's in double precision.
#include "words.hpp"

#include <buda/numerics/fields.hpp>
#include <buda/numerics/vector_functions.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

namespace buda::numerics {
namespace {

std::uint32_t mad(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  std::array<std::uint32_t, 16> x, y, z, result;
  x.fill(a);
  y.fill(b);
  z.fill(c);
  portable_vector_unit().mad(x.data(), y.data(), z.data(), result.data(), 16);
  return result[15];
}

TEST(Mad, RoundsToTheNearestEvenNumber) {
  EXPECT_EQ(mad(word(3), word(-2.5), word(1)), word(-6.5));
  EXPECT_EQ(mad(word(1), word(1), word(0x1p-24f)), word(1));  // a half, to even
  EXPECT_EQ(mad(word(1), word(1 + 0x1p-23f), word(0x1p-24f)), word(1 + 0x1p-22f));
  // Below the three more bits that an addend has, a bit is remembered only if others remain; 2^-52 is gone.
  EXPECT_EQ(mad(word(1), word(1 + 0x1p-23f), word(-0x1p-52f)), word(1 + 0x1p-23f));
}

TEST(Mad, FlushesDenormalsToPlusZero) {
  EXPECT_EQ(mad(0x007fffffu, word(2), word(0)), 0u);
  EXPECT_EQ(mad(word(-0x1p-126f), word(0.5f), word(0)), 0u);
  EXPECT_EQ(mad(word(-1), word(0), kSignBit), 0u);
  EXPECT_EQ(mad(word(0), word(5), word(-3)), word(-3));
}

TEST(Mad, KnowsInfinitiesAndNaN) {
  EXPECT_EQ(mad(word(kInfinity), word(-2), word(1)), word(-kInfinity));
  EXPECT_EQ(mad(word(0x1p127f), word(2), word(0)), word(kInfinity));
  EXPECT_TRUE(std::isnan(std::bit_cast<float>(mad(word(kInfinity), word(0), word(1)))));
  EXPECT_TRUE(std::isnan(std::bit_cast<float>(mad(word(kInfinity), word(1), word(-kInfinity)))));
  EXPECT_EQ(mad(0x7fc00000u, word(1), word(1)) & 1u, 1u);
}

std::vector<float> applied(VectorCall call, std::vector<float> numbers) {
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
  VectorFunction function;
  double (*exact)(double);
  double low, high;
  double relative, absolute;  // the error is below one or the other
};

// The bounds are those of docs/internals/numerics.md.
const Function kFunctions[] = {
    {"exp", VectorFunction::exp, [](double x) { return std::exp(x); }, -87, 88.7, 3e-7, 0},
    {"log", VectorFunction::log, [](double x) { return std::log(x); }, 1e-30, 30, 3e-7, 2e-7},
    {"sqrt", VectorFunction::sqrt, [](double x) { return std::sqrt(x); }, 0, 1e6, 1.3e-7, 0},
    {"reciprocal", VectorFunction::reciprocal, [](double x) { return 1 / x; }, -50, 50, 2e-7, 0},
    {"sigmoid", VectorFunction::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, -80, 80, 6e-7, 0},
    {"tanh", VectorFunction::tanh, [](double x) { return std::tanh(x); }, -10, 10, 4e-7, 0},
    {"gelu", VectorFunction::gelu, [](double x) { return x * cdf(x); }, -10, 10, 3e-6, 3e-7},
    {"gelu_derivative", VectorFunction::gelu_derivative, [](double x) { return cdf(x) + x * phi(x); }, -10, 10, 3e-6, 3e-7},
    {"sine", VectorFunction::sine, [](double x) { return std::sin(x); }, -100, 100, 3e-7, 3e-7},
    {"cosine", VectorFunction::cosine, [](double x) { return std::cos(x); }, -100, 100, 3e-7, 3e-7},
    {"square", VectorFunction::square, [](double x) { return x * x; }, -100, 100, 6e-8, 0},
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
    const std::vector<float> y = applied({.function = f.function}, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double exact = f.exact(static_cast<double>(x[i])), error = std::fabs(static_cast<double>(y[i]) - exact);
      if (x[i] == 0 && f.function == VectorFunction::reciprocal) continue;
      ASSERT_LE(error, std::max({f.relative * std::fabs(exact), f.absolute, 1.2e-38})) << f.name << '(' << x[i] << ") is " << y[i];
    }
  }
}

TEST(Functions, AtTheEnds) {
  const auto one = [](VectorFunction f, float x) { return applied({.function = f}, {x})[0]; };
  EXPECT_EQ(one(VectorFunction::exp, 100), kInfinity);
  EXPECT_EQ(one(VectorFunction::exp, -200), 0.0f);
  EXPECT_EQ(one(VectorFunction::exp, -kInfinity), 0.0f);
  EXPECT_EQ(one(VectorFunction::exp, 0), 1.0f);
  EXPECT_EQ(one(VectorFunction::log, 0), -kInfinity);
  EXPECT_EQ(one(VectorFunction::log, 1), 0.0f);
  EXPECT_TRUE(std::isnan(one(VectorFunction::log, -1)));
  EXPECT_EQ(one(VectorFunction::reciprocal, -0.0f), -kInfinity);
  EXPECT_EQ(word(one(VectorFunction::reciprocal, kInfinity)), 0u);
  EXPECT_EQ(one(VectorFunction::reciprocal, 4), 0.25f);
  EXPECT_EQ(one(VectorFunction::sqrt, 0), 0.0f);
  EXPECT_EQ(one(VectorFunction::sqrt, 9), 3.0f);
  EXPECT_TRUE(std::isnan(one(VectorFunction::sqrt, -4)));
  EXPECT_EQ(one(VectorFunction::sigmoid, -kInfinity), 0.0f);
  EXPECT_EQ(one(VectorFunction::sigmoid, 0), 0.5f);
  EXPECT_EQ(one(VectorFunction::tanh, kInfinity), 1.0f);
  EXPECT_EQ(one(VectorFunction::tanh, -kInfinity), -1.0f);
  EXPECT_EQ(one(VectorFunction::gelu, 50), 50.0f);
  EXPECT_EQ(one(VectorFunction::gelu, -50), 0.0f);
  EXPECT_EQ(one(VectorFunction::gelu_derivative, 50), 1.0f);
  EXPECT_TRUE(std::isnan(one(VectorFunction::sine, kInfinity)));
  for (VectorFunction f : {VectorFunction::exp, VectorFunction::log, VectorFunction::tanh, VectorFunction::gelu, VectorFunction::sigmoid})
    EXPECT_TRUE(std::isnan(one(f, std::numeric_limits<float>::quiet_NaN()))) << static_cast<int>(f);
}

TEST(Functions, WithArguments) {
  const std::vector<float> leaky = applied({.function = VectorFunction::lrelu, .argument = 0.25f}, {-4, 4});
  EXPECT_EQ(leaky[0], -1.0f);
  EXPECT_EQ(leaky[1], 4.0f);
  EXPECT_EQ(applied({.function = VectorFunction::power, .exponent = 5}, {-2})[0], -32.0f);
  EXPECT_EQ(applied({.function = VectorFunction::power, .exponent = 0}, {-2})[0], 1.0f);
  EXPECT_EQ(applied({.function = VectorFunction::power, .exponent = -2}, {4})[0], 0.0625f);
  EXPECT_EQ(applied({.function = VectorFunction::scale, .argument = 2.0f}, {3})[0], 6.0f);
}

TEST(Functions, RoundOnTheWayToADestinationOf16Bits) {
  std::array<std::uint32_t, 16> words;
  words.fill(word(1.0078125f));
  best_vector_unit().apply({.function = VectorFunction::square, .form = Dest::bf16, .numbers = words.data(), .count = 16});
  EXPECT_EQ(words[0], word(1.015625f));  // 1.01568603515625
  words.fill(word_of_fp16(0x3c01));      // 1 + 2^-10
  best_vector_unit().apply({.function = VectorFunction::square, .form = Dest::fp16, .numbers = words.data(), .count = 16});
  EXPECT_EQ(words[0], word_of_fp16(0x3c02));
  words.fill(word_of_fp16(0x7800));  // 2^15: its square is too large
  best_vector_unit().apply({.function = VectorFunction::square, .form = Dest::fp16, .numbers = words.data(), .count = 16});
  EXPECT_EQ(words[0], kLargestFp16);
  std::array<std::uint32_t, 16> second;
  words.fill(word(-3));
  second.fill(word(-2));
  best_vector_unit().apply(
      {.function = VectorFunction::maximum, .form = Dest::bf16, .numbers = words.data(), .count = 16, .second = second.data()});
  EXPECT_EQ(words[7], word(-2));
}

}  // namespace
}  // namespace buda::numerics
