// SPDX-License-Identifier: Apache-2.0
// Reading of names and keys.
#include <buda/autograd/spec.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>

#include <algorithm>
#include <limits>

namespace buda::autograd {

namespace {

// Numbers that a key takes, in words: "from 0 to 1", "at least 0", "above 0".
std::string range_text(const SpecNumber& number) {
  const bool is_above = number.least == std::numeric_limits<double>::min();
  const std::string least = to_text(is_above ? 0 : number.least), most = to_text(number.most);
  if (number.most == std::numeric_limits<double>::max()) return cat(is_above ? "above " : "at least ", least);
  return is_above ? cat("above ", least, " and at most ", most) : cat("from ", least, " to ", most);
}

}  // namespace

std::string_view spec_name(std::string_view text) { return text.substr(0, text.find(':')); }

Result<void> read_numbers(std::string_view text, std::string_view what, const std::vector<SpecNumber>& numbers) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return success();
  const auto wrong = [&](const std::string& message) { return usage_error("AG011", cat(what, ": ", message)); };
  std::vector<std::string> keys;
  for (const SpecNumber& n : numbers) keys.emplace_back(n.key);
  for (const auto& part : split(text.substr(colon + 1), ',')) {
    const auto equal = part.find('=');
    const std::string key(part.substr(0, equal));
    auto number = std::find_if(numbers.begin(), numbers.end(), [&](const SpecNumber& n) { return n.key == key; });
    if (number == numbers.end()) {
      Diagnostic d = wrong(cat("'", spec_name(text), "' has no key '", key, "'", keys.empty() ? "" : "; its keys are ", join(keys, ", ")));
      if (auto near = nearest_word(key, keys)) d.hint = cat("did you mean '", *near, "'?");
      return d;
    }
    const auto value = equal == std::string_view::npos ? std::nullopt : parse_double(part.substr(equal + 1));
    if (!value || *value < number->least || *value > number->most)
      return wrong(cat("'", part, "' should be ", key, "=X with X ", range_text(*number)));
    *number->value = *value;
  }
  return success();
}

Diagnostic unknown_name(std::string_view text, std::string_view what, const std::vector<std::string>& known) {
  Diagnostic d = usage_error("AG010", cat(what, ": '", spec_name(text), "' is not one of ", join(known, ", ")));
  if (auto near = nearest_word(std::string(spec_name(text)), known)) d.hint = cat("did you mean '", *near, "'?");
  return d;
}

}  // namespace buda::autograd
