// SPDX-License-Identifier: Apache-2.0
// Options bound to the members of an options struct, and set by their names.
//
// A struct of options has a function that declares them once:
//
//   schema::OptionSet set;
//   compiler::OptimizeOptions options;
//   compiler::declare(set, options);
//   BUDA_TRY(set.assign("enable_auto_fusing", {"false"}));
//
// Command line, config file and environment of a tool are read by the same declarations (buda/cli).
#pragma once

#include <buda/schema/option.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::schema {

// One declared option and the variable that its value goes to.
struct BoundOption {
  OptionSpec spec;
  std::function<void(const std::vector<std::string>& texts)> store;  // gets checked texts, in order
  std::string group;                                                 // heading in --help
  std::vector<std::string> present = {};                             // the variable's value when it was declared; empty: none

  // The rest of the declaration, chained after OptionSet's functions.
  BoundOption& range(double least, double most) {
    spec.least = least;
    spec.most = most;
    return *this;
  }
  BoundOption& at_least(double least) {
    spec.least = least;
    return *this;
  }
  BoundOption& also(std::string spelling) {  // with its dashes: "-o"
    spec.spellings.push_back(std::move(spelling));
    return *this;
  }
  BoundOption& environment(std::string name) {
    spec.environment = std::move(name);
    return *this;
  }
  BoundOption& known_as(std::string name) {  // in config files and --set
    spec.known_as.push_back(std::move(name));
    return *this;
  }
  BoundOption& checked_by(std::function<Result<void>(const std::string&)> check) {
    spec.check = std::move(check);
    return *this;
  }
};

// Keys with a free part: "op." for op.NAME.grid=[2,2]. The values arrive unchecked.
struct KeyFamily {
  std::string prefix;
  std::string form;  // "op.NAME.grid=[R,C]"
  std::string summary;
  std::map<std::string, std::string>* target = nullptr;  // by the key without its prefix
};

// Declares options; a declaration gives the default from the bound variable's present value. The variables must outlive the set.
class OptionSet {  // wide because each type of variable has a declaration of its own
 public:
  BoundOption& flag(std::string name, bool& target, std::string summary);
  // A flag without a default: what happens when it is not given is told by its summary.
  BoundOption& flag(std::string name, std::optional<bool>& target, std::string summary);
  // A flag that may be given several times.
  BoundOption& count(std::string name, unsigned& target, std::string summary);
  BoundOption& integer(std::string name, std::int64_t& target, std::string value_name, std::string summary);
  BoundOption& unsigned_integer(std::string name, unsigned& target, std::string value_name, std::string summary);
  BoundOption& seed(std::string name, std::uint64_t& target, std::string value_name, std::string summary);
  BoundOption& real(std::string name, double& target, std::string value_name, std::string summary);
  BoundOption& real(std::string name, std::optional<double>& target, std::string value_name, std::string summary);
  BoundOption& text(std::string name, std::string& target, std::string value_name, std::string summary);
  BoundOption& path(std::string name, std::string& target, std::string value_name, std::string summary);
  BoundOption& texts(std::string name, std::vector<std::string>& target, std::string value_name, std::string summary);  // repeatable
  BoundOption& choice(std::string name, std::string& target, std::vector<std::string> choices, std::string summary);
  // One of these names, which stand for the enumerators, or numbers, from 0.
  template <class E>
  requires(std::is_enum_v<E> || std::is_same_v<E, std::int64_t>) BoundOption& choice(std::string name, E& target,
                                                                                     std::vector<std::string> names, std::string summary) {
    return one_of(std::move(name), std::move(names), static_cast<std::int64_t>(target), std::move(summary),
                  [&target](std::int64_t place) { target = static_cast<E>(place); });
  }
  // The same with a name for nothing, which is the first.
  template <class E>
  requires std::is_enum_v<E> BoundOption& choice(std::string name, std::optional<E>& target, std::vector<std::string> names,
                                                 std::string summary) {
    return one_of(std::move(name), std::move(names), target ? static_cast<std::int64_t>(*target) + 1 : 0, std::move(summary),
                  [&target](std::int64_t place) { target = place == 0 ? std::nullopt : std::optional(static_cast<E>(place - 1)); });
  }
  // A text that stands for a value of the declarer's: `store` gets one that `check` accepts.
  BoundOption& parsed(std::string name, std::string present, std::string value_name, std::string summary,
                      std::function<Result<void>(const std::string&)> check, std::function<void(const std::string&)> store);

  // An option that somebody else has declared. `store` gets texts of its type.
  void declare(OptionSpec spec, std::function<void(const std::vector<std::string>&)> store);

  void family(std::string prefix, std::string form, std::map<std::string, std::string>& target, std::string summary);

  // Options declared from here on stand under this heading in --help.
  void group(std::string heading) { group_ = std::move(heading); }

  // The option that is declared under this name; null when there is none.
  const BoundOption* find(const std::string& name) const;
  // The option that a key of a config file or of --set means: its name, with dashes or underscores, or one of the PyBuda documents.
  const BoundOption* find_key(const std::string& key) const;
  const std::vector<BoundOption>& options() const { return options_; }
  const std::vector<KeyFamily>& families() const { return families_; }

  // Sets the option, or the member of a family, that `key` means. CL002: a key that means nothing, with a spelling hint; CL003: a value
  // that is not allowed. Several values only for an option that may be repeated.
  Result<void> assign(const std::string& key, const std::vector<std::string>& values) const;

  // Whether the values that the variables had when they were declared are ones that could be given: for structs that a program filled in.
  // CL003, one for each that is not.
  Result<void> check_present() const;

 private:
  BoundOption& add(std::string name, OptionType type, std::string value_name, std::vector<std::string> present, std::string summary,
                   std::function<void(const std::vector<std::string>&)> store);
  BoundOption& one_of(std::string name, std::vector<std::string> names, std::int64_t present, std::string summary,
                      std::function<void(std::int64_t)> store);

  std::string group_ = "Options";
  std::vector<BoundOption> options_;
  std::vector<KeyFamily> families_;
};

// The error for a key that means no option of the set.
Diagnostic unknown_key(const OptionSet& set, const std::string& key);

}  // namespace buda::schema

#pragma GCC visibility pop
