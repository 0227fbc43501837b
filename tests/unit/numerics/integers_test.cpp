// SPDX-License-Identifier: Apache-2.0
// Integers in registers, against results worked out by hand from their description (integers.hpp).
#include <buda/numerics/integers.hpp>

#include <gtest/gtest.h>

#include <array>

namespace buda::numerics {
namespace {

TEST(Integers, AnInt8InASourceRegisterLooksLikeAFloat16) {
  EXPECT_EQ(source_of_int8(0), 0u);
  EXPECT_EQ(source_of_int8(5), 16u << 23 | 5u << 13);
  EXPECT_EQ(source_of_int8(0x80 | 5), kSignBit | 16u << 23 | 5u << 13);
  EXPECT_EQ(integer_term(source_of_integer(-127)), -127);
}

TEST(Integers, SixteenBitsAreCarriedWhole) {
  for (std::uint32_t datum = 0; datum < 0x10000; ++datum) ASSERT_EQ(int16_of_word(word_of_int16(datum)), datum);
  EXPECT_EQ(word_of_int16(0x8000), kSignBit);
  EXPECT_EQ(word_of_int16(0x0101), 1u << 23 | 1u << 16);
}

// The phases share the bits of both magnitudes out.
TEST(Integers, PhasesTogetherMakeTheProduct) {
  for (std::int32_t a = -127; a <= 127; ++a)
    for (std::int32_t b = -127; b <= 127; ++b) {
      std::int32_t sum = 0;
      for (unsigned phase = 0; phase < 4; ++phase)
        sum += integer_factor_a(source_of_integer(a), phase) * integer_factor_b(source_of_integer(b), phase);
      ASSERT_EQ(sum, a * b);
    }
  EXPECT_EQ(integer_factor_a(source_of_integer(100), 3), 4);  // 100 = 96 + 4
  EXPECT_EQ(integer_factor_a(source_of_integer(100), 2), 96);
  EXPECT_EQ(integer_factor_b(source_of_integer(-100), 3), -4);
  EXPECT_EQ(integer_factor_b(source_of_integer(-100), 1), -96);
}

TEST(Integers, SumsSaturate) {
  EXPECT_EQ(value_of_integer(integer_sum(sign_and_magnitude(-3), 5)), 2);
  EXPECT_EQ(value_of_integer(integer_sum(sign_and_magnitude(kLargestInteger - 1), 5)), kLargestInteger);
  EXPECT_EQ(value_of_integer(integer_sum(sign_and_magnitude(-kLargestInteger), -5)), -kLargestInteger);
  EXPECT_EQ(integer_sum(sign_and_magnitude(-5), 5), 0u);
}

TEST(Integers, PackersSaturateAndClamp) {
  EXPECT_EQ(packed_integer(sign_and_magnitude(-200), true, false), 0xffu);
  EXPECT_EQ(packed_integer(sign_and_magnitude(-3), true, false), 0x83u);
  EXPECT_EQ(packed_integer(sign_and_magnitude(-3), true, true), 0u);
  EXPECT_EQ(packed_integer(sign_and_magnitude(-200), false, false), sign_and_magnitude(-200));
}

}  // namespace
}  // namespace buda::numerics
