// SPDX-License-Identifier: Apache-2.0
// Tokens, and a parser by recursive descent.
#include <buda/sfpu/syntax.hpp>

#include <buda/base/text.hpp>

#include <bit>
#include <charconv>
#include <cstddef>
#include <utility>

namespace buda::sfpu {
namespace {

constexpr int kDeepest = 64;  // of nested expressions and conditions, so that no input exhausts the stack

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

struct Token {
  enum class Kind : std::uint8_t { name, number, symbol, end };
  Kind kind = Kind::end;
  std::string_view text;
  std::uint32_t line = 0, column = 0;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Token next() {
    skip();
    Token token{Token::Kind::end, {}, line_, static_cast<std::uint32_t>(at_ - line_begin_ + 1)};
    const std::size_t begin = at_;
    if (at_ == text_.size()) return token;
    if (is_letter(text_[at_])) {
      token.kind = Token::Kind::name;
      while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    } else if (is_digit(text_[at_])) {
      token.kind = Token::Kind::number;
      number();
    } else {
      token.kind = Token::Kind::symbol;
      ++at_;
      for (std::string_view two : {"==", "!=", ">=", "&&"})
        if (text_.substr(begin, 2) == two) at_ = begin + 2;
    }
    token.text = text_.substr(begin, at_ - begin);
    return token;
  }

 private:
  void skip() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (c == '\n') {
        ++line_;
        line_begin_ = ++at_;
      } else if (c == ' ' || c == '\t' || c == '\r') {
        ++at_;
      } else {
        return;
      }
    }
  }
  void number() {
    while (at_ < text_.size()) {
      const char c = text_[at_], before = at_ > 0 ? text_[at_ - 1] : ' ';
      const bool exponent_sign = (c == '-' || c == '+') && (before == 'e' || before == 'E') && !hexadecimal();
      if (!is_digit(c) && !is_letter(c) && c != '.' && !exponent_sign) return;
      ++at_;
    }
  }
  // Whether the number that ends here began with 0x: then its last e is a digit.
  bool hexadecimal() const {
    std::size_t begin = at_;
    while (begin > 0 && (is_digit(text_[begin - 1]) || is_letter(text_[begin - 1]))) --begin;
    return text_.substr(begin, 2) == "0x";
  }

  std::string_view text_;
  std::size_t at_ = 0, line_begin_ = 0;
  std::uint32_t line_ = 1;
};

std::optional<Expression> number_of(const Token& token) {
  Expression e;
  e.line = token.line;
  const char* begin = token.text.data();
  const char* end = begin + token.text.size();
  if (token.text.find('.') != std::string_view::npos) {
    float value = 0;
    const auto [rest, error] = std::from_chars(begin, end, value);
    if (error != std::errc() || rest != end) return std::nullopt;
    e.kind = Expression::Kind::real;
    e.bits = std::bit_cast<std::uint32_t>(value);
    return e;
  }
  const bool hexadecimal = token.text.substr(0, 2) == "0x";
  const auto [rest, error] = std::from_chars(begin + (hexadecimal ? 2 : 0), end, e.bits, hexadecimal ? 16 : 10);
  if (error != std::errc() || rest != end) return std::nullopt;
  e.kind = Expression::Kind::integer;
  return e;
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& file) : lexer_(text), file_(file) { advance(); }

  Result<std::vector<Function>> run() {
    std::vector<Function> functions;
    while (token_.kind != Token::Kind::end) {
      if (!takes("function")) return wrong("'function' is expected");
      BUDA_ASSIGN(Function f, function());
      functions.push_back(std::move(f));
    }
    return functions;
  }

 private:
  void advance() { token_ = lexer_.next(); }
  bool is(std::string_view text) const { return token_.kind != Token::Kind::end && token_.text == text; }
  bool takes(std::string_view text) {
    if (!is(text)) return false;
    advance();
    return true;
  }
  Diagnostic wrong(std::string what) const {
    const std::string found = token_.kind == Token::Kind::end ? "the end of the text" : cat('\'', token_.text, '\'');
    return input_error("SF001", {file_, token_.line, token_.column}, cat(what, ", not ", found));
  }
  Result<void> need(std::string_view symbol) {
    if (!takes(symbol)) return wrong(cat('\'', symbol, "' is expected"));
    return success();
  }
  Result<std::string> name() {
    if (token_.kind != Token::Kind::name) return wrong("a name is expected");
    std::string text(token_.text);
    advance();
    return text;
  }

  Result<Function> function() {
    Function f;
    f.file = file_;
    f.line = token_.line;
    BUDA_ASSIGN(f.name, name());
    BUDA_TRY(need("("));
    while (!is(")")) {
      Parameter p;
      BUDA_ASSIGN(p.name, name());
      p.is_constant = p.name == "constant" && token_.kind == Token::Kind::name;
      if (p.is_constant) {
        BUDA_ASSIGN(p.name, name());
      }
      f.parameters.push_back(std::move(p));
      if (!takes(",")) break;
    }
    BUDA_TRY(need(")"));
    BUDA_ASSIGN(f.body, block());
    return f;
  }

  Result<std::vector<Statement>> block() {
    if (++depth_ > kDeepest) return wrong("conditions are nested too deeply; '}' is expected");
    BUDA_TRY(need("{"));
    std::vector<Statement> statements;
    while (!is("}")) {
      BUDA_ASSIGN(Statement s, statement());
      statements.push_back(std::move(s));
    }
    advance();
    --depth_;
    return statements;
  }

  Result<Statement> statement() {
    Statement s;
    s.line = token_.line;
    if (takes("if")) {
      s.kind = Statement::Kind::conditional;
      do {
        BUDA_ASSIGN(Condition c, condition());
        s.conditions.push_back(std::move(c));
      } while (takes("&&"));
      BUDA_ASSIGN(s.then, block());
      if (takes("else")) {
        BUDA_ASSIGN(s.otherwise, block());
      }
      return s;
    }
    if (takes("return")) {
      s.kind = Statement::Kind::give;
    } else {
      BUDA_ASSIGN(s.name, name());
      BUDA_TRY(need("="));
    }
    BUDA_ASSIGN(s.value, expression());
    return s;
  }

  Result<Condition> condition() {
    Condition c;
    BUDA_ASSIGN(c.value, expression());
    constexpr std::pair<std::string_view, Comparison> kAll[] = {
        {"<", Comparison::less}, {"!=", Comparison::not_equal}, {">=", Comparison::not_less}, {"==", Comparison::equal}};
    for (const auto& [symbol, comparison] : kAll) {
      if (!takes(symbol)) continue;
      c.comparison = comparison;
      BUDA_TRY(need("0"));
      return c;
    }
    return wrong("<, >=, == or != is expected");
  }

  static Expression call(std::string name, std::vector<Expression> operands, std::uint32_t line) {
    Expression e;
    e.kind = Expression::Kind::call;
    e.name = std::move(name);
    e.operands = std::move(operands);
    e.line = line;
    return e;
  }

  Result<Expression> chain(const std::vector<std::string_view>& operators, Result<Expression> (Parser::*operand)()) {
    BUDA_ASSIGN(Expression left, (this->*operand)());
    for (;;) {
      std::string_view found;
      for (std::string_view o : operators)
        if (is(o)) found = o;
      if (found.empty()) return left;
      const std::uint32_t line = token_.line;
      if (++links_ > 4096) return wrong("an expression is too long; its end is expected");
      advance();
      BUDA_ASSIGN(Expression right, (this->*operand)());
      std::vector<Expression> both;
      both.push_back(std::move(left));
      both.push_back(std::move(right));
      left = call(std::string(found), std::move(both), line);
    }
  }
  Result<Expression> expression() {
    if (++depth_ > kDeepest) return wrong("expressions are nested too deeply; an end is expected");
    links_ = 0;
    auto result = chain({"+", "-"}, &Parser::term);
    --depth_;
    return result;
  }
  Result<Expression> term() { return chain({"*"}, &Parser::factor); }

  Result<Expression> factor() {
    const Token first = token_;
    if (takes("-")) {
      if (++depth_ > kDeepest) return wrong("expressions are nested too deeply; an end is expected");
      BUDA_ASSIGN(Expression operand, factor());
      --depth_;
      if (operand.kind == Expression::Kind::real) operand.bits ^= 0x80000000u;
      if (operand.kind == Expression::Kind::integer) operand.bits = 0u - operand.bits;
      if (operand.kind != Expression::Kind::name && operand.kind != Expression::Kind::call) return operand;
      std::vector<Expression> one;
      one.push_back(std::move(operand));
      return call("-", std::move(one), first.line);
    }
    if (takes("(")) {
      BUDA_ASSIGN(Expression inner, expression());
      BUDA_TRY(need(")"));
      return inner;
    }
    if (token_.kind == Token::Kind::number) {
      auto value = number_of(token_);
      if (!value) return wrong("a number is expected, as in 1.5, 12 or 0x7f");
      advance();
      return *value;
    }
    Expression e;
    e.line = first.line;
    BUDA_ASSIGN(e.name, name());
    e.kind = Expression::Kind::name;
    if (!takes("(")) return e;
    e.kind = Expression::Kind::call;
    while (!is(")")) {
      BUDA_ASSIGN(Expression operand, expression());
      e.operands.push_back(std::move(operand));
      if (!takes(",")) break;
    }
    BUDA_TRY(need(")"));
    return e;
  }

  Lexer lexer_;
  const std::string& file_;
  Token token_;
  int depth_ = 0, links_ = 0;
};

}  // namespace

Result<std::vector<Function>> parse(std::string_view text, const std::string& file) { return Parser(text, file).run(); }

}  // namespace buda::sfpu
