// SPDX-License-Identifier: Apache-2.0
// Readers of single values.
#include <buda/netlist/text/parse_context.hpp>

#include <buda/base/checked.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>

namespace buda::netlist {
namespace {
// YAML ends an implicit key after 1024 characters; quoting turns a control character into four.
constexpr std::size_t kLongestName = 255;
}  // namespace

bool ParseContext::integer(const io::Node& node, std::string_view field, std::int32_t& out, std::int64_t least, std::int64_t most) {
  auto value = node.kind() == io::Node::Kind::integer ? parse_int(node.text()) : std::nullopt;
  if (node.kind() != io::Node::Kind::integer) {
    error("NL003", node, cat("'", field, "' is an integer, not ", node.describe()));
    return false;
  }
  if (!value || *value < least || *value > most) {
    std::string bounds = most == std::numeric_limits<std::int32_t>::max() ? cat("at least ", least) : cat("between ", least, " and ", most);
    error("NL004", node, cat("'", field, "' is ", node.text(), "; it has to be ", bounds));
    return false;
  }
  out = static_cast<std::int32_t>(*value);
  return true;
}

bool ParseContext::dimension(const io::Node& node, std::string_view field, std::int32_t& out) {
  return integer(node, field, out, 1, kMaxDimension);
}

bool ParseContext::pair(const io::Node& node, std::string_view field, std::int32_t& first, std::int32_t& second, std::int64_t least,
                        std::int64_t most) {
  if (!node.is_list() || node.size() != 2) {
    error("NL003", node,
          cat("'", field, "' is a list of two numbers, not ", node.is_list() ? cat("one of ", node.size()) : node.describe()));
    return false;
  }
  bool fine = integer(node.items()[0], field, first, least, most);
  return integer(node.items()[1], field, second, least, most) && fine;
}

bool ParseContext::list(const io::Node& node, std::string_view field) {
  if (node.is_list()) return true;
  error("NL003", node, cat("'", field, "' is a list, not ", node.describe()));
  return false;
}

bool ParseContext::map(const io::Node& node, std::string_view field) {
  if (node.is_map()) return true;
  error("NL003", node, cat("'", field, "' is a map, not ", node.describe()));
  return false;
}

bool ParseContext::integers(const io::Node& node, std::string_view field, std::vector<std::int32_t>& out, std::int64_t least) {
  if (!list(node, field)) return false;
  out.assign(node.size(), 0);
  bool fine = true;
  for (std::size_t i = 0; i < node.size(); ++i) fine = integer(node.items()[i], field, out[i], least) && fine;
  return fine;
}

bool ParseContext::boolean(const io::Node& node, std::string_view field, bool& out) {
  // Words that YAML 1.1 takes for booleans, and so the original.
  static constexpr std::string_view kTrue[] = {"true", "yes", "on", "y"}, kFalse[] = {"false", "no", "off", "n"};
  const std::string word = node.is_scalar() ? to_lower(node.text()) : "";
  const bool is_true = std::find(std::begin(kTrue), std::end(kTrue), word) != std::end(kTrue);
  if (!is_true && std::find(std::begin(kFalse), std::end(kFalse), word) == std::end(kFalse)) {
    error("NL003", node, cat("'", field, "' is true or false, not ", node.describe()));
    return false;
  }
  out = is_true;
  return true;
}

bool ParseContext::real(const io::Node& node, std::string_view field, double& out) {
  const std::string word = node.is_string() ? to_lower(node.text()) : "";
  if (word == ".inf" || word == "+.inf") {
    out = std::numeric_limits<double>::infinity();
  } else if (word == "-.inf") {
    out = -std::numeric_limits<double>::infinity();
  } else if (word == ".nan") {
    out = std::numeric_limits<double>::quiet_NaN();
  } else if (auto value = node.as_double()) {
    out = *value;
  } else {
    error("NL003", node, cat("'", field, "' is a number, not ", node.describe()));
    return false;
  }
  return true;
}

bool ParseContext::name(const io::Node& node, std::string_view field, std::string& out) {
  if (!node.is_scalar() || node.is_null() || node.text().empty()) {
    error("NL003", node, cat("'", field, "' is a name, not ", node.describe()));
    return false;
  }
  check_length(node, node.text());
  out = node.text();
  return true;
}

void ParseContext::check_length(const io::Node& at, const std::string& name) {
  if (name.size() > kLongestName) error("NL004", at, cat("a name of ", name.size(), " bytes; at most ", kLongestName, " are possible"));
}

bool ParseContext::names(const io::Node& node, std::string_view field, std::vector<std::string>& out) {
  if (!list(node, field)) return false;
  out.assign(node.size(), "");
  bool fine = true;
  for (std::size_t i = 0; i < node.size(); ++i) fine = name(node.items()[i], field, out[i]) && fine;
  return fine;
}

bool ParseContext::format(const io::Node& node, std::string_view field, DataFormat& out) {
  std::string text;
  if (!name(node, field, text)) return false;
  auto value = format_from_name(text);
  if (value) {
    out = *value;
    return true;
  }
  std::vector<std::string> known;
  for (DataFormat f : netlist_formats()) known.emplace_back(format_name(f));
  unknown("NL003", node, field, text, known);
  return false;
}

namespace {
constexpr std::size_t kMaxChips = 256;  // a galaxy has 32
}

bool read_devices(ParseContext& ctx, const io::Node& node, std::vector<std::int32_t>& out) {
  if (!node.is_list()) {
    out.assign(1, 0);
    return ctx.integer(node, "target_device", out[0]);
  }
  if (!ctx.integers(node, "target_device", out)) return false;
  if (out.empty() || out.size() > kMaxChips) {
    ctx.error("NL004", node, cat("'target_device' lists ", out.size(), " chips; between 1 and ", kMaxChips, " are possible"));
    out.assign(1, 0);
    return false;
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    auto earlier = out.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(out.begin(), earlier, out[i]) == earlier) continue;
    ctx.error("NL004", node.items()[i], cat("'target_device' names chip ", out[i], " twice"));
    return false;
  }
  return true;
}

void check_unique_keys(ParseContext& ctx, const io::Node& node, std::string_view what) {
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < node.size(); ++i) {
    ctx.check_length(node.items()[i], node.keys()[i]);
    if (!seen.insert(node.keys()[i]).second) ctx.error("NL009", node.items()[i], cat("duplicate ", what, " '", node.keys()[i], "'"));
  }
}

std::optional<InputKey> split_input_key(std::string_view key) {
  constexpr std::string_view kPrefix = "input_";
  if (!key.starts_with(kPrefix)) return std::nullopt;
  key.remove_prefix(kPrefix.size());
  std::size_t digits = 0;
  while (digits < key.size() && key[digits] >= '0' && key[digits] <= '9') ++digits;
  if (digits == 0 || digits > 3 || digits == key.size() || key[digits] != '_') return std::nullopt;
  return InputKey{static_cast<std::size_t>(*parse_int(key.substr(0, digits))), key.substr(digits + 1)};
}

}  // namespace buda::netlist
