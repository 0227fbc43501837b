// SPDX-License-Identifier: Apache-2.0
// The matrix unit, against results worked out by hand from its description (matrix_unit.hpp).
#include "words.hpp"

#include <buda/numerics/matmul.hpp>
#include <buda/numerics/matrix_unit.hpp>
#include <buda/numerics/unpack.hpp>

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <vector>

namespace buda::numerics {
namespace {

using Sixteen = std::array<std::uint32_t, kInner>;

// 16 operands, of which the first few are given.
Sixteen operands(std::initializer_list<double> first, double rest = 0) {
  Sixteen out;
  out.fill(word(rest));
  std::size_t i = 0;
  for (double v : first) out[i++] = word(v);
  return out;
}

constexpr Multiplication kWide{Source::tf32, Dest::fp32, 0};
constexpr Multiplication kNarrow{Source::bf16, Dest::bf16, 0};

TEST(Mvmul, AddsSixteenProducts) {
  const Sixteen ones = operands({}, 1);
  EXPECT_EQ(value(mvmul(kNarrow, ones, ones, 0)), 16.0f);
  EXPECT_EQ(value(mvmul(kNarrow, ones, ones, word(-20))), -4.0f);
  EXPECT_EQ(mvmul(kNarrow, ones, ones, word(-16)), 0u);  // +0
}

TEST(Mvmul, APhaseSeesItsBitsOnly) {
  // 1 + 2^-5 is 1 in the five bits of A, and 2^-5 in the next five; B has both in its first seven.
  const Sixteen x = operands({1.03125}), one = operands({1});
  EXPECT_EQ(value(mvmul({Source::bf16, Dest::fp32, 0}, x, one, 0)), 1.0f);
  EXPECT_EQ(value(mvmul({Source::bf16, Dest::fp32, 1}, x, one, 0)), 0.03125f);
  EXPECT_EQ(value(mvmul({Source::bf16, Dest::fp32, 0}, one, x, 0)), 1.03125f);
  // The last of B's bits: 2^-7 of a bf16. Of A the tenth fraction bit is never used.
  const Sixteen low = operands({1.0078125}), lowest = operands({1 + 0x1p-10});
  EXPECT_EQ(value(mvmul({Source::bf16, Dest::fp32, 0}, one, low, 0)), 1.0f);
  EXPECT_EQ(value(mvmul({Source::bf16, Dest::fp32, 2}, one, low, 0)), 0.0078125f);
  EXPECT_EQ(mvmul({Source::tf32, Dest::fp32, 1}, lowest, one, 0), 0u);
  EXPECT_EQ(value(mvmul({Source::tf32, Dest::fp32, 2}, one, lowest, 0)), 0x1p-10f);
}

TEST(Mvmul, ProductsOfAGroupKeepTenBitsBelowTheLargest) {
  // 2^-11 is half a step of the alignment, and rounds up; 2^-12 vanishes; in the other group both stay what they are.
  const Sixteen ones = operands({}, 1);
  EXPECT_EQ(value(mvmul(kWide, operands({1, 0x1p-11}), ones, 0)), 1 + 0x1p-10f);
  EXPECT_EQ(value(mvmul(kWide, operands({1, -0x1p-11}), ones, 0)), 1 - 0x1p-10f);
  EXPECT_EQ(value(mvmul(kWide, operands({1, 0x1p-12}), ones, 0)), 1.0f);
  EXPECT_EQ(value(mvmul(kWide, operands({1, 0, 0, 0, 0, 0, 0, 0, 0x1p-12}), ones, 0)), 1 + 0x1p-12f);
}

TEST(Mvmul, SumsAreRoundedTowardsPlusInfinityWhereTheyAreHalves) {
  const Sixteen one = operands({1});
  EXPECT_EQ(value(mvmul(kWide, one, one, word(0x1p24))), 0x1p24f + 2);
  EXPECT_EQ(value(mvmul(kWide, one, operands({-1}), word(0x1p24))), 0x1p24f);
  // The destination's halves go away from zero.
  EXPECT_EQ(value(mvmul(kWide, operands({0x1p24}), one, word(-1))), 0x1p24f - 2);
}

TEST(Mvmul, MinusOneUnitComesOutWrong) {
  // 1 - 1 - 2^-23, which Wormhole takes for -2^4.
  EXPECT_EQ(value(mvmul(kWide, operands({-1, 0, 0, 0, 0, 0, 0, 0, -0x1p-23}), operands({}, 1), word(1))), -16.0f);
  EXPECT_EQ(value(mvmul(kWide, operands({1, 0, 0, 0, 0, 0, 0, 0, 0x1p-23}), operands({}, 1), word(-1))), 0x1p-23f);
}

TEST(Mvmul, HasNoInfinitiesNaNOrDenormals) {
  const Sixteen one = operands({1});
  EXPECT_EQ(value(mvmul(kWide, operands({0x1p127}), operands({2}), 0)), kInfinity);
  EXPECT_EQ(value(mvmul(kWide, operands({-0x1p127}), operands({2}), 0)), -kInfinity);
  // What overflowed is an ordinary number of exponent 255: half of it is finite again.
  EXPECT_EQ(value(mvmul(kWide, operands({kInfinity}), operands({0.5}), 0)), 0x1p127f);
  EXPECT_EQ(mvmul(kWide, operands({kInfinity}), operands({0}), 0), 0u);
  EXPECT_EQ(mvmul(kWide, operands({0x1p-127}), one, 0), 0u);
  EXPECT_EQ(mvmul(kWide, operands({0x1p-126}), operands({-0.5}), 0), 0u);
  EXPECT_EQ(value(mvmul(kWide, operands({0x1p-126}), one, 0)), 0x1p-126f);
}

TEST(Mvmul, Fp16SaturatesAndMayAddInto32Bits) {
  const std::uint32_t one = word_of_fp16(0x3c00), large = word_of_fp16(0x7c00), minus_two = word_of_fp16(0xc000);  // 1, 2^16, -2
  Sixteen a{}, b{};
  a[0] = large;
  b[0] = minus_two;
  EXPECT_EQ(mvmul({Source::fp16, Dest::fp16, 0}, a, b, 0), kSignBit | kLargestFp16);
  EXPECT_EQ(value(mvmul({Source::fp16, Dest::fp32, 0}, a, b, 0)), -0x1p17f);
  b[0] = one;
  EXPECT_EQ(mvmul({Source::fp16, Dest::fp16, 0}, a, b, 0), large);
}

TEST(Elementwise, ProductsAndSums) {
  EXPECT_EQ(value(elwmul(kNarrow, word(3), word(-2.5), word(1))), -6.5f);
  EXPECT_EQ(value(elwadd(Source::bf16, Dest::bf16, word(3), word(-2.5), 0)), 0.5f);
  EXPECT_EQ(value(elwadd(Source::bf16, Dest::bf16, word(3), word(-2.5), word(8))), 8.5f);
  // 2^-11 rounds up to the last of the eleven bits, 2^-12 vanishes.
  EXPECT_EQ(value(elwadd(Source::tf32, Dest::fp32, word(1), word(0x1p-11), 0)), 1 + 0x1p-10f);
  EXPECT_EQ(value(elwadd(Source::tf32, Dest::fp32, word(1), word(0x1p-12), 0)), 1.0f);
  EXPECT_EQ(elwadd(Source::bf16, Dest::bf16, word(-0.0), word(0x1p-130), 0), 0u);
  // 257 of 256 and 1 is a half of the 8 bits that a bf16 has.
  EXPECT_EQ(value(elwadd(Source::bf16, Dest::bf16, word(256), word(1), 0)), 258.0f);
  EXPECT_EQ(value(elwadd(Source::bf16, Dest::bf16, word(-256), word(-1), 0)), -258.0f);
}

TEST(PoolMax, OrdersBySignAndMagnitude) {
  EXPECT_EQ(value(pool_max(word(-3), word(-2))), -2.0f);
  EXPECT_EQ(value(pool_max(word(5), word(-7))), 5.0f);
  EXPECT_EQ(value(pool_max(0xffffffffu, word(-1e30))), -1e30f);
  EXPECT_EQ(pool_max(word(-1), word(-0x1p-130)), 0u);  // a denormal is +0
}

TEST(Multiply, GoesThroughTilesThenPhasesThenHalves) {
  // Where every step rounds to 8 bits the order is seen: 256 + 1 is 258 first, and 1 + 1 + 256 is 258, too, but 256 + 1 + 1 + 1 is 262.
  std::vector<std::uint32_t> left(64), right(64 * 32);
  for (std::size_t k : {0u, 16u, 32u, 48u}) left[k] = word(1);
  for (std::size_t k : {0u, 16u, 32u, 48u}) right[k * 32] = word(k == 0 ? 256 : 1);
  std::vector<std::uint32_t> sums(32);
  const unsigned phases[] = {0};
  multiply({Source::bf16, Dest::bf16, phases, 32}, LeftOperand(left, 64), RightOperand(right, 32), 0, 64, sums, 1);
  EXPECT_EQ(value(sums[0]), 262.0f);
  EXPECT_EQ(sums[1], 0u);
  // Part of the inner dimension only.
  std::fill(sums.begin(), sums.end(), 0u);
  multiply({Source::bf16, Dest::bf16, phases, 32}, LeftOperand(left, 64), RightOperand(right, 32), 32, 32, sums, 1);
  EXPECT_EQ(value(sums[0]), 2.0f);
}

TEST(Multiply, TakesMatricesOfAnySizeAndThreads) {
  constexpr std::size_t kM = 41, kK = 32, kN = 48;
  std::vector<std::uint32_t> left(kM * kK), right(kK * kN);
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = word(static_cast<double>(static_cast<int>(i * 7 % 13) - 6));
  for (std::size_t i = 0; i < right.size(); ++i) right[i] = word(static_cast<double>(static_cast<int>(i * 5 % 11) - 5));
  const unsigned phases[] = {0, 1};
  for (unsigned threads : {1u, 3u}) {
    std::vector<std::uint32_t> sums(kM * kN);
    multiply({Source::bf16, Dest::fp32, phases, 32}, LeftOperand(left, kK), RightOperand(right, kN), 0, kK, sums, threads);
    for (std::size_t i = 0; i < kM; ++i)
      for (std::size_t j = 0; j < kN; ++j) {
        double exact = 0;  // small integers: nothing is rounded
        for (std::size_t k = 0; k < kK; ++k)
          exact += static_cast<double>(value(left[i * kK + k])) * static_cast<double>(value(right[k * kN + j]));
        ASSERT_EQ(static_cast<double>(value(sums[i * kN + j])), exact) << i << ' ' << j;
      }
  }
}

}  // namespace
}  // namespace buda::numerics
