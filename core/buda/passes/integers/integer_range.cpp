// SPDX-License-Identifier: Apache-2.0
// Interval arithmetic of integers, in 128 bits, with bounds that saturate.
#include <buda/passes/integers/integer_range.hpp>

#include <buda/base/text.hpp>
#include <buda/tensor/formats/visit.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <limits>
#include <type_traits>

namespace buda::passes {
namespace {

using Wide = __int128;

constexpr std::int64_t kSmallest = std::numeric_limits<std::int64_t>::min(), kLargest = std::numeric_limits<std::int64_t>::max();

std::int64_t saturated(Wide v) { return static_cast<std::int64_t>(std::clamp<Wide>(v, kSmallest, kLargest)); }

template <class T>
IntegerRange extremes(const Tensor& tensor) {
  const auto elements = tensor.as<T>();
  if (elements.empty()) return {0, 0};
  const auto [least, most] = std::minmax_element(elements.begin(), elements.end());
  return {saturated(static_cast<Wide>(*least)), saturated(static_cast<Wide>(*most))};
}

}  // namespace

std::string IntegerRange::text() const { return cat(least, " to ", most); }

std::optional<IntegerRange> parse_range(std::string_view text) {
  const auto range = graph::parse_input_range(text);
  if (!range) return std::nullopt;
  return IntegerRange{range->least, range->most};
}

IntegerRange range_of_type(DType type) {
  switch (type) {
    case DType::boolean:
      return {0, 1};
    case DType::u8:
      return {0, 255};
    case DType::i8:
      return {-128, 127};
    case DType::u16:
      return {0, 65535};
    case DType::i16:
      return {-32768, 32767};
    case DType::u32:
      return {0, 4294967295};
    case DType::i32:
      return {-2147483648LL, 2147483647};
    case DType::u64:
      return {0, kLargest};
    default:
      return {kSmallest, kLargest};
  }
}

IntegerRange range_of_integers(const Tensor& tensor) {
  return visit_dtype(tensor.dtype(), [&](auto tag) -> IntegerRange {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T>) {
      return extremes<T>(tensor);
    } else {
      return range_of_type(tensor.dtype());
    }
  });
}

IntegerRange operator+(const IntegerRange& a, const IntegerRange& b) {
  return {saturated(Wide{a.least} + b.least), saturated(Wide{a.most} + b.most)};
}

IntegerRange operator-(const IntegerRange& a, const IntegerRange& b) {
  return {saturated(Wide{a.least} - b.most), saturated(Wide{a.most} - b.least)};
}

IntegerRange operator*(const IntegerRange& a, const IntegerRange& b) {
  const auto [least, most] = std::minmax({Wide{a.least} * b.least, Wide{a.least} * b.most, Wide{a.most} * b.least, Wide{a.most} * b.most});
  return {saturated(least), saturated(most)};
}

IntegerRange hull(const IntegerRange& a, const IntegerRange& b) { return {std::min(a.least, b.least), std::max(a.most, b.most)}; }

IntegerRange intersection(const IntegerRange& a, const IntegerRange& b) {
  IntegerRange both{std::max(a.least, b.least), std::min(a.most, b.most)};
  return both.least <= both.most ? both : b;
}

IntegerRange larger(const IntegerRange& a, const IntegerRange& b) { return {std::max(a.least, b.least), std::max(a.most, b.most)}; }

IntegerRange smaller(const IntegerRange& a, const IntegerRange& b) { return {std::min(a.least, b.least), std::min(a.most, b.most)}; }

IntegerRange without_sign(const IntegerRange& a) {
  const IntegerRange turned = IntegerRange{0, 0} - a;
  const bool through_zero = a.least <= 0 && a.most >= 0;
  return {through_zero ? 0 : std::min(std::max(a.least, turned.least), std::max(a.most, turned.most)), std::max(a.most, turned.most)};
}

IntegerRange sum_of(const IntegerRange& a, std::int64_t terms) {
  return hull({0, 0}, {saturated(Wide{a.least} * terms), saturated(Wide{a.most} * terms)});
}

}  // namespace buda::passes
