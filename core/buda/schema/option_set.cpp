// SPDX-License-Identifier: Apache-2.0
// Declaration and assignment of options.
#include <buda/schema/option_set.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/schema/absent_option.hpp>

#include <algorithm>

namespace buda::schema {

namespace {

// No text at all stands for an empty one.
std::vector<std::string> one_text(std::string text) {
  return text.empty() ? std::vector<std::string>{} : std::vector<std::string>{std::move(text)};
}

std::string flag_text(bool value) { return value ? "true" : "false"; }

}  // namespace

BoundOption& OptionSet::add(std::string name, OptionType type, std::string value_name, std::vector<std::string> present,
                            std::string summary, std::function<void(const std::vector<std::string>&)> store) {
  BoundOption option;
  option.spec.name = std::move(name);
  option.spec.type = type;
  option.spec.value_name = std::move(value_name);
  option.spec.default_text = type == OptionType::flag && present == std::vector<std::string>{"false"} ? "" : join(present, "; ");
  option.present = std::move(present);
  option.spec.summary = std::move(summary);
  option.store = std::move(store);
  option.group = group_;
  return options_.emplace_back(std::move(option));
}

BoundOption& OptionSet::flag(std::string name, bool& target, std::string summary) {
  return add(std::move(name), OptionType::flag, "", {flag_text(target)}, std::move(summary), [&target](const auto& texts) {
    OptionValues values;
    values.set("v", texts.back());
    target = values.flag("v");
  });
}

BoundOption& OptionSet::flag(std::string name, std::optional<bool>& target, std::string summary) {
  return add(std::move(name), OptionType::flag, "", one_text(target ? flag_text(*target) : ""), std::move(summary),
             [&target](const auto& texts) {
               OptionValues values;
               values.set("v", texts.back());
               target = values.flag("v");
             });
}

BoundOption& OptionSet::count(std::string name, unsigned& target, std::string summary) {
  auto& option = add(std::move(name), OptionType::flag, "", {}, std::move(summary), [&target](const auto& texts) {
    OptionValues values;
    target = 0;
    for (const auto& text : texts) {
      values.set("v", text);
      target += values.flag("v") ? 1 : 0;
    }
  });
  option.spec.repeatable = true;
  return option;
}

BoundOption& OptionSet::integer(std::string name, std::int64_t& target, std::string value_name, std::string summary) {
  return add(std::move(name), OptionType::integer, std::move(value_name), {cat(target)}, std::move(summary),
             [&target](const auto& texts) { target = parse_int(texts.back()).value_or(target); });
}

BoundOption& OptionSet::unsigned_integer(std::string name, unsigned& target, std::string value_name, std::string summary) {
  return add(std::move(name), OptionType::integer, std::move(value_name), {cat(target)}, std::move(summary),
             [&target](const auto& texts) { target = static_cast<unsigned>(parse_int(texts.back()).value_or(target)); })
      .range(0, 1 << 20);
}

BoundOption& OptionSet::seed(std::string name, std::uint64_t& target, std::string value_name, std::string summary) {
  return add(std::move(name), OptionType::integer, std::move(value_name), {cat(target)}, std::move(summary),
             [&target](const auto& texts) { target = static_cast<std::uint64_t>(parse_int(texts.back()).value_or(1)); })
      .at_least(0);
}

BoundOption& OptionSet::real(std::string name, double& target, std::string value_name, std::string summary) {
  return add(std::move(name), OptionType::real, std::move(value_name), {to_text(target)}, std::move(summary),
             [&target](const auto& texts) { target = parse_double(texts.back()).value_or(target); });
}

BoundOption& OptionSet::real(std::string name, std::optional<double>& target, std::string value_name, std::string summary) {
  return add(std::move(name), OptionType::real, std::move(value_name), one_text(target ? to_text(*target) : ""), std::move(summary),
             [&target](const auto& texts) { target = parse_double(texts.back()); });
}

BoundOption& OptionSet::text(std::string name, std::string& target, std::string value_name, std::string summary) {
  return add(std::move(name), OptionType::text, std::move(value_name), one_text(target), std::move(summary),
             [&target](const auto& texts) { target = texts.back(); });
}

BoundOption& OptionSet::path(std::string name, std::string& target, std::string value_name, std::string summary) {
  return add(std::move(name), OptionType::path, std::move(value_name), one_text(target), std::move(summary),
             [&target](const auto& texts) { target = texts.back(); });
}

BoundOption& OptionSet::texts(std::string name, std::vector<std::string>& target, std::string value_name, std::string summary) {
  auto& option = add(std::move(name), OptionType::text, std::move(value_name), target, std::move(summary),
                     [&target](const auto& texts) { target = texts; });
  option.spec.repeatable = true;
  return option;
}

BoundOption& OptionSet::choice(std::string name, std::string& target, std::vector<std::string> choices, std::string summary) {
  auto& option = add(std::move(name), OptionType::choice, join(choices, "|"), one_text(target), std::move(summary),
                     [&target](const auto& texts) { target = texts.back(); });
  option.spec.choices = std::move(choices);
  return option;
}

BoundOption& OptionSet::one_of(std::string name, std::vector<std::string> names, std::int64_t present, std::string summary,
                               std::function<void(std::int64_t)> store) {
  const bool is_named = present >= 0 && present < static_cast<std::int64_t>(names.size());
  std::string text = is_named ? names[static_cast<std::size_t>(present)] : cat("number ", present);
  auto& option = add(
      std::move(name), OptionType::choice, join(names, "|"), {std::move(text)}, std::move(summary),
      [names, store = std::move(store)](const auto& texts) { store(std::find(names.begin(), names.end(), texts.back()) - names.begin()); });
  option.spec.choices = std::move(names);
  return option;
}

BoundOption& OptionSet::parsed(std::string name, std::string present, std::string value_name, std::string summary,
                               std::function<Result<void>(const std::string&)> check, std::function<void(const std::string&)> store) {
  auto& option = add(std::move(name), OptionType::text, std::move(value_name), one_text(std::move(present)), std::move(summary),
                     [store = std::move(store)](const auto& texts) { store(texts.back()); });
  option.spec.check = std::move(check);
  return option;
}

void OptionSet::declare(OptionSpec spec, std::function<void(const std::vector<std::string>&)> store) {
  options_.push_back({std::move(spec), std::move(store), group_});
}

void OptionSet::family(std::string prefix, std::string form, std::map<std::string, std::string>& target, std::string summary) {
  families_.push_back({std::move(prefix), std::move(form), std::move(summary), &target});
}

const BoundOption* OptionSet::find(const std::string& name) const {
  for (const BoundOption& option : options_)
    if (option.spec.name == name) return &option;
  return nullptr;
}

const BoundOption* OptionSet::find_key(const std::string& key) const {
  std::string dashed = key;
  std::replace(dashed.begin(), dashed.end(), '_', '-');
  for (const std::string& spelling : {key, dashed}) {
    if (const BoundOption* option = find(spelling)) return option;
    for (const BoundOption& option : options_)
      if (std::find(option.spec.known_as.begin(), option.spec.known_as.end(), spelling) != option.spec.known_as.end()) return &option;
  }
  return nullptr;
}

Result<void> OptionSet::assign(const std::string& key, const std::vector<std::string>& values) const {
  for (const KeyFamily& family : families_) {
    if (!key.starts_with(family.prefix)) continue;
    if (values.size() != 1) return usage_error("CL003", cat("option '", key, "': expected one value, found ", values.size()));
    (*family.target)[key.substr(family.prefix.size())] = values.front();
    return success();
  }
  const BoundOption* option = find_key(key);
  if (option == nullptr) return unknown_key(*this, key);
  if (values.empty() || (values.size() > 1 && !option->spec.repeatable))
    return usage_error("CL003", cat("option '", key, "': expected ", option->spec.repeatable ? "at least one value" : "one value",
                                    ", found ", values.size()));
  Failure failure;
  for (const std::string& value : values)
    if (auto checked = check_option_value(option->spec, value, cat("option '", key, '\'')); !checked)
      failure.add(std::move(checked).failure());
  if (!failure.empty()) return failure;
  option->store(values);
  return success();
}

Result<void> OptionSet::check_present() const {
  Failure failure;
  for (const BoundOption& option : options_)
    for (const std::string& text : option.present)
      if (auto checked = check_option_value(option.spec, text, cat("option --", option.spec.name)); !checked)
        failure.add(std::move(checked).failure());
  if (!failure.empty()) return failure;
  return success();
}

Diagnostic unknown_key(const OptionSet& set, const std::string& key) {
  if (auto absent = absent_option(key)) return usage_error("CL002", std::move(*absent));
  std::vector<std::string> names;
  for (const BoundOption& option : set.options()) {
    names.push_back(option.spec.name);
    names.insert(names.end(), option.spec.known_as.begin(), option.spec.known_as.end());
  }
  for (const KeyFamily& family : set.families()) names.push_back(family.form);
  Diagnostic d = usage_error("CL002", cat("unknown option '", key, '\''));
  if (auto near = nearest_word(key, names)) d.hint = cat("did you mean '", *near, "'?");
  return d;
}

}  // namespace buda::schema
