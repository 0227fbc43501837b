// Text without locale: joining values into messages, numbers in their shortest exact form, parsing that rejects what is left over.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace buda {

// The shortest decimal form that reads back as the same value: 0.1, 1e-05, 3, nan, inf.
std::string to_text(double value);
std::string to_text(float value);

namespace detail {
inline void append(std::string& out, std::string_view v) { out += v; }
inline void append(std::string& out, const char* v) { out += v; }
inline void append(std::string& out, const std::string& v) { out += v; }
inline void append(std::string& out, char v) { out += v; }
inline void append(std::string& out, bool v) { out += v ? "true" : "false"; }
inline void append(std::string& out, double v) { out += to_text(v); }
inline void append(std::string& out, float v) { out += to_text(v); }
template <std::integral T>
void append(std::string& out, T v) {
  char buffer[24];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, v).ptr);
}
}  // namespace detail

// cat("grid ", rows, 'x', cols): everything in one string.
template <class... Args>
std::string cat(const Args&... args) {
  std::string out;
  (detail::append(out, args), ...);
  return out;
}

template <class Range>
std::string join(const Range& range, std::string_view separator) {
  std::string out;
  bool first = true;
  for (const auto& v : range) {
    if (!first) out += separator;
    first = false;
    detail::append(out, v);
  }
  return out;
}

// "[2, 3]"
template <class Range>
std::string list_text(const Range& range) {
  return cat('[', join(range, ", "), ']');
}

std::vector<std::string_view> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);
std::string to_lower(std::string_view text);
bool is_valid_utf8(std::string_view text);

// Decimal integer or floating-point number; the whole text must be consumed. "0x1f" is accepted for integers.
std::optional<std::int64_t> parse_int(std::string_view text);
std::optional<std::uint64_t> parse_uint(std::string_view text);
std::optional<double> parse_double(std::string_view text);

// "0x1f".
std::string hex_text(std::uint64_t value);

// "1.5 KiB", "12 B": for people, not for files.
std::string bytes_text(std::uint64_t bytes);

}  // namespace buda

#pragma GCC visibility pop
