// SPDX-License-Identifier: Apache-2.0
// YAML in: what is regular is read here, the rest by yaml-cpp.
#include <buda/io/yaml.hpp>

#include <buda/base/text.hpp>
#include <buda/io/yaml_events.hpp>
#include <buda/io/yaml_regular.hpp>

namespace buda::io {
namespace {

// yaml-cpp holds everything in memory that stands in open brackets, at a hundred bytes for each; so they are counted beforehand.
std::optional<Diagnostic> too_deep(std::string_view text, const std::string& file) {
  std::size_t depth = 0;
  std::uint32_t line = 1;
  for (char c : text) {
    if (c == '\n') ++line;
    if (c == '[' || c == '{') ++depth;
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (depth > 2 * kDeepestYaml) return input_error("IO030", {file, line}, cat("nested deeper than ", kDeepestYaml, " levels"));
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<Node>> parse_yaml_stream(std::string_view text, const std::string& file, const YamlOptions& options) {
  if (!is_valid_utf8(text)) return input_error("IO030", {file}, "not valid YAML: the file is not UTF-8 text");
  if (text.find('\0') != std::string_view::npos) return input_error("IO030", {file}, "not valid YAML: the file holds a zero byte");
  if (auto deep = too_deep(text, file)) return *deep;
  if (auto documents = read_regular_yaml(text, file, options)) return std::move(*documents);
  return read_yaml_events(text, file, options);
}

Result<Node> parse_yaml(std::string_view text, const std::string& file, const YamlOptions& options) {
  BUDA_ASSIGN(auto documents, parse_yaml_stream(text, file, options));
  if (documents.empty()) return input_error("IO031", {file}, "the file is empty; expected a YAML document");
  if (documents.size() > 1) return node_error("IO031", documents[1], "a second YAML document; expected one");
  return std::move(documents.front());
}

}  // namespace buda::io
