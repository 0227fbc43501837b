// SPDX-License-Identifier: Apache-2.0
// Halving what is too large, and lifting restrictions one by one.
#include <buda/balance/plan/hints.hpp>

#include <buda/balance/legalize/restrictions.hpp>
#include <buda/base/text.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

namespace buda::balance {
namespace {

// Where queues do not fit DRAM, half a microbatch may, or a quarter; or host queues of fewer batches. `fits` tries it.
Failure with_hint_at_batches(Failure failure, const Settings& options, const SettingsTrial& fits) {
  const auto is_of_dram = [](const Diagnostic& d) { return d.code == "BL016"; };
  auto& all = failure.diagnostics();
  if (all.empty() || !std::all_of(all.begin(), all.end(), is_of_dram)) return failure;
  const auto halved = [&](std::string_view option, auto&& member) {
    Settings fewer = options;
    while ((member(fewer) /= 2) > 0) {
      if (!fits(fewer)) continue;
      for (Diagnostic& d : all) d.hint = cat("with ", option, ' ', member(fewer), " the queues fit");
      return true;
    }
    return false;
  };
  if (!halved("--microbatch", [](Settings& o) -> std::int32_t& { return o.batches; }))
    halved("--queue-entries", [](Settings& o) -> std::int32_t& { return o.queues.batches; });
  return failure;
}

// Where none of an op's implementations finds room that the user's restrictions leave, others may. `fits` tries it.
Failure with_hint_at_restrictions(Failure failure, const Settings& options, const SettingsTrial& fits) {
  const auto is_open = [](const Diagnostic& d) { return d.code == "BL014" && d.hint.empty(); };
  auto& all = failure.diagnostics();
  if (all.empty() || !std::all_of(all.begin(), all.end(), is_open)) return failure;
  for (const Relaxed& way : relaxed(options.models)) {
    Settings tried = options;
    tried.models = way.options;
    if (!fits(tried)) continue;
    all.front().hint = cat(way.text, ": it fits then");
    break;
  }
  return failure;
}

}  // namespace

Failure with_hints(Failure failure, const Settings& settings, const SettingsTrial& fits) {
  if (settings.hosts_misfits) return failure;
  return with_hint_at_restrictions(with_hint_at_batches(std::move(failure), settings, fits), settings, fits);
}

}  // namespace buda::balance
