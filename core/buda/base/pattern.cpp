// SPDX-License-Identifier: Apache-2.0
// Regular expressions by std::regex.
#include <buda/base/pattern.hpp>

#include <regex>

namespace buda {

struct Pattern::Automaton {
  std::regex regex;
};

namespace {

constexpr std::size_t kLongestName = 4096;

// The library gives up on some names; they do not match.
template <class Match>
bool tried(const std::string& name, Match match) {
  if (name.size() > kLongestName) return false;
  try {
    return match();
  } catch (const std::regex_error&) {
    return false;
  }
}

}  // namespace

std::optional<Pattern> Pattern::compile(const std::string& text, std::string* why) {
  // The automaton that works in linear time: the usual one backtracks, and some expressions then never end.
  auto flags = std::regex::ECMAScript;
#ifdef __GLIBCXX__
  flags |= std::regex_constants::__polynomial;
#endif
  try {
    return Pattern(std::make_shared<const Automaton>(Automaton{std::regex(text, flags)}));
  } catch (const std::regex_error& e) {
    if (why != nullptr) *why = e.what();
    return std::nullopt;
  }
}

bool Pattern::matches(const std::string& name) const {
  return tried(name, [&] { return std::regex_match(name, automaton_->regex); });
}

bool Pattern::occurs_in(const std::string& name) const {
  return tried(name, [&] { return std::regex_search(name, automaton_->regex); });
}

}  // namespace buda
