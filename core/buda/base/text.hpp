// SPDX-License-Identifier: Apache-2.0
// Text without locale: joining values into messages, numbers in their shortest exact form, parsing that rejects what is left over.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace buda {

// The shortest decimal form that reads back as the same value: 0.1, 1e-05, 3, nan, inf.
std::string to_text(double value);
std::string to_text(float value);

// A value that becomes text. It refers to a text, which must outlive it. Not a template, so that the thousands of messages that are put
// together from values cost little code.
class TextPiece {
 public:
  TextPiece(std::string_view v) : kind_(Kind::text), text_(v) {}
  TextPiece(const char* v) : kind_(Kind::text), text_(v) {}
  TextPiece(const std::string& v) : kind_(Kind::text), text_(v) {}
  TextPiece(char v) : kind_(Kind::character), character_(v) {}
  TextPiece(bool v) : kind_(Kind::boolean), boolean_(v) {}
  TextPiece(double v) : kind_(Kind::f64), f64_(v) {}
  TextPiece(float v) : kind_(Kind::f32), f32_(v) {}
  template <std::signed_integral T>
  TextPiece(T v) : kind_(Kind::i64), i64_(v) {}
  template <std::unsigned_integral T>
  TextPiece(T v) : kind_(Kind::u64), u64_(v) {}

 private:
  friend void append_text(std::string& out, const TextPiece& piece);

  enum class Kind : std::uint8_t { text, character, boolean, f64, f32, i64, u64 };
  Kind kind_;
  union {
    std::string_view text_;
    char character_;
    bool boolean_;
    double f64_;
    float f32_;
    std::int64_t i64_;
    std::uint64_t u64_;
  };
};

void append_text(std::string& out, const TextPiece& piece);
std::string concatenated(std::initializer_list<TextPiece> pieces);

// cat("grid ", rows, 'x', cols): everything in one string.
template <class... Args>
std::string cat(const Args&... args) {
  return concatenated({TextPiece(args)...});
}

template <class Range>
std::string join(const Range& range, std::string_view separator) {
  std::string out;
  bool first = true;
  for (const auto& v : range) {
    if (!first) out += separator;
    first = false;
    append_text(out, v);
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
