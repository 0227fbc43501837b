// SPDX-License-Identifier: Apache-2.0
// What the checker finds: errors, and how much it compared. Internal to the checker.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/pipes/check/check.hpp>

#include <string>
#include <utility>

namespace buda::pipes {

struct Findings {
  static constexpr std::size_t kMaxErrors = 20;

  void error(std::string code, std::string node, std::string message) {
    if (failure.diagnostics().size() >= kMaxErrors) return;
    Diagnostic d = input_error(std::move(code), {}, std::move(message));
    d.node = std::move(node);
    failure.add(std::move(d));
  }

  Failure failure;
  CheckCounts counts;
};

}  // namespace buda::pipes
