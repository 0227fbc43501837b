// SPDX-License-Identifier: Apache-2.0
// 16-bit floats against a search among all their values.
#include <buda/tensor/half.hpp>

#include <buda/base/rng.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace buda {
namespace {

// The value of a binary16 pattern by its definition.
double half_value(unsigned bits) {
  int exponent = static_cast<int>(bits >> 10 & 31);
  double fraction = (bits & 0x3ff) / 1024.0;
  double magnitude = exponent == 0    ? std::ldexp(fraction, -14)
                     : exponent != 31 ? std::ldexp(1.0 + fraction, exponent - 15)
                     : fraction == 0  ? std::numeric_limits<double>::infinity()
                                      : std::numeric_limits<double>::quiet_NaN();
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST(Half, EveryPatternHasItsValueAndComesBack) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    Half h{static_cast<std::uint16_t>(bits)};
    double expected = half_value(bits);
    float value = to_float(h);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(value)) << bits;
      ASSERT_TRUE(std::isnan(to_float(half_from_float(value))));
      continue;
    }
    ASSERT_EQ(static_cast<double>(value), expected) << bits;
    ASSERT_EQ(std::signbit(value), std::signbit(expected));
    ASSERT_EQ(half_from_float(value), h) << bits;
    ASSERT_EQ(half_from_double(expected), h) << bits;
  }
}

TEST(Half, RoundsToNearestEvenBetweenAnyTwoNeighbours) {
  for (unsigned bits = 0; bits < 0x7bff; ++bits) {
    double low = half_value(bits), high = half_value(bits + 1), middle = (low + high) / 2;
    auto even = static_cast<std::uint16_t>(bits % 2 == 0 ? bits : bits + 1);
    ASSERT_EQ(half_from_double(middle).bits, even) << bits;
    ASSERT_EQ(half_from_double(std::nextafter(middle, 0.0)).bits, bits) << bits;
    ASSERT_EQ(half_from_double(std::nextafter(middle, 1e9)).bits, bits + 1) << bits;
    ASSERT_EQ(half_from_double(-middle).bits, even | 0x8000) << bits;
  }
}

TEST(Half, OverflowAndUnderflow) {
  EXPECT_EQ(half_from_float(65504.0f).bits, 0x7bff);
  EXPECT_EQ(half_from_float(std::nextafter(65520.0f, 0.0f)).bits, 0x7bff);
  EXPECT_EQ(half_from_float(65520.0f).bits, 0x7c00) << "the tie above the largest value goes to the even neighbour, infinity";
  EXPECT_EQ(half_from_float(-1e30f).bits, 0xfc00);
  EXPECT_EQ(half_from_float(0x1p-25f).bits, 0x0000) << "a tie between 0 and the smallest denormal";
  EXPECT_EQ(half_from_float(std::nextafter(0x1p-25f, 1.0f)).bits, 0x0001);
  EXPECT_EQ(half_from_float(-1e-30f).bits, 0x8000);
  EXPECT_EQ(half_from_double(std::numeric_limits<double>::denorm_min()).bits, 0);
}

TEST(Half, DoublesAreRoundedOnce) {
  // As a float this is the tie 1 + 2^-11, which would go down to 1.
  EXPECT_EQ(half_from_double(1.0 + 0x1p-11 + 0x1p-40).bits, 0x3c01);
}

TEST(BFloat16, RoundsToNearestEven) {
  EXPECT_EQ(bfloat16_from_float(1.0f).bits, 0x3f80);
  EXPECT_EQ(bfloat16_from_float(1.0f + 0x1p-8f).bits, 0x3f80) << "tie to even";
  EXPECT_EQ(bfloat16_from_float(1.0f + 0x1p-8f + 0x1p-20f).bits, 0x3f81);
  EXPECT_EQ(bfloat16_from_float(1.0f + 0x3p-8f).bits, 0x3f82) << "tie to even";
  EXPECT_EQ(bfloat16_from_float(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_EQ(bfloat16_from_float(-std::numeric_limits<float>::infinity()).bits, 0xff80);
  EXPECT_EQ(bfloat16_from_float(std::numeric_limits<float>::denorm_min()).bits, 0);
  for (std::uint32_t nan : {0x7f800001u, 0x7fffffffu, 0xff800001u, 0xffffffffu}) {
    float value = to_float(bfloat16_from_float(std::bit_cast<float>(nan)));
    EXPECT_TRUE(std::isnan(value)) << nan;
    EXPECT_EQ(std::signbit(value), nan >> 31 != 0);
  }
}

TEST(BFloat16, DoublesAreRoundedOnce) {
  EXPECT_EQ(bfloat16_from_double(1.0 + 0x1p-8 + 0x1p-40).bits, 0x3f81);
  EXPECT_EQ(bfloat16_from_double(1.0 + 0x3p-8 - 0x1p-40).bits, 0x3f81);
  EXPECT_EQ(bfloat16_from_double(-(1.0 + 0x1p-8 + 0x1p-40)).bits, 0xbf81);
  EXPECT_EQ(bfloat16_from_double(1e300).bits, 0x7f80);
  EXPECT_EQ(bfloat16_from_double(-1e-300).bits, 0x8000);
  EXPECT_TRUE(std::isnan(to_float(bfloat16_from_double(std::nan("")))));
  // Where a float is exact, both ways agree.
  Rng rng(7);
  for (int i = 0; i < 100000; ++i) {
    auto f = std::bit_cast<float>(static_cast<std::uint32_t>(rng.next()));
    if (std::isnan(f)) continue;
    ASSERT_EQ(bfloat16_from_double(static_cast<double>(f)), bfloat16_from_float(f)) << f;
  }
}

}  // namespace
}  // namespace buda
