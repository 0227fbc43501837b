// SPDX-License-Identifier: Apache-2.0
// Where bits are lost, by hand-made examples.
#include <buda/arith/precision.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace buda::arith {
namespace {

float rounded(DestRounding r, float v) {
  round_in_dest(r, {&v, 1});
  return v;
}

TEST(Precision, DestinationRoundsHalfAwayFromZero) {
  EXPECT_EQ(rounded(DestRounding::bf16, 1.0f + 0x1p-8f), 1.0f + 0x1p-7f);
  EXPECT_EQ(rounded(DestRounding::bf16, -1.0f - 0x1p-8f), -1.0f - 0x1p-7f);
  EXPECT_EQ(rounded(DestRounding::bf16, 1.0f + 0x1p-8f - 0x1p-23f), 1.0f);
  EXPECT_EQ(rounded(DestRounding::fp16, 1.0f + 0x1p-11f), 1.0f + 0x1p-10f);
  EXPECT_EQ(rounded(DestRounding::fp16, 1.0f + 0x1p-12f), 1.0f);
  EXPECT_EQ(rounded(DestRounding::none, 1.0f + 0x1p-23f), 1.0f + 0x1p-23f);
}

TEST(Precision, DestinationRangeOfFp16) {
  EXPECT_EQ(rounded(DestRounding::fp16, 1e6f), 131008.0f);
  EXPECT_EQ(rounded(DestRounding::fp16, -INFINITY), -131008.0f);
  EXPECT_EQ(rounded(DestRounding::fp16, 0x1p-15f), 0.0f);
  EXPECT_EQ(rounded(DestRounding::fp16, 0x1p-14f), 0x1p-14f);
}

TEST(Precision, Bf16KeepsSpecialNumbers) {
  EXPECT_TRUE(std::isnan(rounded(DestRounding::bf16, std::bit_cast<float>(0x7fffffffu))));
  EXPECT_EQ(rounded(DestRounding::bf16, INFINITY), INFINITY);
  EXPECT_EQ(rounded(DestRounding::bf16, std::numeric_limits<float>::max()), INFINITY);
}

TEST(Precision, WidthOfTheDestination) {
  EXPECT_EQ(dest_rounding(Mode::exact, DataFormat::float32, DataFormat::float16_b), DestRounding::none);
  EXPECT_EQ(dest_rounding(Mode::exact, DataFormat::float16_b, DataFormat::float32), DestRounding::bf16);
  EXPECT_EQ(dest_rounding(Mode::exact, DataFormat::float16, DataFormat::bfp8), DestRounding::fp16);
  EXPECT_EQ(dest_rounding(Mode::exact, DataFormat::invalid, DataFormat::bfp8), DestRounding::fp16);
  EXPECT_EQ(dest_rounding(Mode::fp32, DataFormat::float16_b, DataFormat::float16_b), DestRounding::none);
}

TEST(Precision, PackingRoundsAndPushingTruncates) {
  float packed = 1.0f + 0x1p-8f, stored = packed;
  pack(Mode::exact, DestRounding::none, DataFormat::float16_b, {&packed, 1}, 1);
  store(Mode::exact, DataFormat::float16_b, {&stored, 1}, 1);
  EXPECT_EQ(packed, 1.0f + 0x1p-7f);
  EXPECT_EQ(stored, 1.0f);
  float kept = 1.0f + 0x1p-20f;
  pack(Mode::fp32, DestRounding::none, DataFormat::bfp2_b, {&kept, 1}, 1);
  EXPECT_EQ(kept, 1.0f + 0x1p-20f);
  float integer = 2.7f;
  pack(Mode::fp32, DestRounding::none, DataFormat::int8, {&integer, 1}, 1);
  EXPECT_EQ(integer, 3.0f);
}

TEST(Precision, MultiplierOperands) {
  // 10 fraction bits, all set.
  const float v = 1.0f + 1023.0f / 1024.0f;
  EXPECT_EQ(masked_bits(v, kMultiplierA.high), 1.0f + 15.0f / 16.0f);
  EXPECT_EQ(masked_bits(v, kMultiplierA.full), 1.0f + 511.0f / 512.0f);
  EXPECT_EQ(masked_bits(v, kMultiplierB.high), 1.0f + 63.0f / 64.0f);
  EXPECT_EQ(masked_bits(v, kMultiplierB.full), v);
}

}  // namespace
}  // namespace buda::arith
