// SPDX-License-Identifier: Apache-2.0
// Writing of depfiles, in the dialect that GNU make and ninja share.
#include <buda/cli/depfile.hpp>

namespace buda::cli {
namespace {

std::string escaped(const std::string& name) {
  std::string out;
  for (char c : name) {
    if (c == ' ' || c == '#' || c == '\\') out += '\\';
    if (c == '$') out += '$';
    out += c;
  }
  return out;
}

}  // namespace

std::string depfile_text(const std::string& target, const std::set<std::string>& read) {
  std::string out = escaped(target) + ":";
  for (const auto& name : read) out += " \\\n  " + escaped(name);
  out += '\n';
  for (const auto& name : read) out += '\n' + escaped(name) + ":\n";
  return out;
}

std::vector<std::string> dependencies_of(std::string_view text) {
  std::vector<std::string> out;
  std::string word;
  bool after_colon = false;
  auto end_word = [&] {
    if (!after_colon && word.ends_with(':'))
      after_colon = true;
    else if (after_colon && !word.empty())
      out.push_back(word);
    word.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (c == '\\' && next == '\n') {
      ++i;
      end_word();
    } else if ((c == '\\' && (next == ' ' || next == '#' || next == '\\')) || (c == '$' && next == '$')) {
      word += next;
      ++i;
    } else if (c == ' ') {
      end_word();
    } else if (c == '\n') {
      end_word();
      if (after_colon) return out;
    } else {
      word += c;
    }
  }
  end_word();
  return out;
}

}  // namespace buda::cli
