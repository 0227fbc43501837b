// SPDX-License-Identifier: Apache-2.0
// Errors of a file that is being read. Internal to the module.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/pipes/format/pipegen_file.hpp>

#include <string>
#include <utility>

namespace buda::pipes {

// Keeps the first twenty, so that one file reports all that is wrong with it, but not the same thing a thousand times.
class FileErrors {
 public:
  explicit FileErrors(std::string file) : file_(std::move(file)) {}

  void add(Diagnostic d) {
    if (!full()) failure_.add(std::move(d));
  }
  void add(std::string code, FilePlace at, std::string message, std::string hint = "") {
    Diagnostic d = input_error(std::move(code), {file_, at.line, at.column}, std::move(message));
    d.hint = std::move(hint);
    add(std::move(d));
  }
  bool any() const { return !failure_.empty(); }
  bool full() const { return failure_.diagnostics().size() >= kMaxErrors; }
  Failure take() { return std::move(failure_); }

 private:
  static constexpr std::size_t kMaxErrors = 20;
  std::string file_;
  Failure failure_;
};

}  // namespace buda::pipes
