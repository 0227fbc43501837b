// SPDX-License-Identifier: Apache-2.0
// Words of a program's text. Indentation becomes tokens of its own, as in Python.
#pragma once

#include "archive.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace buda::torchscript {

struct Token {
  enum class Kind : std::uint8_t { name, text, integer, real, symbol, newline, indent, dedent, end };
  Kind kind = Kind::end;
  std::string text;  // as written; of a text: what it means
  std::uint32_t line = 0;
};

// `member` is the text's place in the archive, for messages.
Result<std::vector<Token>> tokens_of(const Archive& archive, const std::string& member, std::string_view text);

// An error of the code: "code/__torch__.py:12: message".
Diagnostic code_error(const Archive& archive, const std::string& member, std::uint32_t line, std::string_view message);

}  // namespace buda::torchscript
