// SPDX-License-Identifier: Apache-2.0
// What every fuzzed reader owes: a value, or a failure that can be shown.
#pragma once

#include <buda/diag/format.hpp>
#include <buda/diag/result.hpp>

#include <cstdlib>

namespace buda {

// A failure must have something to say, and saying it must work.
template <class T>
bool check(const Result<T>& r) {
  if (r) return true;
  if (r.failure().empty()) std::abort();
  for (const auto& d : r.failure().diagnostics()) {
    if (d.message.empty() || format_text(d, {}, nullptr).empty() || format_json(d).empty()) std::abort();
  }
  return false;
}

}  // namespace buda
