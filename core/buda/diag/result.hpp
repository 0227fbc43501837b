// SPDX-License-Identifier: Apache-2.0
// A value or the reasons why there is none. Used for everything that input or environment can make fail.
#pragma once

#include <buda/diag/diagnostic.hpp>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace buda {

// One or more errors, or none: then it costs no more than a null pointer. A stage that can go on after an error collects all it finds
// before it gives up.
class [[nodiscard]] Failure {
 public:
  Failure() = default;
  Failure(Diagnostic&& d);       // NOLINT: implicit on purpose, `return input_error(…);`
  Failure(const Diagnostic& d);  // NOLINT
  explicit Failure(std::vector<Diagnostic> d);
  Failure(const Failure& other);
  Failure(Failure&&) noexcept = default;
  Failure& operator=(const Failure& other);
  Failure& operator=(Failure&&) noexcept = default;
  ~Failure() = default;

  void add(Diagnostic d);
  void add(Failure f);
  bool empty() const;
  const std::vector<Diagnostic>& diagnostics() const;
  std::vector<Diagnostic>& diagnostics();

 private:
  struct Delete {
    void operator()(std::vector<Diagnostic>* list) const;
  };
  std::unique_ptr<std::vector<Diagnostic>, Delete> list_;
};

template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  Result(T value) : value_(std::move(value)) {}              // NOLINT: implicit on purpose
  Result(Failure failure) : failure_(std::move(failure)) {}  // NOLINT
  Result(Diagnostic d) : failure_(std::move(d)) {}           // NOLINT

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }

  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return std::move(*value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return std::move(*value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

  Failure& failure() & { return failure_; }
  const Failure& failure() const& { return failure_; }
  Failure&& failure() && { return std::move(failure_); }

 private:
  std::optional<T> value_;
  Failure failure_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;
  Result() = default;
  Result(Failure failure) : failed_(true), failure_(std::move(failure)) {}  // NOLINT
  Result(Diagnostic d) : failed_(true), failure_(std::move(d)) {}           // NOLINT

  bool ok() const { return !failed_; }
  explicit operator bool() const { return ok(); }
  Failure& failure() & { return failure_; }
  const Failure& failure() const& { return failure_; }
  Failure&& failure() && { return std::move(failure_); }

 private:
  bool failed_ = false;
  Failure failure_;
};

inline Result<void> success() { return {}; }

}  // namespace buda

#define BUDA_CONCAT_(a, b) a##b
#define BUDA_CONCAT(a, b) BUDA_CONCAT_(a, b)

// BUDA_TRY(read(path)): returns the failure of a Result from the enclosing function.
#define BUDA_TRY(expression)                                                              \
  do {                                                                                    \
    if (auto buda_try_ = (expression); !buda_try_) return std::move(buda_try_).failure(); \
  } while (false)

// BUDA_ASSIGN(auto text, fs.read(path)): declares or sets a variable from a Result, or returns its failure.
#define BUDA_ASSIGN(target, expression) BUDA_ASSIGN_(BUDA_CONCAT(buda_result_, __LINE__), target, expression)
#define BUDA_ASSIGN_(temporary, target, expression)      \
  auto temporary = (expression);                         \
  if (!temporary) return std::move(temporary).failure(); \
  target = std::move(temporary).value()

#pragma GCC visibility pop
