// SPDX-License-Identifier: Apache-2.0
// Compares the two readers of YAML on one text: what the reader of regular YAML accepts, yaml-cpp accepts as the same tree.
#pragma once

#include <buda/io/yaml_events.hpp>
#include <buda/io/yaml_regular.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace buda::io {

// What differs between two trees, with the way to it; empty when nothing does.
inline std::string tree_difference(const Node& a, const Node& b) {
  if (a.kind() != b.kind() || a.text() != b.text()) return ": " + a.describe() + " is " + b.describe() + " for yaml-cpp";
  if (a.line() != b.line() || a.column() != b.column()) {
    auto place = [](const Node& n) { return std::to_string(n.line()) + ':' + std::to_string(n.column()); };
    return ": " + a.describe() + " at " + place(a) + " is at " + place(b) + " for yaml-cpp";
  }
  if (a.loc().file != b.loc().file) return ": another file";
  if (a.size() != b.size()) return ": " + std::to_string(a.size()) + " members, " + std::to_string(b.size()) + " for yaml-cpp";
  if (a.keys() != b.keys()) return ": other keys";
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::string inner = tree_difference(a.items()[i], b.items()[i]);
    if (!inner.empty()) return (a.is_map() ? '.' + a.keys()[i] : '[' + std::to_string(i) + ']') + inner;
  }
  return "";
}

struct YamlComparison {
  bool regular = false;
  std::string difference;  // empty when the readers agree, or the text is not regular
};

inline YamlComparison compare_yaml_readers(std::string_view text, const YamlOptions& options) {
  auto regular = read_regular_yaml(text, "f", options);
  if (!regular) return {};
  auto events = read_yaml_events(text, "f", options);
  if (!events) return {true, "yaml-cpp refuses it: " + events.failure().diagnostics().front().message};
  if (regular->size() != events->size()) return {true, "another number of documents"};
  for (std::size_t i = 0; i < regular->size(); ++i) {
    std::string difference = tree_difference((*regular)[i], (*events)[i]);
    if (!difference.empty()) return {true, "document " + std::to_string(i) + difference};
  }
  return {true, ""};
}

}  // namespace buda::io
