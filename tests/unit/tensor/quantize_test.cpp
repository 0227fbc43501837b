// SPDX-License-Identifier: Apache-2.0
// What numbers become in each device format, against exact arithmetic.
#include <buda/tensor/formats/quantize.hpp>

#include "reference_formats.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace buda {
namespace {

std::vector<DataFormat> formats_where(bool bfp) {
  std::vector<DataFormat> out;
  for (DataFormat f : netlist_formats())
    if (is_bfp(f) == bfp) out.push_back(f);
  if (!bfp) out.push_back(DataFormat::tf32);
  return out;
}

std::vector<float> quantized(std::vector<float> v, DataFormat f, BfpRounding rounding = BfpRounding::half_up) {
  quantize_to_format(v, 1, v.size(), f, rounding);
  return v;
}

// Equal bits, save for NaN.
void expect_same(float got, double want, float input, DataFormat f) {
  auto narrow = static_cast<float>(want);
  if (std::isnan(narrow)) {
    ASSERT_TRUE(std::isnan(got)) << format_name(f) << ' ' << input;
    return;
  }
  ASSERT_EQ(got, narrow) << format_name(f) << " of " << input;
}

TEST(Quantize, LoneNumbers) {
  std::vector<float> inputs = reference::awkward_values();
  Rng rng(3);
  for (int i = 0; i < 20000; ++i)
    inputs.push_back(static_cast<float>(std::ldexp(rng.uniform(-2, 2), static_cast<int>(rng.below(60)) - 20)));
  for (DataFormat f : formats_where(false)) {
    std::vector<float> got = quantized(inputs, f);
    for (std::size_t i = 0; i < inputs.size(); ++i) expect_same(got[i], reference::value(f, inputs[i]), inputs[i], f);
    EXPECT_EQ(std::signbit(got[1]), is_float(f)) << "-0 in " << format_name(f);
  }
}

TEST(Quantize, LoneNumbersByHand) {
  using F = DataFormat;
  auto one = [](F f, float v) { return quantized({v}, f)[0]; };
  EXPECT_EQ(one(F::float16_b, 1.0f + 0x1.fp-8f), 1.0f) << "truncated, not rounded";
  EXPECT_EQ(one(F::float16_b, 0x1p-130f), 0x1p-130f) << "denormals stay";
  EXPECT_EQ(one(F::float16_b, std::bit_cast<float>(0x7f800001u)), std::numeric_limits<float>::infinity()) << "a NaN whose payload is cut";
  EXPECT_EQ(one(F::float16, 1e9f), 131008.0f);
  EXPECT_EQ(one(F::float16, -std::numeric_limits<float>::infinity()), -131008.0f);
  EXPECT_EQ(one(F::float16, 0x1p-14f), 0x1p-14f);
  EXPECT_EQ(one(F::float16, std::nextafter(0x1p-14f, 0.0f)), 0.0f);
  EXPECT_EQ(one(F::lf8, 1.74f), 1.5f);
  EXPECT_EQ(one(F::lf8, 1e9f), 114688.0f);
  EXPECT_EQ(one(F::fp8_e4m3, 1.74f), 1.5f) << "packed as Lf8";
  EXPECT_EQ(one(F::tf32, 1.0f + 0x1p-10f + 0x1p-11f), 1.0f + 0x1p-10f);
  EXPECT_EQ(one(F::int8, 0.49999997f), 0.0f);
  EXPECT_EQ(one(F::int8, 2.5f), 3.0f);
  EXPECT_EQ(one(F::int8, -2.5f), -3.0f);
  EXPECT_EQ(one(F::int8, -200.0f), -127.0f);
  EXPECT_EQ(one(F::int32, 2.9f), 2.0f) << "positive numbers are truncated";
  EXPECT_EQ(one(F::int32, -2.9f), -3.0f) << "negative ones are rounded";
  EXPECT_EQ(one(F::int32, -2.4f), -2.0f);
  EXPECT_EQ(one(F::int32, 1e20f), 0x1p31f) << "2^31-1, seen as a float";
  EXPECT_EQ(one(F::uint8, -3.0f), 0.0f);
  EXPECT_EQ(one(F::uint16, 70000.0f), 65535.0f);
  for (F f : {F::int8, F::int32, F::uint8, F::uint16, F::raw_uint32}) EXPECT_EQ(one(f, std::nanf("")), 0.0f) << format_name(f);
}

TEST(Quantize, HostsRoundBeforePacking) {
  using F = DataFormat;
  auto one = [](F f, float v) {
    round_before_packing({&v, 1}, f);
    return quantized({v}, f)[0];
  };
  EXPECT_EQ(one(F::float16_b, 1.0f + 0x1.1p-8f), 1.0f + 0x1p-7f);
  EXPECT_EQ(one(F::float16_b, 1.0f + 0x1p-8f), 1.0f) << "a tie to even";
  EXPECT_EQ(one(F::float16_b, -1.0f - 0x3p-8f), -1.0f - 0x1p-6f) << "a tie to even";
  EXPECT_EQ(one(F::float16_b, std::numeric_limits<float>::max()), std::bit_cast<float>(0x7f7f0000u)) << "finite numbers stay finite";
  EXPECT_EQ(one(F::float16_b, -std::numeric_limits<float>::infinity()), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(one(F::float16_b, std::nanf(""))));
  EXPECT_EQ(one(F::float16, 1.0f + 0x1.1p-11f), 1.0f + 0x1p-10f);
  EXPECT_EQ(one(F::float16, 1e9f), 131008.0f);
  EXPECT_EQ(one(F::lf8, 1.74f), 1.75f);
  EXPECT_EQ(one(F::float32, 1.0f + 0x1p-23f), 1.0f + 0x1p-23f);
  EXPECT_EQ(one(F::int32, 2.9f), 2.0f);
  // No bias: the mean of what is lost is near zero, where cutting loses a half of the last bit.
  std::vector<float> numbers(4096);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = 1.0f + static_cast<float>(i) * 0x1p-12f + 0x1p-13f;
  const double before = std::accumulate(numbers.begin(), numbers.end(), 0.0);
  round_before_packing(numbers, F::float16_b);
  EXPECT_NEAR(std::accumulate(numbers.begin(), numbers.end(), 0.0) / before, 1.0, 1e-5);
}

TEST(Quantize, BfpByHand) {
  using F = DataFormat;
  // The largest, 1.5, has exponent 0: units are 2^-6, 2^-2 and 1.
  const std::vector<float> v = {1.5f, 0x1p-6f, 0x1p-7f, 0x1.fffffep-8f, -0.3f, -0x1p-9f, 1.0f, 0.0f};
  for (F f : {F::bfp8, F::bfp8_b})
    EXPECT_EQ(quantized(v, f), (std::vector<float>{1.5f, 0x1p-6f, 0x1p-6f, 0.0f, -19 * 0x1p-6f, 0.0f, 1.0f, 0.0f})) << format_name(f);
  for (F f : {F::bfp4, F::bfp4_b})
    EXPECT_EQ(quantized(v, f), (std::vector<float>{1.5f, 0.0f, 0.0f, 0.0f, -0.25f, 0.0f, 1.0f, 0.0f})) << format_name(f);
  for (F f : {F::bfp2, F::bfp2_b})
    EXPECT_EQ(quantized(v, f), (std::vector<float>{1.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 1.0f, 0.0f}))
        << "m is 1 at most: " << format_name(f);
  EXPECT_FALSE(std::signbit(quantized(v, F::bfp8_b)[5])) << "a zero has no sign";
  // Rounding up from 127.5 would need an eighth bit.
  EXPECT_EQ(quantized({1.999f}, F::bfp8_b)[0], 127 * 0x1p-6f);
  EXPECT_EQ(quantized({1.5f, 0.99f}, F::bfp8_b, BfpRounding::truncate)[1], 63 * 0x1p-6f);
  // Family A ends at 2^17 - 2^10; family B goes on.
  EXPECT_EQ(quantized({1e6f}, F::bfp8)[0], 127 * 0x1p10f);
  EXPECT_EQ(quantized({0x1p30f}, F::bfp8_b)[0], 0x1p30f);
  // Family A below 2^-15 keeps the unit of exponent 0.
  EXPECT_EQ(quantized({0x1p-20f, 0x1p-21f, 0x1p-23f}, F::bfp8), (std::vector<float>{0x1p-20f, 0x1p-21f, 0.0f}));
  // An infinity takes the others with it; a NaN is one of the large numbers.
  float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(quantized({inf, 1.0f}, F::bfp8_b), (std::vector<float>{inf, 0.0f}));
  EXPECT_EQ(quantized({std::nanf(""), 1.0f}, F::bfp8_b), (std::vector<float>{inf, 0.0f}));
  EXPECT_EQ(quantized({inf, 0x1p127f}, F::bfp8_b), (std::vector<float>{inf, 0x1p127f}));
  EXPECT_EQ(quantized({-inf, 1.0f}, F::bfp8), (std::vector<float>{-127 * 0x1p10f, 0.0f}));
  EXPECT_EQ(quantized({inf, -inf}, F::bfp2_b), (std::vector<float>{inf, -inf}));
}

TEST(Quantize, BfpGroupsOfEveryMagnitude) {
  Rng rng(11);
  for (DataFormat f : formats_where(true)) {
    for (BfpRounding rounding : {BfpRounding::half_up, BfpRounding::truncate}) {
      for (int top = -135; top <= 127; ++top) {
        for (int spread : {0, 3, 12, 40}) {
          std::vector<float> v = reference::random_group(rng, top, spread);
          std::vector<float> got = quantized(v, f, rounding);
          reference::Group want = reference::group(f, v, rounding);
          for (std::size_t i = 0; i < v.size(); ++i) {
            expect_same(got[i], want.value[i], v[i], f);
            ASSERT_EQ(std::signbit(got[i]), want.negative[i]);
          }
        }
      }
    }
  }
}

TEST(Quantize, BfpTies) {
  // With an anchor of 1, every multiple of half a unit and its neighbours.
  for (DataFormat f : formats_where(true)) {
    double unit = std::ldexp(1.0, 1 - bfp_magnitude_bits(f));
    for (int half = 0; half < 2 << bfp_magnitude_bits(f); ++half) {
      auto tie = static_cast<float>(half * unit / 2);
      for (float x : {tie, std::nextafter(tie, 0.0f), std::nextafter(tie, 4.0f)}) {
        if (x >= 2.0f) continue;
        std::vector<float> v(16, 0.0f);
        v[3] = -1.0f;
        v[9] = x;
        reference::Group want = reference::group(f, v);
        std::vector<float> got = quantized(v, f);
        ASSERT_EQ(static_cast<double>(got[9]), want.value[9]) << format_name(f) << ' ' << x;
      }
    }
  }
}

TEST(Quantize, BfpSpecialNeighbours) {
  std::vector<float> awkward = reference::awkward_values();
  Rng rng(5);
  for (DataFormat f : formats_where(true)) {
    for (int round = 0; round < 2000; ++round) {
      std::vector<float> v;
      for (int i = 0; i < 16; ++i) v.push_back(awkward[rng.below(awkward.size())]);
      reference::Group want = reference::group(f, v);
      std::vector<float> got = quantized(v, f);
      for (std::size_t i = 0; i < v.size(); ++i) {
        // Family A saturates NaN with infinity; in B it is a large number, of which the reference and we keep the magnitude.
        if (exponent_family(f) == ExponentFamily::a && std::isnan(v[i])) continue;
        expect_same(got[i], want.value[i], v[i], f);
      }
    }
  }
}

TEST(Quantize, GroupsRunAlongRows) {
  // Three rows of 40 columns: groups are columns 0-15, 16-31 and 32-39 of each row.
  const std::size_t rows = 3, cols = 40;
  Rng rng(1);
  std::vector<float> v(rows * cols);
  for (float& x : v) x = static_cast<float>(std::ldexp(rng.uniform(-1, 1), static_cast<int>(rng.below(12))));
  for (DataFormat f : formats_where(true)) {
    std::vector<float> got = v;
    quantize_to_format(got, rows, cols, f);
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < cols; c += 16) {
        auto first = v.begin() + static_cast<std::ptrdiff_t>(r * cols + c);
        std::vector<float> members(first, first + static_cast<std::ptrdiff_t>(std::min<std::size_t>(16, cols - c)));
        reference::Group want = reference::group(f, members);
        for (std::size_t i = 0; i < members.size(); ++i) EXPECT_EQ(static_cast<double>(got[r * cols + c + i]), want.value[i]);
      }
  }
}

TEST(Quantize, IsIdempotent) {
  Rng rng(2);
  std::vector<float> v;
  for (int i = 0; i < 4096; ++i) v.push_back(static_cast<float>(std::ldexp(rng.uniform(-1, 1), static_cast<int>(rng.below(20)))));
  for (DataFormat f : netlist_formats()) {
    std::vector<float> once = v;
    quantize_to_format(once, 64, 64, f);
    std::vector<float> twice = once;
    quantize_to_format(twice, 64, 64, f);
    EXPECT_EQ(once, twice) << format_name(f);
  }
}

TEST(Quantize, EmptyMatrices) {
  std::vector<float> none;
  std::vector<std::int32_t> no_integers;
  for (DataFormat f : netlist_formats()) {
    quantize_to_format(none, 0, 32, f);
    quantize_to_format(none, 32, 0, f);
    quantize_to_format(none, ~std::size_t{0}, 0, f);
    quantize_to_format(no_integers, ~std::size_t{0}, 0, f);
  }
}

TEST(Quantize, Integers) {
  constexpr std::int32_t kMin = std::numeric_limits<std::int32_t>::min(), kMax = std::numeric_limits<std::int32_t>::max();
  const std::vector<std::int32_t> v = {0, 1, -1, 127, 128, -128, 255, 256, 65535, 65536, -65537, kMax, kMin, -kMax};
  using F = DataFormat;
  struct Row {
    F format;
    std::vector<std::int32_t> want;
  };
  const Row rows[] = {
      {F::int8, {0, 1, -1, 127, 127, -127, 127, 127, 127, 127, -127, 127, -127, -127}},
      {F::int32, {0, 1, -1, 127, 128, -128, 255, 256, 65535, 65536, -65537, kMax, -kMax, -kMax}},
      {F::uint8, {0, 1, 0, 127, 128, 0, 255, 255, 255, 255, 0, 255, 0, 0}},
      {F::uint16, {0, 1, 0, 127, 128, 0, 255, 256, 65535, 65535, 0, 65535, 0, 0}},
      {F::raw_uint8, {0, 1, 255, 127, 128, 128, 255, 0, 255, 0, 255, 255, 0, 1}},
      {F::raw_uint16, {0, 1, 65535, 127, 128, 65408, 255, 256, 65535, 0, 65535, 65535, 0, 1}},
      {F::raw_uint32, v},
      {F::float32, {0, 1, -1, 127, 128, -128, 255, 256, 65535, 65536, -65537, kMax, kMin, kMin}},
      {F::float16_b, {0, 1, -1, 127, 128, -128, 255, 256, 65280, 65536, -65536, kMax, kMin, kMin}},
  };
  for (const Row& row : rows) {
    std::vector<std::int32_t> got = v;
    quantize_to_format(got, 1, got.size(), row.format);
    EXPECT_EQ(got, row.want) << format_name(row.format);
  }
  // Bfp groups of integers are those of the matrix, also where it is wide.
  std::vector<std::int32_t> wide(2 * 600, 1);
  wide[600 + 590] = 1000;
  quantize_to_format(wide, 2, 600, F::bfp8_b);
  EXPECT_EQ(wide[600 + 590], 1000);
  EXPECT_EQ(wide[600 + 591], 0) << "1 is a sixteenth of the unit, 8, in its group";
  EXPECT_EQ(wide[600 + 576], 0);
  EXPECT_EQ(wide[600 + 592], 1);
  EXPECT_EQ(wide[600 + 575], 1);
  EXPECT_EQ(wide[590], 1);
}

}  // namespace
}  // namespace buda
