// SPDX-License-Identifier: Apache-2.0
// Small damage to YAML texts, at the characters and columns that YAML gives a meaning to.
#pragma once

#include <buda/base/rng.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace buda::io {

class YamlMutator {
 public:
  explicit YamlMutator(std::uint64_t seed) : random_(seed) {}

  // Some lines of the text, with up to four things changed.
  std::string mutate(std::string_view text) {
    std::vector<std::string> lines = some_lines(text);
    for (std::size_t times = 1 + below(4); times > 0; --times) change(lines);
    std::string out;
    for (const auto& line : lines) out += line + '\n';
    if (below(4) == 0) out.pop_back();
    return out;
  }

  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_.below(limit)); }

 private:
  std::vector<std::string> some_lines(std::string_view text) {
    std::size_t from = text.empty() ? 0 : below(text.size());
    from = from == 0 ? 0 : text.rfind('\n', from - 1);
    from = from == std::string_view::npos ? 0 : from;
    std::vector<std::string> lines;
    std::size_t dedent = std::string::npos;
    for (std::size_t most = 1 + below(12); most > 0 && from < text.size(); --most) {
      if (text[from] == '\n') ++from;
      auto end = std::min(text.find('\n', from), text.size());
      std::string line(text.substr(from, std::min<std::size_t>(end - from, 300)));
      // As far left as the first line: else nearly all pieces would be refused for their columns.
      if (dedent == std::string::npos) dedent = std::min(line.find_first_not_of(' '), line.size());
      line.erase(0, std::min(dedent, std::min(line.find_first_not_of(' '), line.size())));
      lines.push_back(std::move(line));
      from = end;
    }
    if (lines.empty()) lines.emplace_back();
    return lines;
  }

  void change(std::vector<std::string>& lines) {
    constexpr std::string_view kBytes = "  \n--::,,[]{}#?'\"\"&*!|>%@`\t\r.~ab01_\\=<$";
    std::size_t n = below(lines.size());
    std::string& line = lines[n];
    std::size_t at = below(line.size() + 1);
    switch (below(10)) {
      case 0:
      case 1:
        line.insert(at, 1, kBytes[below(kBytes.size())]);
        return;
      case 2:
        if (at < line.size()) line[at] = kBytes[below(kBytes.size())];
        return;
      case 3:
        if (at < line.size()) line.erase(at, 1 + below(3));
        return;
      case 4:
        line.insert(0, 1 + below(3), ' ');
        return;
      case 5:
        line.erase(0, std::min(line.find_first_not_of(' '), 1 + below(3)));
        return;
      case 6:
        lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(n), lines[below(lines.size())]);
        return;
      case 7:
        if (lines.size() > 1) lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(n));
        return;
      case 8: {
        constexpr std::string_view kPieces[] = {": ",        "- ",   " #",      "---",  "...",    "[]",  "{}",     ", ",     "a: b",
                                                "[a: b, c]", "''",   "\"\\n\"", "- - ", ":\n",    "\n ", "- a:\n", "? ",     "null",
                                                "True",      "{a: ", "&x ",     "*x",   "!!str ", "|\n", "\n\n",   "\n# c\n"};
        line.insert(at, kPieces[below(std::size(kPieces))]);
        return;
      }
      default: {
        std::size_t length = below(20);
        if (at < line.size()) line.insert(below(line.size()), line.substr(at, length));
        return;
      }
    }
  }

  Rng random_;
};

}  // namespace buda::io
