// SPDX-License-Identifier: Apache-2.0
// Texts of ranges.
#include <buda/graph/tags/input_range.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/node.hpp>

namespace buda::graph {

std::string InputRange::text() const { return cat(least, ':', most); }

std::optional<InputRange> parse_input_range(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto least = parse_int(text.substr(0, colon)), most = parse_int(text.substr(colon + 1));
  if (!least || !most || *least > *most) return std::nullopt;
  return InputRange{*least, *most};
}

std::string value_range_of(const Node& input) {
  auto tag = input.tags.find(kValueRange);
  return tag == input.tags.end() ? "" : tag->second;
}

std::string index_reader_of(const Node& input) {
  auto tag = input.tags.find(kIndexOf);
  return tag == input.tags.end() ? "" : tag->second;
}

}  // namespace buda::graph
