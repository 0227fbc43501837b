// SPDX-License-Identifier: Apache-2.0
// An optional value beside its owner instead of in it.
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#pragma GCC visibility push(default)

namespace buda {

// As std::optional, in the place of a pointer: for a large member that most of many objects are without. A copy has a value of its own.
template <typename T>
class Boxed {
 public:
  Boxed() = default;
  Boxed(std::nullopt_t /*none*/) {}  // NOLINT: as std::optional
  template <typename U>
  requires(!std::same_as<std::remove_cvref_t<U>, Boxed> && std::convertible_to<U, T>) Boxed(U&& value)
      : value_(std::make_unique<T>(std::forward<U>(value))) {}  // NOLINT
  Boxed(const Boxed& other) : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
  Boxed(Boxed&&) noexcept = default;
  Boxed& operator=(const Boxed& other) { return *this = Boxed(other); }
  Boxed& operator=(Boxed&&) noexcept = default;
  ~Boxed() = default;

  bool has_value() const { return value_ != nullptr; }
  explicit operator bool() const { return has_value(); }
  // There must be a value.
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return value_.get(); }
  const T* operator->() const { return value_.get(); }
  void reset() { value_.reset(); }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace buda

#pragma GCC visibility pop
