// SPDX-License-Identifier: Apache-2.0
// Comparison: each measure by hand, states of correlation, infinities and NaN, verdicts.
#include <buda/tensor/check/compare.hpp>

#include <buda/base/rng.hpp>
#include <buda/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace buda {
namespace {

using State = Correlation::State;
constexpr float kCompareInf = std::numeric_limits<float>::infinity();
const float kCompareNan = std::nanf("");

Tensor row(std::vector<float> v) {
  auto size = static_cast<std::int64_t>(v.size());
  return Tensor(Shape{size}, std::move(v));
}

Comparison compared(const Tensor& expected, const Tensor& actual, const CompareOptions& options = {}) {
  auto c = compare(expected, actual, options);
  EXPECT_TRUE(c);
  return *c;
}

std::vector<std::string> codes(const Result<void>& verdict) {
  std::vector<std::string> out;
  if (!verdict)
    for (const Diagnostic& d : verdict.failure().diagnostics()) {
      EXPECT_EQ(d.fault, Fault::mismatch);
      out.push_back(d.code);
    }
  return out;
}

TEST(Compare, MeasuresByHand) {
  CompareOptions options;
  options.rtol = 0.1;
  options.atol = 0.5;
  // Errors 0, 0.5, 1, 2; bounds 0.6, 0.7, 0.8, 0.9.
  Comparison c = compared(row({1, 2, 3, 4}), row({1, 2.5f, 2, 6}), options);
  EXPECT_EQ(c.count, 4u);
  EXPECT_EQ(c.equal, 1u);
  EXPECT_EQ(c.close, 2u);
  EXPECT_EQ(c.close_fraction(), 0.5);
  EXPECT_EQ(c.max_abs_error, 2);
  EXPECT_EQ(c.mean_abs_error, 3.5 / 4);
  EXPECT_EQ(c.not_finite, 0u);
  // Deviations -1.5, -0.5, 0.5, 1.5 and -1.875, -0.375, -0.875, 3.125.
  ASSERT_EQ(c.correlation.state, State::defined);
  EXPECT_NEAR(c.correlation.value, 7.25 / std::sqrt(5 * 14.1875), 1e-12);
}

TEST(Compare, ToleranceIsInclusiveAndOfTheExpectedSide) {
  CompareOptions options;
  options.rtol = 0.5;
  options.atol = 0;
  EXPECT_EQ(compared(row({2}), row({3}), options).close, 1u);
  EXPECT_EQ(compared(row({3}), row({5}), options).close, 0u) << "half of 3, not of 5";
}

TEST(Compare, WorstElementsWithTheirPlaces) {
  CompareOptions options;
  options.worst = 3;
  Tensor expected(Shape{2, 3}, std::vector<float>{0, 0, 0, 0, 0, 0});
  Tensor actual(Shape{2, 3}, std::vector<float>{1, -3, 0, 3, 2, kCompareNan});
  Comparison c = compared(expected, actual, options);
  ASSERT_EQ(c.worst.size(), 3u);
  using Place = std::vector<std::int64_t>;
  EXPECT_EQ(c.worst[0].place, (Place{1, 2}));
  EXPECT_EQ(c.worst[0].error, kCompareInf);
  EXPECT_EQ(c.worst[0].actual_text, "nan");
  EXPECT_EQ(c.worst[1].place, (Place{0, 1})) << "the earlier one of equal errors";
  EXPECT_EQ(c.worst[1].actual, -3);
  EXPECT_EQ(c.worst[2].place, (Place{1, 0}));
  EXPECT_EQ(c.worst[2].error, 3);
  options.worst = 0;
  EXPECT_TRUE(compared(expected, actual, options).worst.empty());
  EXPECT_EQ(compared(expected, actual).worst.size(), 4u + 1u) << "elements that are equal are not among them";
  Comparison scalar = compared(Tensor::scalar(1.0f), Tensor::scalar(0.1f));
  EXPECT_EQ(scalar.worst[0].place, Place{});
  EXPECT_EQ(scalar.worst[0].actual_text, "0.1");
}

TEST(Compare, StatesOfCorrelation) {
  auto state = [](std::vector<float> e, std::vector<float> a) { return compared(row(std::move(e)), row(std::move(a))).correlation.state; };
  EXPECT_EQ(state({1, 2}, {3, 9}), State::defined);
  EXPECT_EQ(state({1, 1}, {3, 9}), State::expected_constant);
  EXPECT_EQ(state({1, 2}, {3, 3}), State::actual_constant);
  EXPECT_EQ(state({1, 1}, {3, 3}), State::both_constant);
  EXPECT_EQ(state({5}, {5}), State::both_constant) << "one element never varies";
  EXPECT_EQ(state({}, {}), State::empty);
  EXPECT_EQ(state({1, 2, 3}, {1, kCompareNan, 3}), State::not_finite);
  EXPECT_EQ(state({1, kCompareInf, 3}, {1, -kCompareInf, 3}), State::not_finite);
  EXPECT_EQ(state({1, kCompareInf, 3, kCompareNan}, {2, kCompareInf, 3, kCompareNan}), State::defined) << "what agrees is left out";
  EXPECT_EQ(state({kCompareNan, kCompareInf}, {kCompareNan, kCompareInf}), State::empty);
}

TEST(Compare, CorrelationOfAnyScale) {
  std::vector<double> e, a;
  Rng rng(3);
  for (int i = 0; i < 10000; ++i) {
    e.push_back(rng.uniform(-1, 1));
    a.push_back(e.back() + rng.uniform(-0.1, 0.1));
  }
  auto correlation = [](std::vector<double> x, std::vector<double> y) {
    auto n = static_cast<std::int64_t>(x.size());
    Comparison c = compared(Tensor(Shape{n}, std::move(x)), Tensor(Shape{n}, std::move(y)));
    EXPECT_EQ(c.correlation.state, State::defined);
    return c.correlation.value;
  };
  // Var 1/3 against 1/3 + 1/300.
  double plain = correlation(e, a);
  EXPECT_NEAR(plain, std::sqrt(100.0 / 101.0), 1e-3);
  for (double scale : {0x1p900, 0x1p-900, -0x1p1020}) {
    std::vector<double> scaled = a;
    for (double& v : scaled) v *= scale;
    EXPECT_NEAR(correlation(e, scaled), scale > 0 ? plain : -plain, 1e-12) << scale;
  }
  std::vector<double> tiny = {0, std::numeric_limits<double>::denorm_min(), 0, 0};
  EXPECT_EQ(correlation(tiny, tiny), 1);
  // A large common offset costs digits, not the result.
  std::vector<double> e_shifted = e, a_shifted = a;
  for (double& v : e_shifted) v += 1e6;
  for (double& v : a_shifted) v += 1e6;
  EXPECT_NEAR(correlation(e_shifted, a_shifted), plain, 1e-6);
  EXPECT_EQ(correlation({1, 2, 3}, {-2, -4, -6}), -1);
}

TEST(Compare, NanAndInfinity) {
  Comparison c =
      compared(row({kCompareNan, kCompareInf, -kCompareInf, 1, kCompareInf}), row({kCompareNan, kCompareInf, kCompareInf, kCompareNan, 5}));
  EXPECT_EQ(c.equal, 2u);
  EXPECT_EQ(c.close, 2u);
  EXPECT_EQ(c.not_finite, 3u);
  EXPECT_EQ(c.max_abs_error, kCompareInf);
  EXPECT_EQ(c.mean_abs_error, kCompareInf);
  EXPECT_EQ(c.max_ulp_error, kCompareInf);
  CompareOptions strict;
  strict.equal_nan = false;
  EXPECT_EQ(compared(row({kCompareNan, 1}), row({kCompareNan, 1}), strict).not_finite, 1u);
}

TEST(Compare, UnitsInTheLastPlace) {
  auto ulp = [](const Tensor& e, const Tensor& a) { return compared(e, a).max_ulp_error; };
  EXPECT_EQ(ulp(row({1}), row({std::nextafter(1.0f, 2.0f)})), 1);
  EXPECT_EQ(ulp(row({1}), row({std::nextafter(1.0f, 0.0f)})), 1);
  EXPECT_EQ(ulp(row({0.0f}), row({-0.0f})), 0);
  EXPECT_EQ(ulp(row({0x1p-149f}), row({-0x1p-149f})), 2) << "across zero";
  EXPECT_EQ(ulp(row({1}), row({2})), 8388608);
  EXPECT_EQ(ulp(Tensor::scalar(Half{0x3c00}), Tensor::scalar(Half{0x3c05})), 5);
  EXPECT_EQ(ulp(Tensor::scalar(BFloat16{0x3f80}), Tensor::scalar(BFloat16{0x3f7d})), 3);
  EXPECT_EQ(ulp(Tensor::scalar(Half{0x3c00}), Tensor::scalar(1.0f + 0x3p-12f)), 1) << "rounded to the expected type first";
  EXPECT_EQ(ulp(Tensor::scalar(1.0), Tensor::scalar(1.0 + 0x3p-52)), 3);
  EXPECT_EQ(ulp(Tensor::scalar(-1e308), Tensor::scalar(1e308)), 2 * static_cast<double>(std::bit_cast<std::uint64_t>(1e308)));
  EXPECT_EQ(ulp(Tensor::scalar(std::int32_t{3}), Tensor::scalar(std::int32_t{-4})), 7);
}

TEST(Compare, LargeIntegersExactly) {
  const std::int64_t big = (std::int64_t{1} << 53) + 1;
  Comparison c = compared(Tensor(Shape{2}, std::vector<std::int64_t>{big, 0}), Tensor(Shape{2}, std::vector<std::int64_t>{big - 1, 0}));
  EXPECT_EQ(c.equal, 1u);
  EXPECT_EQ(c.max_abs_error, 1);
  EXPECT_EQ(c.worst[0].expected_text, "9007199254740993");
  EXPECT_EQ(c.worst[0].actual_text, "9007199254740992");
  c = compared(Tensor::scalar(std::int64_t{-1}), Tensor::scalar(~std::uint64_t{0}));
  EXPECT_EQ(c.max_abs_error, 0x1p64) << "no wrapping between signs";
}

TEST(Compare, DifferentTypes) {
  Comparison c = compared(Tensor(Shape{2}, std::vector<std::int32_t>{1, 0}), Tensor(Shape{2}, std::vector<Boolean>{{1}, {0}}));
  EXPECT_EQ(c.equal, 2u);
  EXPECT_EQ(c.correlation.value, 1);
}

TEST(Compare, ManyBlocks) {
  std::vector<float> e(10000), a(10000);
  for (std::size_t i = 0; i < e.size(); ++i) e[i] = a[i] = static_cast<float>(i);
  a[9999] = 10000;
  a[4096] = 4095;
  Comparison c = compared(row(e), row(a));
  EXPECT_EQ(c.equal, 9998u);
  EXPECT_EQ(c.mean_abs_error, 2.0 / 10000);
  EXPECT_EQ(c.worst[0].place[0], 4096);
  EXPECT_EQ(c.worst[1].place[0], 9999);
}

TEST(Compare, ShapesMustAgree) {
  auto c = compare(row({1, 2}), *row({1, 2}).reshaped({1, 2}));
  ASSERT_FALSE(c);
  const Diagnostic& d = c.failure().diagnostics().front();
  EXPECT_EQ(d.fault, Fault::mismatch);
  EXPECT_EQ(d.code, "TN040");
  EXPECT_EQ(d.message, "shape [2] is expected, the actual one is [1, 2]");
}

TEST(Judge, EachThresholdByItself) {
  CompareOptions options;
  options.rtol = 0;
  options.atol = 0.25;
  Comparison c = compared(row({1, 2, 3, 4}), row({1, 2, 3, 5}), options);
  auto verdict = [&](CompareThresholds t) { return codes(judge(c, t, "y")); };
  using Codes = std::vector<std::string>;
  EXPECT_EQ(verdict({}), Codes{});
  EXPECT_EQ(verdict({.min_correlation = 0.9}), Codes{});
  EXPECT_EQ(verdict({.min_correlation = 0.999}), Codes{"TN041"});
  EXPECT_EQ(verdict({.min_close_fraction = 0.75}), Codes{});
  EXPECT_EQ(verdict({.min_close_fraction = 1.0}), Codes{"TN042"});
  EXPECT_EQ(verdict({.max_abs_error = 1.0}), Codes{});
  EXPECT_EQ(verdict({.max_abs_error = 0.99}), Codes{"TN043"});
  EXPECT_EQ(verdict({.max_mean_abs_error = 0.25}), Codes{});
  EXPECT_EQ(verdict({.max_mean_abs_error = 0.2}), Codes{"TN044"});
  EXPECT_EQ(verdict({.max_ulp_error = 2097152.0}), Codes{});
  EXPECT_EQ(verdict({.max_ulp_error = 2097151.0}), Codes{"TN045"});
  EXPECT_EQ(verdict({.min_correlation = 0.9, .max_abs_error = 0.5}), Codes{"TN043"}) << "passing one excuses none of the others";
  EXPECT_EQ(
      verdict({.min_correlation = 1.0, .min_close_fraction = 1.0, .max_abs_error = 0.0, .max_mean_abs_error = 0.0, .max_ulp_error = 0.0}),
      (Codes{"TN041", "TN042", "TN043", "TN044", "TN045"}));
}

TEST(Judge, Diagnostics) {
  Comparison c = compared(row({1, 2}), row({1, 2.5f}));
  auto verdict = judge(c, {.min_close_fraction = 1.0, .max_abs_error = 0.1}, "y");
  ASSERT_FALSE(verdict);
  const Diagnostic& first = verdict.failure().diagnostics()[0];
  EXPECT_EQ(first.message, "'y': 1 of 2 elements are not close (rtol 1e-05, atol 1e-08); a fraction of 1 must be");
  EXPECT_EQ(first.node, "y");
  ASSERT_EQ(first.notes.size(), 1u);
  EXPECT_EQ(first.notes[0].message, "at [1]: expected 2, actual 2.5, error 0.5");
  const Diagnostic& second = verdict.failure().diagnostics()[1];
  EXPECT_EQ(second.message, "'y': the largest absolute error is 0.5, above 0.1");
  EXPECT_TRUE(second.notes.empty()) << "the elements are named once";
  using Data = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(second.data, (Data{{"measure", "max_abs_error"}, {"value", "0.5"}, {"threshold", "0.1"}}));
}

TEST(Judge, UndefinedCorrelationDoesNotPass) {
  CompareThresholds t{.min_correlation = 0.0};
  auto verdict = judge(compared(row({1, 1}), row({1, 1.001f})), t, "");
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.failure().diagnostics()[0].message, "correlation is not defined: all expected elements are the same");
  EXPECT_FALSE(judge(compared(row({1, 2, 3}), row({1, kCompareNan, 3})), t, ""));
  EXPECT_TRUE(judge(compared(row({1, 1}), row({1, 1})), t, "")) << "equal tensors correlate, whatever they hold";
  EXPECT_TRUE(judge(compared(row({}), row({})), t, ""));
}

TEST(Judge, WhatIsNotFiniteFailsEverything) {
  Comparison c = compared(row({1, 2, 3}), row({1, 2, kCompareNan}));
  CompareThresholds lax{
      .min_correlation = -1.0, .min_close_fraction = 1.0, .max_abs_error = 1e300, .max_mean_abs_error = 1e300, .max_ulp_error = 1e300};
  EXPECT_EQ(codes(judge(c, lax, "")), (std::vector<std::string>{"TN041", "TN042", "TN043", "TN044", "TN045"}));
}

TEST(Compare, Text) {
  EXPECT_EQ(comparison_text(compared(row({1, 2, 3}), row({1, 2, 3.5f}))),
            "correlation     0.9933992677987828\n"
            "close           2 of 3 (rtol 1e-05, atol 1e-08; 2 are equal)\n"
            "max abs error   0.5\n"
            "mean abs error  0.16666666666666666\n"
            "max ulp error   2097152\n"
            "  at [2]: expected 3, actual 3.5, error 0.5\n");
}

std::vector<std::string> standard_verdict(const Tensor& expected, const Tensor& actual) {
  const CompareCriterion criterion = standard_criterion(expected, actual);
  return codes(judge(compared(expected, actual, criterion.options), criterion.thresholds, "y"));
}

std::string standard_text(const Tensor& expected, const Tensor& actual) { return criterion_text(standard_criterion(expected, actual)); }

using Verdict = std::vector<std::string>;

TEST(Compare, FirstDifference) {
  Tensor expected(Shape{2, 3}, std::vector<std::int32_t>{1, 2, 3, 4, 5, 6}),
      actual(Shape{2, 3}, std::vector<std::int32_t>{1, 2, 3, 7, 5, 60});
  Comparison c = compared(expected, actual);
  ASSERT_TRUE(c.first);
  EXPECT_EQ(c.first->place, (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(c.first->actual_text, "7");
  EXPECT_EQ(c.worst[0].actual_text, "60");
  EXPECT_FALSE(compared(expected, expected).first);
}

TEST(Compare, LargestAlongTheLastAxis) {
  Tensor expected(Shape{4, 3}, std::vector<float>{1, 5, 2, 7, 7.05f, 0, -1, -3, -2, 4, kCompareInf, 0});
  Tensor actual(Shape{4, 3}, std::vector<float>{5, 5, 2, 7.1f, 7, 0, -3, -3, -2, 4, kCompareInf, 0});
  EXPECT_EQ(compared(expected, actual).clear_largest, 0u) << "not measured unless asked for";
  CompareOptions options;
  options.largest_margin = 0.1;
  Comparison c = compared(expected, actual, options);
  EXPECT_EQ(c.clear_largest, 3u) << "two of the second row are nearly the same";
  EXPECT_EQ(c.moved_largest, 2u) << "of equal ones the first is the largest";
  EXPECT_EQ(c.first_moved, (MovedLargest{{0, 1}, {0, 0}}));
  EXPECT_EQ(compared(expected, expected, options).moved_largest, 0u);
  Tensor with_nan(Shape{3}, std::vector<float>{kCompareNan, 1, 5});
  EXPECT_EQ(compared(with_nan, with_nan, options).clear_largest, 0u);
  EXPECT_EQ(compared(Tensor::scalar(1.0f), Tensor::scalar(2.0f), options).clear_largest, 0u);
  EXPECT_EQ(compared(row({}), row({}), options).clear_largest, 0u);
}

// Six wrong tokens of 32 correlate well.
TEST(Compare, IntegersAndBooleansHaveToBeEqual) {
  std::vector<std::int64_t> ids(1000);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int64_t>(i * 37);
  Tensor expected(Shape{10, 100}, ids);
  ids[517] += 1;
  Tensor actual(Shape{10, 100}, ids);
  EXPECT_EQ(standard_text(expected, actual), "equal");
  EXPECT_EQ(standard_verdict(expected, expected), Verdict{});
  EXPECT_EQ(standard_verdict(expected, actual), Verdict{"TN046"});
  auto verdict = judge(compared(expected, actual), {.all_equal = true}, "y");
  EXPECT_EQ(verdict.failure().diagnostics().front().message,
            "'y': 1 of 1000 elements are not equal; the first is at [5, 17]: expected 19129, actual 19130, error 1");
  EXPECT_EQ(standard_verdict(expected.cast(DType::f64), actual), Verdict{"TN046"}) << "the type of the output counts";
  // Integers of 64 bits that one double stands for.
  constexpr std::int64_t kHuge = std::int64_t{1} << 60;
  EXPECT_EQ(standard_verdict(Tensor::scalar(kHuge), Tensor::scalar(kHuge + 1)), Verdict{"TN046"});
  EXPECT_EQ(standard_verdict(Tensor::scalar(Boolean{1}), Tensor::scalar(Boolean{0})), Verdict{"TN046"});
  EXPECT_EQ(standard_verdict(Tensor::scalar(Boolean{1}), Tensor::scalar(Boolean{3})), Verdict{}) << "any byte but 0 is true";
  EXPECT_EQ(standard_verdict(*Tensor::zeros(DType::i32, {0, 4}), *Tensor::zeros(DType::i32, {0, 4})), Verdict{});
}

// Two elements always lie on a line, and one has no correlation.
TEST(Compare, SmallOutputsAreJudgedByErrors) {
  auto verdict = [](std::vector<float> expected, std::vector<float> actual) {
    return standard_verdict(row(std::move(expected)), row(std::move(actual)));
  };
  EXPECT_EQ(verdict({0.3f, 0.7f}, {0.103f, 0.897f}), Verdict{"TN043"});
  EXPECT_EQ(verdict({0.5f}, {0.50015f}), Verdict{});
  EXPECT_EQ(verdict({0, 0, 0}, {0, 0.0009f, 0}), Verdict{}) << "0.001 is allowed in any case";
  EXPECT_EQ(verdict({0, 0, 0}, {0, 0.0011f, 0}), Verdict{"TN043"});
  // The limit is 0.02 * 100 + 0.001, also for the small ones.
  EXPECT_EQ(verdict({1, 100}, {3, 98}), Verdict{});
  EXPECT_EQ(verdict({1, 100}, {3.002f, 100}), Verdict{"TN043"});
  EXPECT_EQ(standard_text(row({1, -100}), row({1, -100})), "max error <= 2.001, same largest along the last axis");
  EXPECT_EQ(standard_text(Tensor::scalar(50.0f), Tensor::scalar(50.0f)), "max error <= 1.001");
}

TEST(Compare, SmallOutputsKeepTheirLargestElement) {
  // The limit is 0.201.
  EXPECT_EQ(standard_verdict(row({9.7f, 10, 3}), row({9.9f, 9.85f, 3})), Verdict{"TN047"});
  EXPECT_EQ(standard_verdict(row({9.85f, 10, 3}), row({9.95f, 9.9f, 3})), Verdict{}) << "they are too close to each other";
  Tensor expected(Shape{2, 2}, std::vector<float>{10, 0, 9.75f, 10}), actual(Shape{2, 2}, std::vector<float>{10, 0, 9.9f, 9.85f});
  auto verdict = judge(compared(expected, actual, standard_criterion(expected, actual).options), {.same_largest = true}, "y");
  ASSERT_EQ(codes(verdict), Verdict{"TN047"});
  const Diagnostic& d = verdict.failure().diagnostics().front();
  EXPECT_EQ(d.message, "'y': the largest element along the last axis is another one in 1 of 2 rows where it stands out");
  EXPECT_EQ(d.notes.back().message, "the largest expected element is at [1, 1], the largest actual one at [1, 0]");
}

TEST(Compare, LargeOutputsAreJudgedByCorrelation) {
  std::vector<float> ramp(64), constant(64, 2.0f);
  for (std::size_t i = 0; i < ramp.size(); ++i) ramp[i] = static_cast<float>(i);
  EXPECT_EQ(standard_text(row(ramp), row(ramp)), "correlation >= 0.99");
  EXPECT_EQ(standard_text(row(std::vector<float>(ramp.begin(), ramp.end() - 1)), row(std::vector<float>(ramp.begin(), ramp.end() - 1))),
            "max error <= 1.241, same largest along the last axis");
  EXPECT_EQ(standard_text(row(constant), row(constant)), "|error| <= 0.04 + 0.02 |expected|");
  EXPECT_EQ(standard_verdict(row(constant), row(std::vector<float>(64, 2.01f))), Verdict{});
  EXPECT_EQ(standard_verdict(row(constant), row(std::vector<float>(64, 2.1f))), Verdict{"TN042"});
}

TEST(Compare, InfinitiesAndNanOfTheSamePlaceAreEqual) {
  for (std::size_t size : {4u, 100u}) {
    std::vector<float> expected(size, 1.0f);
    expected[0] = kCompareNan, expected[1] = kCompareInf, expected[2] = -kCompareInf;
    if (size > 4)
      for (std::size_t i = 3; i < size; ++i) expected[i] = static_cast<float>(i);
    EXPECT_EQ(standard_verdict(row(expected), row(expected)), Verdict{});
    for (std::size_t i = 0; i < 3; ++i) {
      std::vector<float> actual = expected;
      actual[i] = i == 1 ? -kCompareInf : 3e38f;
      EXPECT_EQ(standard_verdict(row(expected), row(actual)).size(), 1u) << size << ' ' << i;
    }
    std::vector<float> actual = expected;
    actual[3] = kCompareNan;
    EXPECT_EQ(standard_verdict(row(expected), row(actual)), Verdict{size == 4 ? "TN043" : "TN041"});
  }
}

TEST(Compare, SixteenBitsAndNothing) {
  for (DType type : {DType::f16, DType::bf16}) {
    Tensor expected = row({1, 2, 4}).cast(type);
    EXPECT_EQ(standard_verdict(expected, expected), Verdict{});
    EXPECT_EQ(standard_verdict(row({1, 2, 4}), row({1.0625f, 2, 4}).cast(type)), Verdict{}) << "the limit is 0.081";
    EXPECT_EQ(standard_verdict(expected, row({1.125f, 2, 4})), Verdict{"TN043"});
  }
  EXPECT_EQ(standard_verdict(row({}), row({})), Verdict{});
  EXPECT_EQ(standard_verdict(*Tensor::zeros(DType::f32, {3, 0}), *Tensor::zeros(DType::f32, {3, 0})), Verdict{});
}

}  // namespace
}  // namespace buda
