// SPDX-License-Identifier: Apache-2.0
// Is this tensor the one that was expected? Several measures, each with its own threshold; passing one excuses none of the others.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/tensor/fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace buda {

// Pearson's correlation. It is not defined where one side does not vary, nor where values are infinite or NaN on one side only.
struct Correlation {
  enum class State : std::uint8_t { defined, empty, expected_constant, actual_constant, both_constant, not_finite };
  State state = State::empty;
  double value = 0;  // in [-1, 1] where defined
};

// Two elements at the same place. `place` is the index along each axis; the texts are exact where the doubles are not (64-bit integers).
struct ElementDifference {
  std::vector<std::int64_t> place;
  double expected = 0;
  double actual = 0;
  double error = 0;  // |actual - expected|; infinite where just one is NaN or where infinities differ
  std::string expected_text;
  std::string actual_text;
};

struct CompareOptions {
  double rtol = 1e-5;  // an element is close when |actual - expected| <= atol + rtol * |expected|
  double atol = 1e-8;
  bool equal_nan = true;  // NaN in the same place is no difference
  std::size_t worst = 5;  // how many of the largest differences to keep
  // If given, the places of the largest elements along the last axis are compared wherever the two largest expected ones are more than
  // this apart.
  std::optional<double> largest_margin = {};
};

// Where the largest element along the last axis is another one: `place` is that of the largest expected element, the other that of the
// largest actual one. Of several that are equally large the first counts.
struct MovedLargest {
  std::vector<std::int64_t> place, actual_place;
  friend bool operator==(const MovedLargest&, const MovedLargest&) = default;
};

// What two tensors of the same shape have in common. Values are compared as doubles, 64-bit integers exactly.
struct Comparison {
  CompareOptions options;
  std::size_t count = 0;
  std::size_t equal = 0;       // exactly
  std::size_t close = 0;       // within rtol and atol
  std::size_t not_finite = 0;  // pairs that differ and of which at least one is NaN or infinite
  Correlation correlation;
  double max_abs_error = 0;
  double mean_abs_error = 0;
  // Largest distance in units of the last place: how many values of the expected type apart two elements are, after `actual` was
  // rounded to that type. For integers and booleans the same as max_abs_error; infinite where max_abs_error is.
  double max_ulp_error = 0;
  std::vector<ElementDifference> worst;    // largest error first, then by place; without elements that are equal
  std::optional<ElementDifference> first;  // of the elements that are not equal, in row-major order
  // With largest_margin: rows along the last axis whose largest expected element stands out, those of them in which it is not the largest
  // actual one, and the first of these.
  std::size_t clear_largest = 0, moved_largest = 0;
  std::optional<MovedLargest> first_moved;

  // Elements that are close, of all; 1 for empty tensors.
  double close_fraction() const { return count == 0 ? 1.0 : static_cast<double>(close) / static_cast<double>(count); }
};

// Fails (Fault::mismatch) when the shapes differ. Types may differ.
Result<Comparison> compare(const Tensor& expected, const Tensor& actual, const CompareOptions& options = {});

// What must hold; an absent one is not asked for.
struct CompareThresholds {
  std::optional<double> min_correlation = {};
  std::optional<double> min_close_fraction = {};  // with rtol and atol of CompareOptions; 1 is NumPy's allclose
  std::optional<double> max_abs_error = {};
  std::optional<double> max_mean_abs_error = {};
  std::optional<double> max_ulp_error = {};
  bool all_equal = false;     // every element, exactly
  bool same_largest = false;  // no row of moved_largest; with largest_margin of CompareOptions
};

// What is compared, and what must hold.
struct CompareCriterion {
  CompareOptions options;
  CompareThresholds thresholds;
};
// "correlation >= 0.99, |error| <= 0.001 + 0.02 |expected|": for people.
std::string criterion_text(const CompareCriterion& criterion);
// Six digits, and as many more as it takes to tell a number from 1: "0.999871", "0.9999999993".
std::string short_correlation(double correlation);

// The criterion where none is given, by the type and the size of the output:
// - integers and booleans: every element is equal, for a correlation says nothing about an index or a token;
// - fewer than 64 floating-point numbers, for which a correlation means little (two points always lie on a line): every error is at most
//   2% of the largest expected magnitude plus 0.001, and the largest element along the last axis is the expected one wherever the two
//   largest expected ones are further apart than that;
// - more numbers: a correlation of at least 0.99; where nothing varies, every element is within 2% of itself plus 2% of the largest
//   expected magnitude.
CompareCriterion standard_criterion(const Tensor& expected, const Tensor& actual);

// One diagnostic (Fault::mismatch) for each threshold that does not hold, with `name` as its node and the worst elements as notes
// on the first. A correlation that is not defined does not hold, unless the tensors are equal element for element.
Result<void> judge(const Comparison& comparison, const CompareThresholds& thresholds, const std::string& name);

// A few lines for people: every measure, then the worst elements.
std::string comparison_text(const Comparison& comparison);

}  // namespace buda
