// SPDX-License-Identifier: Apache-2.0
// Counting and naming operators that are not read.
#include <buda/frontend/unsupported.hpp>

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::frontend {

void UnsupportedOps::add(const std::string& key, std::string described, std::string why, std::string node) {
  auto [it, first] = groups_.try_emplace(key);
  if (first) {
    it->second.described = std::move(described);
    it->second.why = std::move(why);
  }
  it->second.nodes.push_back(std::move(node));
}

Diagnostic UnsupportedOps::report(Diagnostic error) const {
  constexpr std::size_t kNamesShown = 8;
  error.message = groups_.size() == 1 ? "the model uses an operator that is not supported"
                                      : cat("the model uses ", groups_.size(), " operators that are not supported");
  for (const auto& [key, group] : groups_) {
    auto shown = static_cast<std::ptrdiff_t>(std::min(group.nodes.size(), kNamesShown));
    std::vector<std::string> names(group.nodes.begin(), group.nodes.begin() + shown);
    std::string more = group.nodes.size() > names.size() ? cat(", and ", group.nodes.size() - names.size(), " more") : "";
    error.notes.push_back({{},
                           cat(group.described, ": ", group.why, "; used by ", group.nodes.size(),
                               group.nodes.size() == 1 ? " node: " : " nodes: ", join(names, ", "), more)});
    error.data.emplace_back(cat("unsupported.", key), join(group.nodes, ", "));
  }
  if (groups_.size() == 1) error.node = groups_.begin()->second.nodes.front();
  return error;
}

}  // namespace buda::frontend
