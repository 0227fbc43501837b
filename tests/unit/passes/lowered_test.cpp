// SPDX-License-Identifier: Apache-2.0
// What is known of a lowered value after an op.
#include <buda/passes/lower/lowered.hpp>
#include <buda/passes/lower/op_builder.hpp>
#include <buda/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace buda::passes {
namespace {

TEST(Lowered, ProductsOfPadding) {
  Lowered a, b;
  a.shape = {1, 1, 10, 20};
  b.shape = {1, 1, 20, 5};
  EXPECT_TRUE(adds_zeros(a, b));
  Lowered out = after_matmul(a, b);
  EXPECT_EQ(out.shape, (Shape{1, 1, 10, 5}));
  EXPECT_TRUE(out.rows.is(0) && out.cols.is(0) && out.corner.is(0));
  a.cols = ValueRange::exactly(0.5);
  EXPECT_TRUE(adds_zeros(a, b)) << "zeros on one side are enough";
  b.rows = ValueRange::exactly(1);
  EXPECT_FALSE(adds_zeros(a, b));
  a.cols = {0, 0, false};
  b.rows = ValueRange::exactly(0);
  EXPECT_FALSE(adds_zeros(a, b)) << "0 times infinity is no zero";
  a.shape[3] = b.shape[2] = 32;
  EXPECT_TRUE(adds_zeros(a, b)) << "there is no padding";
}

TEST(RangeOf, ATensorThatLiesAnywhereInAFile) {
  for (std::size_t begin : {0, 1, 2, 3}) {
    std::string file(begin, ' ');
    for (float v : {1.5F, -2.0F, 0.25F}) {
      const auto bits = std::bit_cast<std::uint32_t>(v);
      for (int byte = 0; byte < 4; ++byte) file += static_cast<char>(bits >> (8 * byte) & 0xff);
    }
    io::Bytes bytes(std::move(file));
    auto tensor = Tensor::from_bytes(DType::f32, {3}, bytes.slice(begin, 12));
    ASSERT_TRUE(tensor);
    EXPECT_EQ(range_of(*tensor), (ValueRange{-2, 1.5, true})) << begin;
  }
}

TEST(RangeOf, NumbersOfAnyType) {
  EXPECT_EQ(range_of(Tensor(Shape{2}, std::vector<std::int8_t>{-7, 3})), (ValueRange{-7, 3, true}));
  EXPECT_EQ(range_of(Tensor(Shape{2}, std::vector<Boolean>{{1}, {0}})), (ValueRange{0, 1, true}));
  EXPECT_EQ(range_of(Tensor(Shape{1}, std::vector<BFloat16>{bfloat16_from_float(-0.5F)})), ValueRange::exactly(-0.5));
  EXPECT_EQ(range_of(Tensor(Shape{0}, std::vector<float>{})), ValueRange::exactly(0));
  EXPECT_EQ(range_of(Tensor(Shape{2}, std::vector<float>{1, std::numeric_limits<float>::quiet_NaN()})), ValueRange::unknown());
}

TEST(Lowered, PeaksOfRowsGoThroughExponentials) {
  Lowered x;
  x.shape = {1, 1, 10, 10};
  x.cols = {-1e6, ops::kVanishingExponent, true};
  x.peak = 0;
  Lowered e = after_unary("exp", {}, x);
  EXPECT_EQ(e.peak, 1.0);
  EXPECT_TRUE(e.cols.is(0)) << "as fp32 has it";
  EXPECT_FALSE(after_unary("abs", {}, x).peak);
  EXPECT_FALSE(after_binary("add", {}, x, x).peak);
  EXPECT_FALSE(transposed(x).peak);
}

TEST(Lowered, TransposesExchangeSides) {
  Lowered x;
  x.shape = {1, 2, 3, 1};
  x.rows = ValueRange::exactly(1);
  x.cols_alike = true;
  Lowered t = transposed(x);
  EXPECT_EQ(t.shape, (Shape{1, 2, 1, 3}));
  EXPECT_TRUE(t.cols.is(1) && t.rows.is(0) && t.rows_alike && !t.cols_alike);
  EXPECT_EQ(t.tms, std::vector<graph::Tm>{graph::Tm::transpose()});
  EXPECT_TRUE(transposed(t).tms.empty());
}

}  // namespace
}  // namespace buda::passes
