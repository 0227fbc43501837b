// SPDX-License-Identifier: Apache-2.0
// An option, declared once: the command line, the config file, the environment and --help all come from the declaration.
#pragma once

#include <buda/diag/result.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::schema {

enum class OptionType { flag, integer, real, text, path, choice };

// name is in kebab-case; it is the flag without its dashes, and the key in config files and --set.
struct OptionSpec {
  std::string name = {};
  OptionType type = OptionType::text;
  std::string summary = {};                 // one sentence, no full stop
  std::string value_name = {};              // what --help shows for the value: FILE, N, NAME…
  std::string default_text = {};            // empty: no default
  std::vector<std::string> choices = {};    // of a choice
  std::optional<double> least = {};         // of a number, inclusive
  std::optional<double> most = {};          // of a number, inclusive
  bool repeatable = false;                  // every occurrence counts; otherwise a second one is an error
  std::vector<std::string> spellings = {};  // further spellings, with their dashes: "-o", "-MD"
  std::string environment = {};             // compatible variable of the PyBuda documents, or empty
  // Further names in config files and --set: those of the PyBuda documents. The name itself may also be written with underscores.
  std::vector<std::string> known_as = {};
  std::function<Result<void>(const std::string& text)> check = {};  // what a text has to be besides; empty: anything
};

// Whether a text is a value of the option; the failure says what is allowed. `where` begins the message: "option --seed".
Result<void> check_option_value(const OptionSpec& spec, const std::string& text, const std::string& where);

// What is wrong with an option's value, found later than by check_option_value, as usage errors that name the option.
Failure usage_errors(std::string_view option, Failure failure);

// Values by option name. Getters are for checked values: a value that does not parse counts as absent.
class OptionValues {
 public:
  // Compiled in one place (docs/decisions/0021).
  OptionValues();
  OptionValues(const OptionValues&);
  OptionValues(OptionValues&&) noexcept;
  OptionValues& operator=(const OptionValues&);
  OptionValues& operator=(OptionValues&&) noexcept;
  ~OptionValues();

  void set(const std::string& name, std::string value) { values_[name] = {std::move(value)}; }
  void append(const std::string& name, std::string value) { values_[name].push_back(std::move(value)); }
  bool has(const std::string& name) const { return values_.count(name) != 0; }
  const std::map<std::string, std::vector<std::string>>& all() const { return values_; }

  std::vector<std::string> texts(const std::string& name) const;
  std::string text(const std::string& name, const std::string& otherwise = "") const;
  std::int64_t integer(const std::string& name, std::int64_t otherwise = 0) const;
  double real(const std::string& name, double otherwise = 0) const;
  bool flag(const std::string& name, bool otherwise = false) const;

 private:
  std::map<std::string, std::vector<std::string>> values_;
};

// Checks given values against the declarations (unknown names get a spelling hint) and fills in defaults. `prefix` begins the names in
// messages: "policy.ribbon." for a plugin's options.
Result<OptionValues> complete_options(const std::vector<OptionSpec>& specs, const OptionValues& given, const std::string& prefix);

}  // namespace buda::schema

#pragma GCC visibility pop
