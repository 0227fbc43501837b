// SPDX-License-Identifier: Apache-2.0
// Reads the list of examples and makes their netlists.
#include "unit/netlist/rule_examples.hpp"

#include <buda/base/text.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace buda::netlist::samples {
namespace {

std::string file_text(const std::string& path) {
  const char* source = std::getenv("BUDA_SOURCE_DIR");
  if (source == nullptr) return "";
  std::ifstream file(cat(source, path));
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

RuleExample head(std::string_view line) {
  RuleExample out;
  auto words = split(line.substr(3), ' ');
  out.code = words.at(0);
  out.base = words.at(1);
  bool also = false;
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (words[i] == "on") {
      out.device = words.at(++i);
    } else if (words[i] == "also") {
      also = true;
    } else if (also) {
      out.also.emplace_back(words[i]);
    }
  }
  return out;
}

}  // namespace

std::vector<RuleExample> rule_examples() {
  std::vector<RuleExample> out;
  std::istringstream file(file_text("/tests/unit/netlist/rule_examples.txt"));
  std::string line;
  char last = ' ';  // the sign of the line before
  while (std::getline(file, line)) {
    if (line.starts_with("== ")) {
      out.push_back(head(line));
      last = ' ';
    }
    if (out.empty() || line.size() < 2 || (line[0] != '-' && line[0] != '+') || line[1] != ' ') continue;
    auto& changes = out.back().changes;
    const char sign = line[0];
    if (sign == '-' && last != '-') changes.emplace_back();
    std::string& text = sign == '-' ? changes.back().first : changes.back().second;
    if (sign == last) text += '\n';
    text += line.substr(2);
    last = sign;
  }
  return out;
}

std::string rule_example_text(const RuleExample& example, std::size_t& line, std::size_t& column) {
  std::string text = file_text(cat("/share/examples/netlists/", example.base, ".yaml"));
  for (const auto& [from, to] : example.changes) {
    auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << example.code << ": not in " << example.base << ".yaml: " << from;
    if (at != std::string::npos) text.replace(at, from.size(), to);
  }
  line = column = 0;
  auto mark = text.find('^');
  if (mark == std::string::npos) return text;
  line = 1 + static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(mark), '\n'));
  column = mark - (text.rfind('\n', mark) + 1) + 1;
  text.erase(mark, 1);
  return text;
}

}  // namespace buda::netlist::samples
