// SPDX-License-Identifier: Apache-2.0
// Interval arithmetic with a bound of the error.
#include <buda/passes/precision/estimate.hpp>

#include <buda/passes/lower/op_builder.hpp>
#include <buda/tensor/tensor.hpp>

#include <limits>

namespace buda::passes {
namespace {

// 0 times an unknown number is 0: the number is finite.
double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

template <class T>
Estimate of_integers() {
  return {static_cast<double>(std::numeric_limits<T>::min()), static_cast<double>(std::numeric_limits<T>::max()), 0, true};
}

}  // namespace

Estimate Rounding::stored(Estimate e) const {
  const bool kept = e.whole && e.size() <= 1 / relative;
  if (kept) return e;
  e.fixed = e.fixed_error();
  e.share = std::max(e.share, relative);
  e.error = std::max(e.error, e.size() * relative);
  return e;
}

Estimate estimate_of(const Tensor& tensor) {
  const ValueRange range = range_of(tensor);
  return {range.least, range.most, 0, !is_float(tensor.dtype())};
}

Estimate estimate_of_type(DType type, double size) {
  switch (type) {
    case DType::boolean:
      return {0, 1, 0, true};
    case DType::u8:
      return of_integers<std::uint8_t>();
    case DType::i8:
      return of_integers<std::int8_t>();
    case DType::u16:
      return of_integers<std::uint16_t>();
    case DType::i16:
      return of_integers<std::int16_t>();
    case DType::u32:
      return of_integers<std::uint32_t>();
    case DType::i32:
      return of_integers<std::int32_t>();
    case DType::u64:
      return of_integers<std::uint64_t>();
    case DType::i64:
      return of_integers<std::int64_t>();
    default:
      return {-size, size, 0, false};
  }
}

Estimate hull(const Estimate& a, const Estimate& b) {
  return {std::min(a.least, b.least),
          std::max(a.most, b.most),
          std::max(a.error, b.error),
          a.whole && b.whole,
          std::max(a.fixed_error(), b.fixed_error()),
          std::max(a.share, b.share)};
}

Estimate sum(const Estimate& a, const Estimate& b) {
  // |a| is at most |a + b| + |b|.
  const Estimate &large = a.size() < b.size() ? b : a, &small = a.size() < b.size() ? a : b;
  const double fixed = a.fixed_error() + b.fixed_error() + (a.share + b.share) * small.size();
  return {a.least + b.least, a.most + b.most, a.error + b.error, a.whole && b.whole, fixed, large.share};
}

Estimate negative(const Estimate& a) { return {-a.most, -a.least, a.error, a.whole, a.fixed, a.share}; }

Estimate product(const Estimate& a, const Estimate& b) {
  const auto [least, most] = std::minmax({times(a.least, b.least), times(a.least, b.most), times(a.most, b.least), times(a.most, b.most)});
  return {least,
          most,
          times(a.error, b.size()) + times(b.error, a.size()),
          a.whole && b.whole,
          times(a.fixed_error(), b.size()) + times(b.fixed_error(), a.size()),
          a.share + b.share};
}

Estimate repeated_sum(const Estimate& a, double terms) {
  return {std::min(a.least, a.least * terms), std::max(a.most, a.most * terms), a.error * terms, a.whole};
}

Estimate absolute(const Estimate& a) {
  if (a.least >= 0) return a;
  if (a.most <= 0) return negative(a);
  return {0, a.size(), a.error, a.whole, a.fixed, a.share};
}

Estimate limited(const Estimate& a, double least, double most) {
  const bool whole = a.whole && (std::isinf(least) || least == std::round(least)) && (std::isinf(most) || most == std::round(most));
  Estimate e{std::clamp(a.least, least, most), std::clamp(a.most, least, most), a.error, whole, a.fixed, a.share};
  if (e.share > 0) e.error = std::min(e.error, e.fixed + e.share * e.size());
  e.error = std::min(e.error, e.width());
  return e;
}

Estimate larger(const Estimate& a, const Estimate& b) {
  return {std::max(a.least, b.least),
          std::max(a.most, b.most),
          std::max(a.error, b.error),
          a.whole && b.whole,
          std::max(a.fixed_error(), b.fixed_error()),
          std::max(a.share, b.share)};
}

Estimate smaller(const Estimate& a, const Estimate& b) { return negative(larger(negative(a), negative(b))); }

Estimate rounded_to_integers(const Estimate& a) {
  // A small error makes another integer of a number that is near a border between two.
  return {std::floor(a.least), std::ceil(a.most), a.error == 0 ? 0 : std::max(a.error, 1.0), true};
}

Estimate within(double least, double most, const Estimate& a) { return {least, most, std::min(a.error, most - least), false}; }

Estimate risen(const Estimate& a, double (*function)(double), double slope) {
  return {function(a.least), function(a.most), times(a.error, slope), false};
}

}  // namespace buda::passes
