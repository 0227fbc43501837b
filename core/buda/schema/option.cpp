// SPDX-License-Identifier: Apache-2.0
// Checking of option values.
#include <buda/schema/option.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::schema {
namespace {

std::optional<bool> parse_flag(const std::string& text) {
  std::string lower = to_lower(text);
  if (lower == "true" || lower == "1" || lower == "on" || lower == "yes") return true;
  if (lower == "false" || lower == "0" || lower == "off" || lower == "no") return false;
  return std::nullopt;
}

// More digits than any integer here has.
bool is_large_integer(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return text.size() > 18 && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Diagnostic out_of_range(const std::string& text, const std::string& where, std::string_view allowed) {
  return usage_error("CL003", cat(where, ": ", text, " is out of range; allowed: ", allowed));
}

Result<void> check_range(const OptionSpec& spec, double value, const std::string& text, const std::string& where) {
  if ((!spec.least || value >= *spec.least) && (!spec.most || value <= *spec.most)) return success();
  return out_of_range(text, where,
                      spec.least && spec.most ? cat(*spec.least, " to ", *spec.most)
                      : spec.least            ? cat("at least ", *spec.least)
                                              : cat("at most ", *spec.most));
}

}  // namespace

OptionValues::OptionValues() = default;
OptionValues::OptionValues(const OptionValues&) = default;
OptionValues::OptionValues(OptionValues&&) noexcept = default;
OptionValues& OptionValues::operator=(const OptionValues&) = default;
OptionValues& OptionValues::operator=(OptionValues&&) noexcept = default;
OptionValues::~OptionValues() = default;

Result<void> check_option_value(const OptionSpec& spec, const std::string& text, const std::string& where) {
  switch (spec.type) {
    case OptionType::flag:
      if (parse_flag(text)) return success();
      return usage_error("CL003", cat(where, ": expected true or false, found '", text, "'"));
    case OptionType::integer:
      if (auto value = parse_int(text)) return check_range(spec, static_cast<double>(*value), text, where);
      if (is_large_integer(text)) return out_of_range(text, where, "64 bits");
      return usage_error("CL003", cat(where, ": expected an integer, found '", text, "'"));
    case OptionType::real:
      if (auto value = parse_double(text)) return check_range(spec, *value, text, where);
      return usage_error("CL003", cat(where, ": expected a number, found '", text, "'"));
    case OptionType::choice: {
      if (std::find(spec.choices.begin(), spec.choices.end(), text) != spec.choices.end()) return success();
      Diagnostic d = usage_error("CL003", cat(where, ": '", text, "' is illegal; allowed: ", join(spec.choices, ", ")));
      if (auto near = nearest_word(text, spec.choices)) d.hint = cat("did you mean '", *near, "'?");
      return d;
    }
    case OptionType::path:
      if (text.empty()) return usage_error("CL003", cat(where, ": expected a file name, found nothing"));
      return success();
    case OptionType::text:
      break;
  }
  if (!spec.check) return success();
  auto checked = spec.check(text);
  if (checked) return success();
  Failure failure;
  for (Diagnostic d : checked.failure().diagnostics()) {
    d.fault = Fault::usage;
    d.message = cat(where, ": ", d.message);
    failure.add(std::move(d));
  }
  return failure;
}

Failure usage_errors(std::string_view option, Failure failure) {
  for (Diagnostic& d : failure.diagnostics()) {
    d.fault = Fault::usage;
    d.message = cat("option --", option, ": ", d.message);
  }
  return failure;
}

std::vector<std::string> OptionValues::texts(const std::string& name) const {
  auto it = values_.find(name);
  return it == values_.end() ? std::vector<std::string>{} : it->second;
}

std::string OptionValues::text(const std::string& name, const std::string& otherwise) const {
  auto it = values_.find(name);
  return it == values_.end() || it->second.empty() ? otherwise : it->second.back();
}

std::int64_t OptionValues::integer(const std::string& name, std::int64_t otherwise) const {
  return has(name) ? parse_int(text(name)).value_or(otherwise) : otherwise;
}

double OptionValues::real(const std::string& name, double otherwise) const {
  return has(name) ? parse_double(text(name)).value_or(otherwise) : otherwise;
}

bool OptionValues::flag(const std::string& name, bool otherwise) const {
  return has(name) ? parse_flag(text(name)).value_or(otherwise) : otherwise;
}

Result<OptionValues> complete_options(const std::vector<OptionSpec>& specs, const OptionValues& given, const std::string& prefix) {
  Failure failure;
  OptionValues out;
  std::vector<std::string> names;
  for (const auto& spec : specs) {
    names.push_back(spec.name);
    if (!spec.default_text.empty()) out.set(spec.name, spec.default_text);
  }
  for (const auto& [name, texts] : given.all()) {
    auto spec = std::find_if(specs.begin(), specs.end(), [&wanted = name](const OptionSpec& s) { return s.name == wanted; });
    if (spec == specs.end()) {
      Diagnostic d = usage_error("CL002", cat("unknown option '", prefix, name, "'"));
      if (auto near = nearest_word(name, names)) {
        d.hint = cat("did you mean '", prefix, *near, "'?");
      } else if (!names.empty()) {
        d.hint = cat("known: ", join(names, ", "));
      }
      failure.add(std::move(d));
      continue;
    }
    bool first = true;
    for (const auto& text : texts) {
      if (auto checked = check_option_value(*spec, text, cat("option '", prefix, name, "'")); !checked)
        failure.add(std::move(checked).failure());
      if (first)
        out.set(name, text);
      else
        out.append(name, text);
      first = false;
    }
  }
  if (!failure.empty()) return failure;
  return out;
}

}  // namespace buda::schema
