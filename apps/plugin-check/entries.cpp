// SPDX-License-Identifier: Apache-2.0
// Checks of what every plugin registers.
#include "apps/plugin-check/checks.hpp"

#include <buda/balance/policy/policy.hpp>
#include <buda/base/text.hpp>
#include <buda/passes/decompose/decomposition.hpp>
#include <buda/plugin/frontend.hpp>
#include <buda/runtime/target.hpp>

#include <algorithm>

namespace buda::plugin_check {
namespace {

bool is_lower_case(std::string_view name) {
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-'; });
}

Result<void> one_line(const std::string& what, const std::string& text) {
  if (text.empty()) return broken(cat(what, " has no summary"));
  if (text.find('\n') != std::string::npos || text.ends_with('.'))
    return broken(cat("the summary of ", what, " is not one line without a full stop: '", text, '\''));
  return success();
}

Result<void> texts(const std::string& name, const std::string& summary, const std::vector<schema::OptionSpec>& options) {
  if (name.empty() || !is_lower_case(name)) return broken(cat("the name '", name, "' is not of lower-case letters, digits, _ and -"));
  BUDA_TRY(one_line(cat('\'', name, '\''), summary));
  for (const schema::OptionSpec& option : options) {
    if (!is_lower_case(option.name))
      return broken(cat("the option's name '", option.name, "' is not of lower-case letters, digits, _ and -"));
    BUDA_TRY(one_line(cat("option '", option.name, '\''), option.summary));
    if (!option.default_text.empty())
      if (auto sound = schema::check_option_value(option, option.default_text, cat("the default of option '", option.name, '\'')); !sound)
        return sound;
  }
  return success();
}

}  // namespace

template <class Interface>
void check_entry(plugin::Kind kind, const plugin::Entry<Interface>& entry, Suite& suite) {
  suite.check(cat("the ", plugin::kind_name(kind), "'s name, summary and options are sound"),
              texts(entry.name, entry.summary, entry.options));
}

template void check_entry(plugin::Kind, const plugin::Entry<plugin::Frontend>&, Suite&);
template void check_entry(plugin::Kind, const plugin::Entry<passes::Decomposition>&, Suite&);
template void check_entry(plugin::Kind, const plugin::Entry<balance::Policy>&, Suite&);
template void check_entry(plugin::Kind, const plugin::Entry<runtime::Target>&, Suite&);

}  // namespace buda::plugin_check
