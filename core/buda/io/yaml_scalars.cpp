// SPDX-License-Identifier: Apache-2.0
// Scalars of YAML: how plain ones are typed, and when one has to be quoted.
#include <buda/io/yaml_scalars.hpp>

#include <buda/base/text.hpp>
#include <buda/io/yaml.hpp>

#include <algorithm>

namespace buda::io {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Numbers of up to this many digits fit in 64 bits whatever the digits are.
constexpr std::size_t kDigitsThatFit = 18;

Node::Kind number_kind(std::string_view text) {
  if (text.front() == '+') text.remove_prefix(1);
  if (text.size() <= kDigitsThatFit && !text.empty() && std::all_of(text.begin(), text.end(), is_digit)) return Node::Kind::integer;
  if (parse_int(text) || parse_uint(text)) return Node::Kind::integer;
  bool decimal = text.find_first_not_of("0123456789.eE+-") == std::string_view::npos;
  if (decimal && parse_double(text)) return Node::Kind::real;
  return Node::Kind::string;
}

}  // namespace

Node::Kind plain_kind(std::string_view text) {
  if (text.empty()) return Node::Kind::null;
  char c = text.front();
  if (is_digit(c) || c == '-' || c == '+' || c == '.') return number_kind(text);
  if (c == '~' && text.size() == 1) return Node::Kind::null;
  if ((c == 'n' || c == 'N') && (text == "null" || text == "Null" || text == "NULL")) return Node::Kind::null;
  if ((c == 't' || c == 'T') && (text == "true" || text == "True" || text == "TRUE")) return Node::Kind::boolean;
  if ((c == 'f' || c == 'F') && (text == "false" || text == "False" || text == "FALSE")) return Node::Kind::boolean;
  return Node::Kind::string;
}

std::string canonical_text(Node::Kind kind, std::string_view text) {
  if (kind == Node::Kind::boolean) return to_lower(text);
  if (kind == Node::Kind::null) return "";
  if ((kind == Node::Kind::integer || kind == Node::Kind::real) && text.front() == '+') text.remove_prefix(1);
  return std::string(text);
}

bool is_plain_yaml(std::string_view text) {
  if (text.empty() || plain_kind(text) != Node::Kind::string) return false;
  constexpr std::string_view kIndicators = "-?:,[]{}#&*!|>'\"%@`";
  if (kIndicators.find(text.front()) != std::string_view::npos) return false;
  for (char c : text) {
    bool fine = is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                std::string_view("_-./$+@=()<>*&!~^|;%'").find(c) != std::string_view::npos;
    if (!fine) return false;
  }
  // Words that other YAML readers take for booleans or null.
  for (std::string_view word : {"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
    if (to_lower(text) == word) return false;
  return true;
}

std::string yaml_scalar(std::string_view text) {
  if (is_plain_yaml(text)) return std::string(text);
  std::string out = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      constexpr char kHex[] = "0123456789abcdef";
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace buda::io
