// SPDX-License-Identifier: Apache-2.0
// The parser of quantised element types, with the constraints of the specification.
#include "quantized_type.hpp"

#include "lexer.hpp"

#include <buda/base/text.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace buda::stablehlo {
namespace {

using Kind = Token::Kind;

struct Storage {
  std::string_view name;
  DType dtype;
  int bits;
  bool is_signed;
};

constexpr Storage kStorages[] = {{"i2", DType::i8, 2, true},    {"u2", DType::u8, 2, false},    {"i4", DType::i8, 4, true},
                                 {"u4", DType::u8, 4, false},   {"i8", DType::i8, 8, true},     {"u8", DType::u8, 8, false},
                                 {"i16", DType::i16, 16, true}, {"u16", DType::u16, 16, false}, {"i32", DType::i32, 32, true}};

class TypeParser {
 public:
  explicit TypeParser(std::string_view parameters) : lexer_(parameters) {}

  bool read() {
    if (!storage() || !lexer_.take(":")) return false;
    const Token expressed = lexer_.next();
    if (expressed.is_word("f16")) {
      out_.expressed = DType::f16;
    } else if (expressed.is_word("bf16")) {
      out_.expressed = DType::bf16;
    } else if (!expressed.is_word("f32")) {
      return false;
    }
    if (lexer_.take(":")) {
      auto axis = integer();
      if (!axis || *axis < 0) return false;
      out_.per_axis = true;
      out_.steps.axis = *axis;
    }
    if (!lexer_.take(",")) return false;
    if (!out_.per_axis) return step() && lexer_.peek().kind == Kind::end;
    if (!lexer_.take("{")) return false;
    do {
      if (!step()) return false;
    } while (lexer_.take(","));
    return lexer_.take("}") && lexer_.peek().kind == Kind::end;
  }
  QuantizedType take() { return std::move(out_); }

 private:
  std::optional<std::int64_t> integer() {
    const Token token = lexer_.next();
    return token.kind == Kind::integer ? parse_int(token.text) : std::nullopt;
  }

  bool storage() {
    const Token name = lexer_.next();
    const auto* found = std::find_if(std::begin(kStorages), std::end(kStorages), [&](const Storage& s) { return name.is_word(s.name); });
    if (found == std::end(kStorages)) return false;
    out_.stored = found->dtype;
    const double least = found->is_signed ? -std::exp2(found->bits - 1) : 0;
    const double most = std::exp2(found->bits - (found->is_signed ? 1 : 0)) - 1;
    out_.least = least;
    out_.most = most;
    if (lexer_.take("<") && !limits()) return false;
    out_.is_narrow = found->bits < 8 || out_.least != least || out_.most != most;
    return least <= out_.least && out_.least < out_.most && out_.most <= most;
  }

  bool limits() {
    auto first = integer();
    if (!first || !lexer_.take(":")) return false;
    auto last = integer();
    if (!last || !lexer_.take(">")) return false;
    out_.least = static_cast<double>(*first);
    out_.most = static_cast<double>(*last);
    return true;
  }

  bool step() {
    const Token token = lexer_.next();
    auto scale = token.kind == Kind::real || token.kind == Kind::integer ? parse_double(token.text) : std::nullopt;
    if (!scale) return false;
    const auto narrow = static_cast<float>(*scale);
    if (!(narrow > 0) || !std::isfinite(narrow)) return false;
    out_.steps.scales.push_back(narrow);
    std::int64_t zero = 0;
    if (lexer_.take(":")) {
      auto given = integer();
      if (!given) return false;
      zero = *given;
    }
    out_.steps.zero_points.push_back(zero);
    return out_.least <= static_cast<double>(zero) && static_cast<double>(zero) <= out_.most;
  }

  Lexer lexer_;
  QuantizedType out_;
};

}  // namespace

std::optional<QuantizedType> parse_quantized_type(std::string_view text) {
  constexpr std::string_view kBegin = "!quant.uniform<";
  if (!text.starts_with(kBegin) || !text.ends_with('>')) return std::nullopt;
  TypeParser parser(text.substr(kBegin.size(), text.size() - kBegin.size() - 1));
  return parser.read() ? std::optional(parser.take()) : std::nullopt;
}

bool same_steps(const QuantizedType& a, const QuantizedType& b) {
  QuantizedType moved = b;
  moved.steps.axis = a.steps.axis;
  return a == moved;
}

}  // namespace buda::stablehlo
