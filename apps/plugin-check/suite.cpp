// SPDX-License-Identifier: Apache-2.0
// Collecting outcomes.
#include "apps/plugin-check/suite.hpp"

#include <buda/base/text.hpp>

namespace buda::plugin_check {

void Suite::check(std::string_view promise, Result<void> outcome) {
  if (outcome) {
    text_ += cat("  ok    ", promise, '\n');
    return;
  }
  text_ += cat("  FAIL  ", promise, '\n');
  const Diagnostic& first = outcome.failure().diagnostics().front();
  Diagnostic d = broken(cat(subject_, ": not so: ", promise, ": ", first.message));
  d.notes = first.notes;
  d.hint = first.hint;
  failed_.push_back(std::move(d));
}

void Suite::skip(std::string_view promise, std::string_view why) { text_ += cat("  -     ", promise, " (not tried: ", why, ")\n"); }

Diagnostic broken(std::string message) {
  Diagnostic d = input_error("PK001", {}, std::move(message));
  d.fault = Fault::mismatch;
  return d;
}

}  // namespace buda::plugin_check
