// What is known of a lowered value after an op.
#include <buda/passes/lower/lowered.hpp>

#include <gtest/gtest.h>

#include <cmath>

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
