// SPDX-License-Identifier: Apache-2.0
// A parser by recursive descent, of what PyTorch's printer of programs writes: classes with fields and methods, functions, assignments
// (also to several names), branches, loops, and expressions.
#include "parser.hpp"

#include <buda/base/text.hpp>

#include <algorithm>
#include <limits>

namespace buda::torchscript {
namespace {

// Expressions and blocks within each other; a hostile text could exhaust the stack.
constexpr int kDeepestSyntax = 200;
// Of chains a + b + c + … and a.b.c.…, whose trees are as deep as they are long. PyTorch writes brackets around each operation.
constexpr int kMaxLinks = 30;

// From the weakest to the strongest.
const std::vector<std::vector<std::string_view>>& binary_operators() {
  static const auto* table =
      new std::vector<std::vector<std::string_view>>{{"or"},       {"and"},    {"==", "!=", "<", "<=", ">", ">=", "in", "is"},
                                                     {"|"},        {"^"},      {"&"},
                                                     {"<<", ">>"}, {"+", "-"}, {"*", "/", "//", "%", "@"}};
  return *table;
}

Expr node(Expr::Kind kind, std::uint32_t line, std::string text = {}, std::vector<Expr> children = {}) {
  Expr out;
  out.kind = kind;
  out.line = line;
  out.text = std::move(text);
  out.children = std::move(children);
  return out;
}

class Parser {  // wide because it has a function for each rule of the grammar
 public:
  Parser(const Archive& archive, const std::string& member, const std::string& module, const std::vector<Token>& tokens, Program& program)
      : archive_(archive), member_(member), module_(module), tokens_(tokens), program_(program) {}

  Result<void> file() {
    while (peek().kind != Token::Kind::end) {
      if (accept_newline()) continue;
      if (is_word("class")) {
        BUDA_TRY(class_definition());
      } else if (is_word("def")) {
        BUDA_ASSIGN(Function f, function(module_));
        std::string name = f.name;
        program_.functions.insert_or_assign(std::move(name), std::move(f));
      } else {
        BUDA_TRY(statement());  // imports and the like: of no effect here
      }
    }
    return success();
  }

 private:
  // ---- tokens

  const Token& peek(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const Token& next() { return tokens_[std::min(at_++, tokens_.size() - 1)]; }
  std::uint32_t line() const { return peek().line; }
  bool is_symbol(std::string_view s) const { return peek().kind == Token::Kind::symbol && peek().text == s; }
  bool is_word(std::string_view w) const { return peek().kind == Token::Kind::name && peek().text == w; }
  bool accept(std::string_view s) {
    bool there = is_symbol(s) || is_word(s);
    if (there) ++at_;
    return there;
  }
  bool accept_newline() {
    bool there = peek().kind == Token::Kind::newline;
    if (there) ++at_;
    return there;
  }
  Diagnostic wrong(std::string_view what) const { return code_error(archive_, member_, line(), what); }
  Diagnostic unexpected(std::string_view wanted) const {
    std::string found = peek().kind == Token::Kind::end ? "the end"
                        : peek().text.empty()           ? "the end of a line or block"
                                                        : cat('\'', peek().text, '\'');
    return wrong(cat("has ", found, " where ", wanted, " is expected"));
  }
  Result<void> expect(std::string_view s) {
    if (!accept(s)) return unexpected(cat('\'', s, '\''));
    return success();
  }
  Result<std::string> word() {
    if (peek().kind != Token::Kind::name) return unexpected("a name");
    return next().text;
  }

  // Counts how deep rules are within each other.
  struct Depth {
    explicit Depth(int& d) : depth(d) { ++depth; }
    ~Depth() { --depth; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    int& depth;
  };

  // ---- definitions

  Result<void> class_definition() {
    BUDA_TRY(expect("class"));
    BUDA_ASSIGN(std::string name, word());
    Class out;
    out.name = cat(module_, '.', name);
    if (accept("(")) {
      BUDA_ASSIGN(Expr base, expression());
      out.base = base.text;
      BUDA_TRY(expect(")"));
    }
    BUDA_TRY(begin_block());
    while (peek().kind != Token::Kind::dedent && peek().kind != Token::Kind::end) {
      if (accept_newline()) continue;
      BUDA_TRY(member_of(out));
    }
    if (peek().kind == Token::Kind::dedent) ++at_;
    program_.classes.insert_or_assign(out.name, std::move(out));
    return success();
  }

  // A method, a field ("weight : Tensor", "__annotations__["0"] = T"), or a constant field ("eps : Final[float] = 1e-5").
  Result<void> member_of(Class& c) {
    if (is_word("def")) {
      BUDA_ASSIGN(Function f, function(c.name));
      std::string own = f.name.substr(c.name.size() + 1);
      c.methods.insert_or_assign(std::move(own), std::move(f));
      return success();
    }
    if (accept("pass")) return success();
    BUDA_ASSIGN(Expr field, expression());
    bool annotated = accept(":");
    if (annotated) {
      if (auto type = expression(); !type) return std::move(type).failure();
    }
    if (accept("=")) {
      BUDA_ASSIGN(Expr value, expression());
      if (field.kind == Expr::Kind::subscript && field.children[1].kind == Expr::Kind::text) {
        c.fields.push_back(field.children[1].text);
      } else if (field.kind == Expr::Kind::name && !field.text.starts_with("__")) {
        if (annotated) c.fields.push_back(field.text);
        c.constants.insert_or_assign(field.text, std::move(value));
      }
    } else if (annotated && field.kind == Expr::Kind::name) {
      c.fields.push_back(field.text);
    }
    return success();
  }

  Result<Function> function(const std::string& scope) {
    BUDA_TRY(expect("def"));
    BUDA_ASSIGN(std::string name, word());
    Function out;
    out.name = cat(scope, '.', name);
    out.file = member_;
    BUDA_TRY(expect("("));
    while (!accept(")")) {
      Parameter p;
      accept("*");
      BUDA_ASSIGN(p.name, word());
      if (accept(":")) {
        BUDA_ASSIGN(p.type, expression());
      }
      if (accept("=")) {
        BUDA_ASSIGN(p.standard, expression());
      }
      out.parameters.push_back(std::move(p));
      if (!accept(",") && !is_symbol(")")) return unexpected("',' or ')'");
    }
    if (accept("->")) {
      if (auto type = expression(); !type) return std::move(type).failure();
    }
    BUDA_ASSIGN(out.body, block());
    return out;
  }

  Result<void> begin_block() {
    BUDA_TRY(expect(":"));
    if (!accept_newline()) return unexpected("the end of the line");
    if (peek().kind != Token::Kind::indent) return unexpected("an indented block");
    ++at_;
    return success();
  }

  Result<std::vector<Statement>> block() {
    const Depth deeper(depth_);
    if (depth_ > kDeepestSyntax) return wrong("is nested too deeply");
    BUDA_TRY(begin_block());
    std::vector<Statement> out;
    while (peek().kind != Token::Kind::dedent && peek().kind != Token::Kind::end) {
      if (accept_newline()) continue;
      BUDA_ASSIGN(Statement s, statement());
      out.push_back(std::move(s));
    }
    if (peek().kind == Token::Kind::dedent) ++at_;
    return out;
  }

  // ---- statements

  Result<Statement> statement() {
    Statement out;
    out.line = line();
    if (is_word("if")) return branch();
    if (is_word("while") || is_word("for")) return repetition();
    for (const char* unknown :
         {"class", "def", "with", "try", "lambda", "import", "from", "break", "continue", "assert", "del", "raise", "yield"})
      if (is_word(unknown)) return wrong(cat("has '", unknown, "', which is not supported"));
    if (accept("pass")) return out;
    if (accept("return")) {
      out.kind = Statement::Kind::give_back;
      if (peek().kind != Token::Kind::newline) {
        BUDA_ASSIGN(out.value, expression_list());
      }
      return out;
    }
    BUDA_ASSIGN(Expr first, expression_list());
    if (accept(":")) {
      if (auto type = expression(); !type) return std::move(type).failure();
    }
    if (!accept("=")) {
      out.kind = Statement::Kind::expression;
      out.value = std::move(first);
      return out;
    }
    out.kind = Statement::Kind::assign;
    out.target = std::move(first);
    BUDA_ASSIGN(out.value, expression_list());
    if (is_symbol("=")) return unexpected("the end of the assignment");
    if (peek().kind != Token::Kind::newline) return unexpected("the end of the line");
    return out;
  }

  Result<Statement> branch() {
    Statement out;
    out.kind = Statement::Kind::branch;
    out.line = line();
    next();  // if, elif
    BUDA_ASSIGN(out.value, expression());
    BUDA_ASSIGN(out.body, block());
    if (is_word("elif")) {
      const Depth deeper(depth_);
      if (depth_ > kDeepestSyntax) return wrong("is nested too deeply");
      BUDA_ASSIGN(Statement other, branch());
      out.otherwise.push_back(std::move(other));
    } else if (accept("else")) {
      BUDA_ASSIGN(out.otherwise, block());
    }
    return out;
  }

  Result<Statement> repetition() {
    Statement out;
    out.line = line();
    out.kind = Statement::Kind::repeat;
    if (next().text == "for") {
      out.kind = Statement::Kind::loop;
      BUDA_ASSIGN(out.target, postfix());
      BUDA_TRY(expect("in"));
    }
    BUDA_ASSIGN(out.value, expression());
    BUDA_ASSIGN(out.body, block());
    return out;
  }

  // ---- expressions

  // Several, separated by commas, are a tuple.
  Result<Expr> expression_list() {
    const std::uint32_t begin = line();
    BUDA_ASSIGN(Expr first, expression());
    if (!is_symbol(",")) return first;
    std::vector<Expr> items;
    items.push_back(std::move(first));
    while (accept(",")) {
      if (is_symbol("=") || is_symbol(":") || peek().kind == Token::Kind::newline) break;
      BUDA_ASSIGN(Expr item, expression());
      items.push_back(std::move(item));
    }
    return node(Expr::Kind::tuple, begin, {}, std::move(items));
  }

  Result<Expr> expression() {
    const Depth deeper(depth_);
    if (depth_ > kDeepestSyntax) return wrong("is nested too deeply");
    const std::uint32_t begin = line();
    BUDA_ASSIGN(Expr value, binary(0));
    if (!accept("if")) return value;
    BUDA_ASSIGN(Expr condition, binary(0));
    BUDA_TRY(expect("else"));
    BUDA_ASSIGN(Expr otherwise, expression());
    std::vector<Expr> parts;
    parts.push_back(std::move(condition));
    parts.push_back(std::move(value));
    parts.push_back(std::move(otherwise));
    return node(Expr::Kind::conditional, begin, {}, std::move(parts));
  }

  // The operator of this strength that comes next; none: empty. "is not" and "not in" are one.
  std::string accept_operator(std::size_t strength) {
    if (strength == 2 && is_word("not") && peek(1).text == "in") {
      at_ += 2;
      return "not in";
    }
    for (std::string_view op : binary_operators()[strength])
      if (accept(op)) return op == "is" && accept("not") ? "is not" : std::string(op);
    return {};
  }

  Result<Expr> binary(std::size_t strength) {
    if (strength == binary_operators().size()) return unary();
    if (strength == 2 && is_word("not")) return unary();
    const std::uint32_t begin = line();
    BUDA_ASSIGN(Expr left, binary(strength + 1));
    int links = 0;
    for (std::string op = accept_operator(strength); !op.empty(); op = accept_operator(strength)) {
      if (++links > kMaxLinks) return wrong("has an expression that is too long");
      BUDA_ASSIGN(Expr right, binary(strength + 1));
      std::vector<Expr> sides;
      sides.push_back(std::move(left));
      sides.push_back(std::move(right));
      left = node(Expr::Kind::binary, begin, std::move(op), std::move(sides));
    }
    return left;
  }

  Result<Expr> unary() {
    const Depth deeper(depth_);
    if (depth_ > kDeepestSyntax) return wrong("is nested too deeply");
    const std::uint32_t begin = line();
    for (const char* op : {"-", "+", "~", "not"}) {
      if (!accept(op)) continue;
      BUDA_ASSIGN(Expr value, std::string_view(op) == "not" ? binary(2) : unary());
      std::vector<Expr> one;
      one.push_back(std::move(value));
      return node(Expr::Kind::unary, begin, op, std::move(one));
    }
    BUDA_ASSIGN(Expr base, postfix());
    if (!accept("**")) return base;
    BUDA_ASSIGN(Expr exponent, unary());
    std::vector<Expr> sides;
    sides.push_back(std::move(base));
    sides.push_back(std::move(exponent));
    return node(Expr::Kind::binary, begin, "**", std::move(sides));
  }

  // Attributes, calls and subscripts of something. A chain of them makes a tree that is as deep, so that it is limited as well.
  Result<Expr> postfix() {
    BUDA_ASSIGN(Expr value, atom());
    for (int links = 0; links <= kMaxLinks; ++links) {
      const std::uint32_t begin = line();
      std::vector<Expr> parts;
      if (accept(".")) {
        BUDA_ASSIGN(std::string name, word());
        parts.push_back(std::move(value));
        value = node(Expr::Kind::attribute, begin, std::move(name), std::move(parts));
      } else if (accept("(")) {
        parts.push_back(std::move(value));
        BUDA_TRY(arguments(parts));
        value = node(Expr::Kind::call, begin, {}, std::move(parts));
      } else if (accept("[")) {
        parts.push_back(std::move(value));
        BUDA_ASSIGN(Expr index, expression_list());
        BUDA_TRY(expect("]"));
        parts.push_back(std::move(index));
        value = node(Expr::Kind::subscript, begin, {}, std::move(parts));
      } else {
        return value;
      }
    }
    return wrong("is nested too deeply");
  }

  Result<void> arguments(std::vector<Expr>& out) {
    while (!accept(")")) {
      const std::uint32_t begin = line();
      if (peek().kind == Token::Kind::name && peek(1).kind == Token::Kind::symbol && peek(1).text == "=") {
        std::string name = next().text;
        next();
        BUDA_ASSIGN(Expr value, expression());
        std::vector<Expr> one;
        one.push_back(std::move(value));
        out.push_back(node(Expr::Kind::keyword, begin, std::move(name), std::move(one)));
      } else {
        BUDA_ASSIGN(Expr value, expression());
        out.push_back(std::move(value));
      }
      if (!accept(",") && !is_symbol(")")) return unexpected("',' or ')'");
    }
    return success();
  }

  Result<Expr> atom() {
    const Token token = peek();
    switch (token.kind) {
      case Token::Kind::name:
        ++at_;
        if (token.text == "None") return node(Expr::Kind::none, token.line);
        if (token.text == "True" || token.text == "False") {
          Expr out = node(Expr::Kind::boolean, token.line);
          out.integer = token.text == "True" ? 1 : 0;
          return out;
        }
        return node(Expr::Kind::name, token.line, token.text);
      case Token::Kind::text:
        ++at_;
        return node(Expr::Kind::text, token.line, token.text);
      case Token::Kind::integer:
      case Token::Kind::real:
        return number();
      default:
        break;
    }
    if (accept("(")) return bracketed(Expr::Kind::tuple, ")", token.line);
    if (accept("[")) return bracketed(Expr::Kind::list, "]", token.line);
    if (accept("{")) return dictionary(token.line);
    return unexpected("an expression");
  }

  Result<Expr> number() {
    const Token token = next();
    Expr out = node(token.kind == Token::Kind::real ? Expr::Kind::real : Expr::Kind::integer, token.line, token.text);
    if (token.kind == Token::Kind::integer) {
      // The smallest integer is written as the negative of one that does not fit.
      auto value = parse_int(token.text);
      if (!value && token.text != "9223372036854775808") return wrong(cat("has the number ", token.text, ", which is too large"));
      out.integer = value.value_or(std::numeric_limits<std::int64_t>::min());
      return out;
    }
    auto value = parse_double(token.text.ends_with('.') ? cat(token.text, '0') : token.text);
    if (!value) return wrong(cat("has '", token.text, "', which is no number"));
    out.real = *value;
    return out;
  }

  // One expression in round brackets is itself; with a comma, or none, it is a tuple.
  Result<Expr> bracketed(Expr::Kind kind, std::string_view close, std::uint32_t begin) {
    std::vector<Expr> items;
    bool comma = false;
    while (!accept(close)) {
      BUDA_ASSIGN(Expr item, expression());
      items.push_back(std::move(item));
      bool more = accept(",");
      comma = comma || more;
      if (!more && !is_symbol(close)) return unexpected(cat("',' or '", close, '\''));
    }
    if (kind == Expr::Kind::tuple && items.size() == 1 && !comma) return std::move(items[0]);
    return node(kind, begin, {}, std::move(items));
  }

  Result<Expr> dictionary(std::uint32_t begin) {
    std::vector<Expr> items;
    while (!accept("}")) {
      BUDA_ASSIGN(Expr key, expression());
      BUDA_TRY(expect(":"));
      BUDA_ASSIGN(Expr value, expression());
      items.push_back(std::move(key));
      items.push_back(std::move(value));
      if (!accept(",") && !is_symbol("}")) return unexpected("',' or '}'");
    }
    return node(Expr::Kind::dictionary, begin, {}, std::move(items));
  }

  const Archive& archive_;
  const std::string& member_;
  const std::string& module_;
  const std::vector<Token>& tokens_;
  Program& program_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<void> parse_code(const Archive& archive, const std::string& member, const std::string& module, Program& program) {
  BUDA_ASSIGN(auto tokens, tokens_of(archive, member, archive.find(member)->view()));
  return Parser(archive, member, module, tokens, program).file();
}

Result<void> parse_text(std::string_view text, const std::string& module, Program& program) {
  const Archive none;
  const std::string no_member;
  BUDA_ASSIGN(auto tokens, tokens_of(none, no_member, text));
  return Parser(none, no_member, module, tokens, program).file();
}

}  // namespace buda::torchscript
