// SPDX-License-Identifier: Apache-2.0
// Advice on names.
#include <buda/frontend/unknown_input.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>

#include <utility>
#include <vector>

namespace buda::frontend {

Diagnostic unknown_input(std::string_view code, SourceLoc file, std::string_view given, std::string_view what, const std::string& name,
                         const std::set<std::string>& known) {
  const std::vector<std::string> names(known.begin(), known.end());
  Diagnostic d = usage_error(code, cat(given, ": the model has no ", what, " '", name, '\''));
  if (auto near = nearest_word(name, names))
    d.hint = cat("did you mean '", *near, "'?");
  else
    d.hint = names.empty() ? "it has none" : cat("it has: ", join(names, ", "));
  d.loc = std::move(file);
  return d;
}

}  // namespace buda::frontend
