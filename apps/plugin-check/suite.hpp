// SPDX-License-Identifier: Apache-2.0
// The outcomes of checks.
#pragma once

#include <buda/diag/result.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace buda::plugin_check {

// The checks of one thing that a plugin offers.
class Suite {
 public:
  explicit Suite(std::string subject) : subject_(std::move(subject)) {}

  // `promise` is a sentence that holds for a sound plugin.
  void check(std::string_view promise, Result<void> outcome);
  // What could not be tried, and why.
  void skip(std::string_view promise, std::string_view why);

  const std::string& text() const { return text_; }  // a line for each check
  const std::vector<Diagnostic>& failed() const { return failed_; }

 private:
  std::string subject_;
  std::string text_;
  std::vector<Diagnostic> failed_;
};

// The failure of a check.
Diagnostic broken(std::string message);

// A failure when something that must be refused was done.
template <class T>
Result<void> refuses(const Result<T>& done, std::string_view what) {
  if (done) return broken("it did not refuse " + std::string(what));
  for (const Diagnostic& d : done.failure().diagnostics())
    if (d.fault == Fault::bug) return done.failure();
  return success();
}

}  // namespace buda::plugin_check
