// SPDX-License-Identifier: Apache-2.0
// The tokens of MLIR text.
#pragma once

#include <buda/diag/result.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace buda::stablehlo {

struct Token {
  enum class Kind : std::uint8_t {
    end,
    word,         // stablehlo.add, tensor, dense, true
    value,        // %0, %arg0: `text` without the %
    result,       // #1 directly behind a value
    symbol,       // @main, @"a b": `text` without the @
    block,        // ^bb0
    attribute,    // #map, #stablehlo.scatter
    type,         // !alias, !stablehlo.token
    integer,      // 12, -3, 0x1F
    real,         // 1.5, -2.0e-5
    string,       // "…": `text` with escapes
    punctuation,  // one character, or -> or ::
    metadata,     // {-#
    unknown,
  };
  Kind kind = Kind::end;
  std::string_view text;
  std::uint32_t line = 1;

  bool is(std::string_view punctuation) const { return kind == Kind::punctuation && text == punctuation; }
  bool is_word(std::string_view word) const { return kind == Kind::word && text == word; }
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { advance(); }

  const Token& peek() const { return token_; }
  Token next();
  // If the next token is this punctuation, takes it.
  bool take(std::string_view punctuation);
  bool take_word(std::string_view word);
  // For a `<` as next token: the text up to the `>` that closes it, which is taken too. Nothing when there is none.
  std::optional<std::string_view> angled();
  // The same for (, [ or {.
  std::optional<std::string_view> bracketed();
  // All text from the next token on.
  std::string_view rest() const { return text_.substr(begin_); }

 private:
  void advance();
  void skip_blanks();
  void scan_string();
  void scan_number();
  std::optional<std::string_view> closed(bool angles);

  std::string_view text_;
  std::size_t begin_ = 0, at_ = 0;  // of the next token; behind it
  std::uint32_t line_ = 1;
  Token token_;
};

// The value of a hexadecimal digit; -1 of other characters.
constexpr int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// A string token's text without escapes.
std::string unescaped(std::string_view text);

}  // namespace buda::stablehlo
