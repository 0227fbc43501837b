// SPDX-License-Identifier: Apache-2.0
// Splitting a text into words.
#include "lexer.hpp"

#include <buda/base/text.hpp>

namespace buda::torchscript {
namespace {

bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  Lexer(const Archive& archive, const std::string& member, std::string_view text) : archive_(archive), member_(member), text_(text) {}

  Result<std::vector<Token>> run() {
    while (at_ < text_.size()) {
      if (at_line_start_ && depth_ == 0) {
        BUDA_TRY(indentation());
        if (at_ >= text_.size()) break;
      }
      BUDA_TRY(token());
    }
    if (depth_ != 0) return wrong("ends within brackets");
    if (!tokens_.empty() && tokens_.back().kind != Token::Kind::newline) add(Token::Kind::newline, "");
    for (; indents_.size() > 1; indents_.pop_back()) add(Token::Kind::dedent, "");
    add(Token::Kind::end, "");
    return std::move(tokens_);
  }

 private:
  Diagnostic wrong(std::string_view what) const { return code_error(archive_, member_, line_, what); }
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void add(Token::Kind kind, std::string_view text) { tokens_.push_back({kind, std::string(text), line_}); }

  // Spaces at the beginning of a line; empty lines and those with a comment only do not count.
  Result<void> indentation() {
    std::size_t spaces = 0;
    while (peek(spaces) == ' ') ++spaces;
    const char next = peek(spaces);
    at_ += spaces;
    if (next == '\n' || next == '\r' || next == '#' || at_ >= text_.size()) return success();
    at_line_start_ = false;
    if (spaces > indents_.back()) {
      if (indents_.size() > kDeepest) return wrong("is nested too deeply");
      indents_.push_back(spaces);
      add(Token::Kind::indent, "");
    }
    for (; spaces < indents_.back(); indents_.pop_back()) add(Token::Kind::dedent, "");
    if (spaces != indents_.back()) return wrong("has a line that is indented as none before it");
    return success();
  }

  Result<void> token() {
    const char c = peek();
    if (c == '\n') {
      if (depth_ == 0 && !tokens_.empty() && tokens_.back().kind != Token::Kind::newline && !at_line_start_) add(Token::Kind::newline, "");
      ++line_;
      ++at_;
      at_line_start_ = at_line_start_ || depth_ == 0;
      return success();
    }
    if (c == ' ' || c == '\t' || c == '\r') {
      ++at_;
      return success();
    }
    if (c == '#') {
      while (at_ < text_.size() && peek() != '\n') ++at_;
      return success();
    }
    if (c == '\\' && peek(1) == '\n') {
      at_ += 2;
      ++line_;
      return success();
    }
    if (begins_name(c)) return name();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (c == '"' || c == '\'') return quoted(c);
    return symbol();
  }

  Result<void> name() {
    std::size_t begin = at_;
    while (at_ < text_.size() && (begins_name(peek()) || is_digit(peek()))) ++at_;
    std::string_view name = text_.substr(begin, at_ - begin);
    if (!is_valid_utf8(name)) return wrong("has a name that is not UTF-8");
    add(Token::Kind::name, name);
    return success();
  }

  Result<void> number() {
    std::size_t begin = at_;
    bool real = false;
    for (; at_ < text_.size(); ++at_) {
      char c = peek();
      bool exponent_sign = (c == '-' || c == '+') && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E') && at_ > begin;
      real = real || c == '.' || c == 'e' || c == 'E';
      if (!is_digit(c) && c != '.' && c != 'e' && c != 'E' && !exponent_sign) break;
    }
    if (peek() == 'j') return wrong("has a complex number, which is not supported");
    add(real ? Token::Kind::real : Token::Kind::integer, text_.substr(begin, at_ - begin));
    return success();
  }

  Result<void> quoted(char quote) {
    std::string out;
    for (++at_; peek() != quote; ++at_) {
      if (at_ >= text_.size() || peek() == '\n') return wrong("has a text without an end");
      if (peek() != '\\') {
        out += peek();
        continue;
      }
      ++at_;
      BUDA_TRY(escaped(out));
    }
    ++at_;
    if (!is_valid_utf8(out)) return wrong("has a text that is not UTF-8");
    add(Token::Kind::text, out);
    return success();
  }

  // What follows a backslash; at_ is left on its last character.
  Result<void> escaped(std::string& out) {
    constexpr std::string_view kLetters = "abfnrtv\\'\"", kMeanings = "\a\b\f\n\r\t\v\\'\"";
    const char c = peek();
    if (auto i = kLetters.find(c); i != std::string_view::npos && c != '\0') {
      out += kMeanings[i];
      return success();
    }
    if (c < '0' || c > '7') return wrong("has an unknown character after a backslash");
    unsigned value = 0;
    std::size_t digits = 0;
    for (; digits < 3 && peek(digits) >= '0' && peek(digits) <= '7'; ++digits)
      value = value * 8 + static_cast<unsigned>(peek(digits) - '0');
    at_ += digits - 1;
    out += static_cast<char>(value);
    return success();
  }

  Result<void> symbol() {
    for (std::string_view two : {"->", "==", "!=", "<=", ">=", "**", "//", "<<", ">>"})
      if (text_.substr(at_).starts_with(two)) {
        at_ += 2;
        add(Token::Kind::symbol, two);
        return success();
      }
    const char c = peek();
    constexpr std::string_view kSymbols = "()[]{},:.=+-*/%<>&|^~@";
    if (kSymbols.find(c) == std::string_view::npos) {
      return wrong(cat("has the byte ", hex_text(static_cast<unsigned char>(c)), ", which is not part of a program"));
    }
    if (c == '(' || c == '[' || c == '{') ++depth_;
    if (c == ')' || c == ']' || c == '}') {
      if (depth_ == 0) return wrong("closes a bracket that it did not open");
      --depth_;
    }
    ++at_;
    add(Token::Kind::symbol, std::string_view(&c, 1));
    return success();
  }

  static constexpr std::size_t kDeepest = 100;

  const Archive& archive_;
  const std::string& member_;
  std::string_view text_;
  std::size_t at_ = 0, depth_ = 0;
  std::uint32_t line_ = 1;
  bool at_line_start_ = true;
  std::vector<std::size_t> indents_{0};
  std::vector<Token> tokens_;
};

}  // namespace

Diagnostic code_error(const Archive& archive, const std::string& member, std::uint32_t line, std::string_view message) {
  return archive.error("TS004", cat("its code (", member, ":", line, ") ", message));
}

Result<std::vector<Token>> tokens_of(const Archive& archive, const std::string& member, std::string_view text) {
  return Lexer(archive, member, text).run();
}

}  // namespace buda::torchscript
