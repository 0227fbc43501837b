// SPDX-License-Identifier: Apache-2.0
// Errors with the element in which they are and the word that may be meant.
#include <buda/netlist/text/parse_errors.hpp>

#include <buda/base/spelling.hpp>

#include <algorithm>
#include <optional>
#include <tuple>

namespace buda::netlist {
namespace {

// More are hardly the file's own: it is not a netlist.
constexpr std::size_t kMaxErrors = 1000;

// A mistyped word, or the beginning of just one: "sub" for subtract.
std::optional<std::string> meant_word(const std::string& word, const std::vector<std::string>& known) {
  if (auto near = nearest_word(word, known)) return near;
  std::optional<std::string> begun;
  for (const auto& k : known) {
    if (word.size() < 3 || !k.starts_with(word)) continue;
    if (begun) return std::nullopt;
    begun = k;
  }
  return begun;
}

}  // namespace

Diagnostic ParseErrors::make(std::string code, SourceLocation at, std::string message, std::string hint) const {
  Diagnostic d = input_error(std::move(code), {file_, at.line, at.column}, prefix_ + message);
  d.node = node_;
  d.hint = std::move(hint);
  return d;
}

void ParseErrors::error(std::string code, const io::Node& at, std::string message, std::string hint) {
  error(std::move(code), location_of(at), std::move(message), std::move(hint));
}

void ParseErrors::error(std::string code, SourceLocation at, std::string message, std::string hint) {
  if (failure_.diagnostics().size() < kMaxErrors) failure_.add(make(std::move(code), at, std::move(message), std::move(hint)));
}

void ParseErrors::finding(Severity severity, std::string code, const io::Node& at, std::string message, std::string hint) {
  if (findings_.size() >= kMaxErrors) return;
  findings_.push_back(make(std::move(code), location_of(at), std::move(message), std::move(hint)));
  findings_.back().severity = severity;
}

void ParseErrors::repeated(const io::Node& at, const std::string& key) {
  finding(Severity::warning, "NL008", at, cat("duplicate key '", key, "'; the later value counts, lists grow"));
}

void ParseErrors::unknown(std::string code, const io::Node& at, std::string_view what, const std::string& word,
                          const std::vector<std::string>& known) {
  if (failure_.diagnostics().size() >= kMaxErrors) return;
  auto near = meant_word(word, known);
  error(std::move(code), at, cat(what, " '", word, "' is unknown; known are ", join(known, ", ")),
        near ? cat("did you mean '", *near, "'?") : std::string());
}

void ParseErrors::unknown_finding(std::string code, const io::Node& at, std::string_view what, const std::string& word,
                                  const std::vector<std::string>& known) {
  if (findings_.size() >= kMaxErrors) return;
  auto near = meant_word(word, known);
  finding(Severity::error, std::move(code), at, cat(what, " '", word, "' is unknown; known are ", join(known, ", ")),
          near ? cat("did you mean '", *near, "'?") : std::string());
}

Failure ParseErrors::take_failure() {
  for (Diagnostic& d : findings_)
    if (d.severity == Severity::error) failure_.add(std::move(d));
  findings_.clear();
  std::stable_sort(failure_.diagnostics().begin(), failure_.diagnostics().end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.loc.line, a.loc.column) < std::tie(b.loc.line, b.loc.column);
  });
  return std::move(failure_);
}

}  // namespace buda::netlist
