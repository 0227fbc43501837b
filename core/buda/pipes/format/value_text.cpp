// SPDX-License-Identifier: Apache-2.0
// Reads values.
#include <buda/pipes/format/value_text.hpp>

#include <buda/base/text.hpp>

#include <array>
#include <charconv>
#include <limits>

namespace buda::pipes {
namespace {

template <class T>
bool parse_number(std::string_view text, T& out) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    base = 16;
  }
  T value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return false;
  out = value;
  return true;
}

// Calls item(text) for the elements of "[a, b]"; false when it is not such a list. Elements may be lists themselves.
template <class Item>
bool for_each_item(std::string_view text, Item item) {
  text = trim(text);
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return false;
  text = trim(text.substr(1, text.size() - 2));
  if (text.empty()) return true;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    char c = i == text.size() ? ',' : text[i];
    if (c == '[') ++depth;
    if (c == ']' && --depth < 0) return false;
    if (c != ',' || (depth > 0 && i < text.size())) continue;
    if (!item(trim(text.substr(start, i - start)))) return false;
    start = i + 1;
  }
  return depth == 0;
}

template <class T>
Expectation parse_integer(std::string_view text, T& out) {
  if (parse_number(text, out)) return std::nullopt;
  return cat("an integer from ", std::numeric_limits<T>::min(), " to ", std::numeric_limits<T>::max());
}

template <class T>
bool parse_numbers(std::string_view text, std::vector<T>& out) {
  return for_each_item(text, [&](std::string_view item) {
    T v{};
    if (!parse_number(item, v)) return false;
    out.push_back(v);
    return true;
  });
}

template <class T>
Expectation parse_list(std::string_view text, std::vector<T>& out) {
  if (parse_numbers(text, out)) return std::nullopt;
  return cat("a list [a, b, …] of integers from ", std::numeric_limits<T>::min(), " to ", std::numeric_limits<T>::max());
}

}  // namespace

Expectation parse_value(std::string_view text, std::int32_t& out) { return parse_integer(text, out); }
Expectation parse_value(std::string_view text, std::int64_t& out) { return parse_integer(text, out); }
Expectation parse_value(std::string_view text, Id& out) { return parse_integer(text, out); }

Expectation parse_value(std::string_view text, bool& out) {
  if (text != "0" && text != "1") return "0 or 1";
  out = text == "1";
  return std::nullopt;
}

Expectation parse_value(std::string_view text, std::vector<std::int32_t>& out) { return parse_list(text, out); }
Expectation parse_value(std::string_view text, std::vector<Id>& out) { return parse_list(text, out); }

Expectation parse_value(std::string_view text, std::vector<std::vector<Id>>& out) {
  auto add_group = [&](std::string_view group) { return parse_numbers(group, out.emplace_back()); };
  if (text.starts_with("[[") ? for_each_item(text, add_group) : add_group(text)) return std::nullopt;
  return "a list of ids, or a list of such lists";
}

Expectation parse_value(std::string_view text, std::vector<CoreCoord>& out) {
  auto add_core = [&](std::string_view core) {
    std::array<std::int32_t, 3> v{};
    std::size_t n = 0;
    bool good = for_each_item(core, [&](std::string_view item) { return n < 3 && parse_number(item, v[n++]); });
    if (!good || n != 3) return false;
    out.push_back({v[0], {v[1], v[2]}});
    return true;
  };
  if (text.starts_with("[[") ? for_each_item(text, add_core) : add_core(text)) return std::nullopt;
  return "[chip, row, column], or a list of these";
}

Expectation parse_value(std::string_view text, BufferType& out) {
  const auto type = buffer_type_from_name(text);
  if (!type)
    return "unpacker, packer, intermediate, gradient_op, dram_io, dram_prolog, dram_epilog, relay, ethernet_relay, prolog_relay or unknown";
  out = *type;
  return std::nullopt;
}

Expectation parse_value(std::string_view text, PrefetchType& out) {
  std::int32_t type = 0;
  if (!parse_number(text, type) || type < -1 || type > 1) return "-1, 0 or 1";
  out = static_cast<PrefetchType>(type);
  return std::nullopt;
}

}  // namespace buda::pipes
