// SPDX-License-Identifier: Apache-2.0
// Conversions between element types.
#include <buda/base/rng.hpp>
#include <buda/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace buda {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::nanf("");

template <class To, class From>
std::vector<To> cast(const std::vector<From>& from) {
  Tensor t(Shape{static_cast<std::int64_t>(from.size())}, from);
  Tensor out = t.cast(kDTypeOf<To>);
  EXPECT_EQ(out.dtype(), kDTypeOf<To>);
  EXPECT_EQ(out.shape(), t.shape());
  auto view = out.as<To>();
  return {view.begin(), view.end()};
}

TEST(Cast, FloatToIntegerTruncatesAndSaturates) {
  const std::vector<float> v = {1.9f, -1.9f, 0.99f, -0.99f, 300.0f, -300.0f, kInf, -kInf, kNan, 1e10f, 2147483520.0f};
  EXPECT_EQ((cast<std::int8_t, float>(v)), (std::vector<std::int8_t>{1, -1, 0, 0, 127, -128, 127, -128, 0, 127, 127}));
  EXPECT_EQ((cast<std::uint8_t, float>(v)), (std::vector<std::uint8_t>{1, 0, 0, 0, 255, 0, 255, 0, 0, 255, 255}));
  constexpr std::int32_t kMax = std::numeric_limits<std::int32_t>::max(), kMin = std::numeric_limits<std::int32_t>::min();
  EXPECT_EQ((cast<std::int32_t, float>(v)), (std::vector<std::int32_t>{1, -1, 0, 0, 300, -300, kMax, kMin, 0, kMax, 2147483520}));
  EXPECT_EQ((cast<std::int64_t, float>({0x1p63f, -0x1p63f, 0x1p62f})),
            (std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min(),
                                       std::int64_t{1} << 62}));
  EXPECT_EQ((cast<std::uint64_t, double>({0x1p63, 1e30, -1.0})),
            (std::vector<std::uint64_t>{std::uint64_t{1} << 63, std::numeric_limits<std::uint64_t>::max(), 0}));
  EXPECT_EQ((cast<std::int16_t, Half>({half_from_float(-7.9f), half_from_float(40000.0f)})), (std::vector<std::int16_t>{-7, 32767}));
}

TEST(Cast, IntegerToIntegerKeepsLowBits) {
  EXPECT_EQ((cast<std::uint8_t, std::int32_t>({-1, 256, 511, 3})), (std::vector<std::uint8_t>{255, 0, 255, 3}));
  EXPECT_EQ((cast<std::int8_t, std::uint8_t>({200, 100})), (std::vector<std::int8_t>{-56, 100}));
  EXPECT_EQ((cast<std::int64_t, std::int8_t>({-5})), (std::vector<std::int64_t>{-5}));
  EXPECT_EQ((cast<std::uint64_t, std::int8_t>({-1})), (std::vector<std::uint64_t>{~std::uint64_t{0}}));
}

TEST(Cast, Booleans) {
  auto b = cast<Boolean, float>({0.0f, -0.0f, 0.1f, kNan, -kInf});
  std::vector<int> bytes;
  for (Boolean x : b) bytes.push_back(x.byte);
  EXPECT_EQ(bytes, (std::vector<int>{0, 0, 1, 1, 1}));
  // A file may hold any byte for true.
  EXPECT_EQ((cast<float, Boolean>({Boolean{0}, Boolean{1}, Boolean{7}})), (std::vector<float>{0, 1, 1}));
  EXPECT_EQ((cast<std::int64_t, Boolean>({Boolean{255}})), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(cast<Half>(std::vector<Boolean>{Boolean{2}})[0].bits, 0x3c00);
}

TEST(Cast, FloatsRoundOnceToNearestEven) {
  EXPECT_EQ((cast<float, double>({1.0 + 0x1p-24, 1.0 + 0x3p-24, 1e300})), (std::vector<float>{1.0f, 1.0f + 0x1p-22f, kInf}));
  EXPECT_EQ((cast<Half, double>({1.0 + 0x1p-11 + 0x1p-40}))[0].bits, 0x3c01);
  EXPECT_EQ((cast<float, Half>({Half{0x0001}, Half{0x7c00}, Half{0xc000}})), (std::vector<float>{0x1p-24f, kInf, -2.0f}));
  EXPECT_EQ((cast<BFloat16, Half>({Half{0x3c01}}))[0].bits, 0x3f80);
  EXPECT_EQ((cast<double, BFloat16>({BFloat16{0x4049}})), (std::vector<double>{3.140625}));
  EXPECT_TRUE(std::isnan(cast<double, Half>({Half{0x7e00}})[0]));
}

TEST(Cast, LargeIntegersRoundOnce) {
  const std::int64_t tie = (std::int64_t{1} << 62) + (std::int64_t{1} << 54);  // halfway between two bf16
  EXPECT_EQ((cast<BFloat16, std::int64_t>({tie, tie + 1, tie - 1, -tie - 1}))[0].bits, 0x5e80);
  EXPECT_EQ((cast<BFloat16, std::int64_t>({tie + 1}))[0].bits, 0x5e81);
  EXPECT_EQ((cast<BFloat16, std::int64_t>({tie - 1}))[0].bits, 0x5e80);
  EXPECT_EQ((cast<BFloat16, std::int64_t>({-tie - 1}))[0].bits, 0xde81);
  EXPECT_EQ((cast<BFloat16, std::int64_t>({std::numeric_limits<std::int64_t>::min()}))[0].bits, 0xdf00);
  EXPECT_EQ((cast<BFloat16, std::uint64_t>({~std::uint64_t{0}}))[0].bits, 0x5f80);
  EXPECT_EQ((cast<float, std::uint64_t>({~std::uint64_t{0}})), (std::vector<float>{0x1p64f}));
  EXPECT_EQ((cast<float, std::int32_t>({16777217, 16777219})), (std::vector<float>{16777216.0f, 16777220.0f}));
  EXPECT_EQ((cast<Half, std::int64_t>({65519, 65520, -1}))[0].bits, 0x7bff);
  EXPECT_EQ((cast<Half, std::int64_t>({65520}))[0].bits, 0x7c00);
}

TEST(Cast, EveryPairKeepsSmallNumbers) {
  const std::vector<std::uint8_t> numbers = {0, 1, 2, 3, 100, 127};
  Tensor start(Shape{6}, numbers);
  for (DType from : all_dtypes())
    for (DType to : all_dtypes()) {
      Tensor t = start.cast(from).cast(to).cast(DType::u8);
      bool truth = from == DType::boolean || to == DType::boolean;
      std::vector<std::uint8_t> want = truth ? std::vector<std::uint8_t>{0, 1, 1, 1, 1, 1} : numbers;
      EXPECT_EQ(t, Tensor(Shape{6}, want)) << dtype_name(from) << " to " << dtype_name(to);
    }
}

TEST(Cast, SameTypeSharesMemory) {
  Tensor t(Shape{3}, std::vector<float>{1, 2, 3});
  EXPECT_EQ(t.cast(DType::f32).bytes().data(), t.bytes().data());
}

TEST(Cast, ToF32) {
  EXPECT_EQ(Tensor(Shape{2}, std::vector<std::int16_t>{-3, 9}).to_f32(), (std::vector<float>{-3, 9}));
  EXPECT_TRUE(Tensor().to_f32().empty());
}

}  // namespace
}  // namespace buda
