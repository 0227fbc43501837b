// SPDX-License-Identifier: Apache-2.0
// Tokens, and texts between brackets.
#include "lexer.hpp"

#include <algorithm>
#include <cctype>

namespace buda::stablehlo {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool in_word(char c) { return begins_word(c) || is_digit(c) || c == '$' || c == '.'; }
bool in_name(char c) { return in_word(c) || c == '-'; }

// The place of the quote that ends the string which begins at `quote`; the text's size where there is none. Constants have hundreds of
// megabytes between their quotes, so that these characters are not looked at one by one. MLIR has no strings with line ends, which
// therefore are not counted in them.
std::size_t end_of_string(std::string_view text, std::size_t quote) {
  for (std::size_t end = text.find('"', quote + 1); end != std::string_view::npos; end = text.find('"', end + 1)) {
    std::size_t escapes = 0;
    while (text[end - 1 - escapes] == '\\') ++escapes;
    if (escapes % 2 == 0) return end;
  }
  return text.size();
}

}  // namespace

Token Lexer::next() {
  Token out = token_;
  advance();
  return out;
}

bool Lexer::take(std::string_view punctuation) {
  if (!token_.is(punctuation)) return false;
  advance();
  return true;
}

bool Lexer::take_word(std::string_view word) {
  if (!token_.is_word(word)) return false;
  advance();
  return true;
}

void Lexer::skip_blanks() {
  while (at_ < text_.size()) {
    if (text_[at_] == '\n') {
      ++line_;
      ++at_;
    } else if (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r') {
      ++at_;
    } else if (text_.substr(at_, 2) == "//") {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else {
      return;
    }
  }
}

void Lexer::scan_string() {
  const std::size_t end = end_of_string(text_, begin_);
  if (end >= text_.size()) {
    token_.kind = Token::Kind::unknown;
    at_ = text_.size();
    return;
  }
  at_ = end + 1;
  token_.text = text_.substr(begin_ + 1, end - begin_ - 1);
}

void Lexer::scan_number() {
  auto digits = [&] {
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
  };
  token_.kind = Token::Kind::integer;
  at_ = begin_ + (text_[begin_] == '-' ? 1 : 0);
  if (text_.substr(at_, 2) == "0x" && at_ + 2 < text_.size() && hex_digit(text_[at_ + 2]) >= 0) {
    at_ += 2;
    while (at_ < text_.size() && hex_digit(text_[at_]) >= 0) ++at_;
  } else {
    digits();
    if (at_ < text_.size() && text_[at_] == '.') {
      token_.kind = Token::Kind::real;
      ++at_;
      digits();
      std::size_t exponent = at_ + 1;
      if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
        if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-')) ++exponent;
        if (exponent < text_.size() && is_digit(text_[exponent])) {
          at_ = exponent;
          digits();
        }
      }
    }
  }
  token_.text = text_.substr(begin_, at_ - begin_);
}

void Lexer::advance() {
  using Kind = Token::Kind;
  const std::size_t before = at_;
  skip_blanks();
  begin_ = at_;
  token_ = {};
  token_.line = line_;
  if (at_ >= text_.size()) return;
  const char c = text_[at_], after = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
  auto scan = [&](Kind kind, std::size_t skipped, auto belongs) {
    token_.kind = kind;
    at_ += skipped;
    const std::size_t from = at_;
    while (at_ < text_.size() && belongs(text_[at_])) ++at_;
    token_.text = text_.substr(from, at_ - from);
  };
  if (begins_word(c)) return scan(Kind::word, 0, in_word);
  if (is_digit(c) || (c == '-' && is_digit(after))) return scan_number();
  if (c == '%') return scan(Kind::value, 1, in_name);
  if (c == '^') return scan(Kind::block, 1, in_name);
  if (c == '!') return scan(Kind::type, 1, in_word);
  if (c == '#') return scan(is_digit(after) && before == begin_ ? Kind::result : Kind::attribute, 1, in_name);
  if (c == '"' || (c == '@' && after == '"')) {
    token_.kind = c == '@' ? Kind::symbol : Kind::string;
    if (c == '@') ++begin_;
    return scan_string();
  }
  if (c == '@') return scan(Kind::symbol, 1, in_name);
  if (text_.substr(at_, 3) == "{-#") {
    token_.kind = Kind::metadata;
    at_ += 3;
    return;
  }
  token_.kind = Kind::punctuation;
  const bool pair = (c == '-' && after == '>') || (c == ':' && after == ':');
  token_.text = text_.substr(at_, pair ? 2 : 1);
  at_ += token_.text.size();
}

std::optional<std::string_view> Lexer::closed(bool angles) {
  int depth = 0;
  std::uint32_t line_ends = 0;
  for (std::size_t i = begin_; i < text_.size(); ++i) {
    const char c = text_[i];
    if (c == '"') {
      i = end_of_string(text_, i);
      continue;
    }
    if (c == '\n') ++line_ends;
    if (c == '-' && i + 1 < text_.size() && text_[i + 1] == '>') {
      ++i;
      continue;
    }
    const bool opens = c == '(' || c == '[' || c == '{' || (angles && c == '<');
    const bool closes = c == ')' || c == ']' || c == '}' || (angles && c == '>');
    if (opens) ++depth;
    if (closes && --depth == 0) {
      std::string_view inside = text_.substr(begin_ + 1, i - begin_ - 1);
      line_ = token_.line + line_ends;
      at_ = i + 1;
      advance();
      return inside;
    }
  }
  return std::nullopt;
}

std::optional<std::string_view> Lexer::angled() { return token_.is("<") ? closed(true) : std::nullopt; }

std::optional<std::string_view> Lexer::bracketed() {
  return token_.is("(") || token_.is("[") || token_.is("{") ? closed(false) : std::nullopt;
}

std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 >= text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    const int high = hex_digit(c), low = i + 1 < text.size() ? hex_digit(text[i + 1]) : -1;
    if (c == 'n') {
      out += '\n';
    } else if (c == 't') {
      out += '\t';
    } else if (high >= 0 && low >= 0) {
      out += static_cast<char>(high * 16 + low);
      ++i;
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace buda::stablehlo
