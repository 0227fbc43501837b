// SPDX-License-Identifier: Apache-2.0
// 8-bit floats: every bit pattern, and what lies between.
#include <buda/tensor/formats/float8.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace buda {
namespace {

constexpr Float8 kFloat8Formats[] = {Float8::e4m3fn, Float8::e4m3fnuz, Float8::e5m2, Float8::e5m2fnuz};

TEST(Float8, NumbersOfTheFormatStayWhatTheyAre) {
  for (Float8 format : kFloat8Formats) {
    SCOPED_TRACE(float8_name(format));
    for (int bits = 0; bits < 256; ++bits) {
      double v = static_cast<double>(float8_to_float(format, static_cast<std::uint8_t>(bits)));
      if (!std::isfinite(v)) continue;
      EXPECT_EQ(float8_rounded(format, v, true), v) << bits;
    }
  }
}

TEST(Float8, HalfwayGoesToTheEvenMantissa) {
  for (Float8 format : kFloat8Formats) {
    SCOPED_TRACE(float8_name(format));
    for (int bits = 0; bits < 126; ++bits) {
      auto at = [&](int b) { return static_cast<double>(float8_to_float(format, static_cast<std::uint8_t>(b))); };
      double low = at(bits), high = at(bits + 1), middle = (low + high) / 2;
      if (!std::isfinite(low) || !std::isfinite(high)) continue;
      EXPECT_EQ(float8_rounded(format, middle, true), bits % 2 == 0 ? low : high) << bits;
      EXPECT_EQ(float8_rounded(format, std::nextafter(middle, high), true), high) << bits;
      EXPECT_EQ(float8_rounded(format, -std::nextafter(middle, low), true), -low) << bits;
    }
  }
}

TEST(Float8, SpecialValues) {
  EXPECT_TRUE(std::isnan(float8_to_float(Float8::e4m3fn, 0xff)));
  EXPECT_TRUE(std::isnan(float8_to_float(Float8::e4m3fnuz, 0x80)));
  EXPECT_EQ(float8_to_float(Float8::e5m2, 0xfc), -HUGE_VALF);
  EXPECT_EQ(float8_to_float(Float8::e4m3fn, 0x7e), 448);
  EXPECT_EQ(float8_to_float(Float8::e4m3fnuz, 0x7f), 240);
  EXPECT_EQ(float8_to_float(Float8::e5m2fnuz, 0x7f), 57344);
  EXPECT_FALSE(std::signbit(float8_rounded(Float8::e5m2fnuz, -0.0, true)));
  EXPECT_TRUE(std::signbit(float8_rounded(Float8::e5m2, -0.0, true)));
  EXPECT_EQ(float8_rounded(Float8::e4m3fn, -1e9, true), -448);
  EXPECT_TRUE(std::isnan(float8_rounded(Float8::e4m3fn, 465, false)));
  EXPECT_EQ(float8_rounded(Float8::e4m3fn, 463, false), 448);
}

TEST(Float8, Names) {
  for (Float8 format : kFloat8Formats) EXPECT_EQ(float8_by_name(float8_name(format)), format);
  EXPECT_FALSE(float8_by_name("E3M4"));
}

}  // namespace
}  // namespace buda
