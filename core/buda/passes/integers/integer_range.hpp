// SPDX-License-Identifier: Apache-2.0
// Intervals of integers: what is known of all elements of an integer or boolean value before the model runs.
#pragma once

#include <buda/graph/tags/input_range.hpp>
#include <buda/tensor/dtype.hpp>
#include <buda/tensor/fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace buda::passes {

using graph::kValueRange;

// All elements lie in [least, most]. Bounds saturate: the smallest and the largest std::int64_t also stand for all beyond them.
struct IntegerRange {
  std::int64_t least = 0;
  std::int64_t most = 0;

  // Whether no element is larger than `size` without its sign.
  bool within(std::int64_t size) const { return least >= -size && most <= size; }
  bool inside(const IntegerRange& outer) const { return least >= outer.least && most <= outer.most; }
  std::string text() const;
  friend bool operator==(const IntegerRange&, const IntegerRange&) = default;
};

// Of the tag kValueRange; nothing where the text is not that of a range.
std::optional<IntegerRange> parse_range(std::string_view text);

// Of an integer type, or of booleans as 0 and 1.
IntegerRange range_of_type(DType type);
// Of the elements of a tensor of integers or booleans; of an empty one [0, 0].
IntegerRange range_of_integers(const Tensor& tensor);

IntegerRange operator+(const IntegerRange& a, const IntegerRange& b);
IntegerRange operator-(const IntegerRange& a, const IntegerRange& b);
IntegerRange operator*(const IntegerRange& a, const IntegerRange& b);
IntegerRange hull(const IntegerRange& a, const IntegerRange& b);
IntegerRange intersection(const IntegerRange& a, const IntegerRange& b);  // of ranges that meet
IntegerRange larger(const IntegerRange& a, const IntegerRange& b);        // of the larger of two numbers
IntegerRange smaller(const IntegerRange& a, const IntegerRange& b);
IntegerRange without_sign(const IntegerRange& a);
// Of sums of 0 to `terms` numbers.
IntegerRange sum_of(const IntegerRange& a, std::int64_t terms);

}  // namespace buda::passes
