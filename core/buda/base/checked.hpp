// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic whose overflow is a value, not undefined behaviour: sizes come from files and files come from anywhere.
#pragma once

#include <concepts>
#include <optional>

#pragma GCC visibility push(default)

namespace buda {

template <std::integral T>
constexpr std::optional<T> checked_add(T a, T b) {
  T r{};
  if (__builtin_add_overflow(a, b, &r)) return std::nullopt;
  return r;
}

template <std::integral T>
constexpr std::optional<T> checked_mul(T a, T b) {
  T r{};
  if (__builtin_mul_overflow(a, b, &r)) return std::nullopt;
  return r;
}

// The product of a range of integers, or nothing when it does not fit in T. The empty product is 1.
template <std::integral T, class Range>
constexpr std::optional<T> checked_product(const Range& range) {
  T r = 1;
  for (auto v : range)
    if (__builtin_mul_overflow(r, v, &r)) return std::nullopt;
  return r;
}

template <std::integral T>
constexpr T ceil_div(T a, T b) {
  return static_cast<T>((a + b - 1) / b);
}

template <std::integral T>
constexpr T align_up(T value, T alignment) {
  return static_cast<T>(ceil_div(value, alignment) * alignment);
}

}  // namespace buda

#pragma GCC visibility pop
