// SPDX-License-Identifier: Apache-2.0
// The text of functions for the vector unit (.sfpu), parsed.
//
//   # comment
//   function name(x, constant slope) {
//     y = x * slope + 1.0
//     if x < 0 && exponent(x) != 255 { y = 0.0 } else { y = larger(x, y) }
//     return y
//   }
//
// Numbers with a point are floats, others integers (also 0x…). Conditions compare a word, as an integer, with 0. docs/formats/sfpu.md has
// the whole language.
#pragma once

#include <buda/diag/result.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace buda::sfpu {

struct Expression {
  enum class Kind : std::uint8_t { real, integer, name, call };  // operators are calls of "+", "-", "*" and, with one operand, "-"
  Kind kind = Kind::integer;
  std::uint32_t bits = 0;  // of a number
  std::string name;
  std::vector<Expression> operands;
  std::uint32_t line = 0;
};

enum class Comparison : std::uint8_t { less, not_equal, not_less, equal };

struct Condition {
  Expression value;
  Comparison comparison = Comparison::less;
};

struct Statement {
  enum class Kind : std::uint8_t { assign, conditional, give };
  Kind kind = Kind::assign;
  std::string name;
  Expression value;
  std::vector<Condition> conditions;  // all of them
  std::vector<Statement> then, otherwise;
  std::uint32_t line = 0;
};

struct Parameter {
  std::string name;
  bool is_constant = false;
};

struct Function {
  std::string file, name;
  std::vector<Parameter> parameters;
  std::vector<Statement> body;
  std::uint32_t line = 0;
};

// SF001 where it is not written right.
Result<std::vector<Function>> parse(std::string_view text, const std::string& file);

}  // namespace buda::sfpu
