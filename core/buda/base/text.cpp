// SPDX-License-Identifier: Apache-2.0
// Locale-free text conversions.
#include <buda/base/text.hpp>

#include <cctype>
#include <charconv>
#include <cmath>

namespace buda {
namespace {

template <class T>
std::string shortest(T value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[64];
  return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

template <class T>
std::optional<T> parse_integer(std::string_view text) {
  bool negative = false;
  int base = 10;
  std::string_view digits = text;
  if (std::is_signed_v<T> && digits.starts_with('-')) {
    negative = true;
    digits.remove_prefix(1);
  }
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    base = 16;
    digits.remove_prefix(2);
  }
  if (digits.empty() || digits.front() == '-' || digits.front() == '+') return std::nullopt;
  // A sign travels with the digits, so that the most negative value parses.
  std::string signed_digits = negative ? cat('-', digits) : std::string(digits);
  T value{};
  const char* end = signed_digits.data() + signed_digits.size();
  auto [stop, error] = std::from_chars(signed_digits.data(), end, value, base);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

}  // namespace

std::string to_text(double value) { return shortest(value); }
std::string to_text(float value) { return shortest(value); }

void append_text(std::string& out, const TextPiece& piece) {
  char buffer[24];
  switch (piece.kind_) {
    case TextPiece::Kind::text:
      out += piece.text_;
      break;
    case TextPiece::Kind::character:
      out += piece.character_;
      break;
    case TextPiece::Kind::boolean:
      out += piece.boolean_ ? "true" : "false";
      break;
    case TextPiece::Kind::f64:
      out += to_text(piece.f64_);
      break;
    case TextPiece::Kind::f32:
      out += to_text(piece.f32_);
      break;
    case TextPiece::Kind::i64:
      out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, piece.i64_).ptr);
      break;
    case TextPiece::Kind::u64:
      out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, piece.u64_).ptr);
  }
}

std::string concatenated(std::initializer_list<TextPiece> pieces) {
  std::string out;
  for (const TextPiece& piece : pieces) append_text(out, piece);
  return out;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    auto at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string to_lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

bool is_valid_utf8(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    auto lead = static_cast<unsigned char>(text[i]);
    int extra = lead < 0x80 ? 0 : lead >= 0xc2 && lead < 0xe0 ? 1 : lead >= 0xe0 && lead < 0xf0 ? 2 : lead >= 0xf0 && lead < 0xf5 ? 3 : -1;
    if (extra < 0 || i + static_cast<std::size_t>(extra) >= text.size()) return false;
    std::uint32_t code = extra == 0 ? lead : lead & (0x3fu >> extra);
    for (int k = 1; k <= extra; ++k) {
      auto next = static_cast<unsigned char>(text[i + static_cast<std::size_t>(k)]);
      if ((next & 0xc0) != 0x80) return false;
      code = code << 6 | (next & 0x3fu);
    }
    bool overlong = (extra == 2 && code < 0x800) || (extra == 3 && code < 0x10000);
    bool surrogate = code >= 0xd800 && code < 0xe000;
    if (overlong || surrogate || code > 0x10ffff) return false;
    i += static_cast<std::size_t>(extra) + 1;
  }
  return true;
}

std::optional<std::int64_t> parse_int(std::string_view text) { return parse_integer<std::int64_t>(text); }
std::optional<std::uint64_t> parse_uint(std::string_view text) { return parse_integer<std::uint64_t>(text); }

std::optional<double> parse_double(std::string_view text) {
  double value{};
  const char* end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::string hex_text(std::uint64_t value) {
  char buffer[20] = "0x";
  return std::string(buffer, std::to_chars(buffer + 2, buffer + sizeof buffer, value, 16).ptr);
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  double value = static_cast<double>(bytes);
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  if (unit == 0) return cat(bytes, " B");
  return cat(std::round(value * 10) / 10, ' ', kUnits[unit]);
}

}  // namespace buda
