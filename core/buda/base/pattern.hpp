// SPDX-License-Identifier: Apache-2.0
// Regular expressions that users give for names (ECMAScript). The standard library's header stays in one source: it takes seconds to
// compile.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace buda {

// Matching takes linear time in the name, whatever the expression; back-references are refused.
class Pattern {
 public:
  // Nothing where the text is no regular expression; `why` is told the reason.
  static std::optional<Pattern> compile(const std::string& text, std::string* why = nullptr);

  // The whole name; a part of it. Names of more than 4096 bytes match nothing: no expression is written for them.
  bool matches(const std::string& name) const;
  bool occurs_in(const std::string& name) const;

 private:
  struct Automaton;
  explicit Pattern(std::shared_ptr<const Automaton> automaton) : automaton_(std::move(automaton)) {}
  std::shared_ptr<const Automaton> automaton_;
};

}  // namespace buda
