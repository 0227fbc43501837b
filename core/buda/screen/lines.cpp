// SPDX-License-Identifier: Apache-2.0
// Cutting and filling of lines.
#include <buda/screen/lines.hpp>

#include <algorithm>
#include <utility>

namespace buda::screen {

Line bar(std::string text, std::size_t width) {
  text.resize(width, ' ');
  return {{std::move(text), Style::title}};
}

void add_part(Line& out, const Line& line, std::size_t from, std::size_t count) {
  std::size_t at = 0;
  for (const Span& span : line) {
    const std::size_t begin = std::max(at, from), end = std::min(at + span.text.size(), from + count);
    if (begin < end) out.push_back({span.text.substr(begin - at, end - begin), span.style});
    at += span.text.size();
  }
}

}  // namespace buda::screen
