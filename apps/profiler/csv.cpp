// SPDX-License-Identifier: Apache-2.0
// Character by character.
#include "apps/profiler/csv.hpp"

namespace buda::profiler {

std::optional<std::vector<std::string>> take_csv_line(std::string_view& text, std::uint32_t& lines) {
  std::vector<std::string> out(1);
  bool quoted = false;
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\n') ++lines;
    if (quoted) {
      if (c != '"') {
        out.back() += c;
      } else if (at + 1 < text.size() && text[at + 1] == '"') {
        out.back() += c;
        ++at;
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      out.emplace_back();
    } else if (c == '\n') {
      ++at;
      break;
    } else if (c != '\r') {
      out.back() += c;
    }
  }
  text.remove_prefix(at);
  if (quoted) return std::nullopt;
  return out;
}

}  // namespace buda::profiler
