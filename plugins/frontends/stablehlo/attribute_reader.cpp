// SPDX-License-Identifier: Apache-2.0
// Types and attributes. What is unknown is kept as text, so that only operators that need it are refused.
#include "attribute_reader.hpp"

#include "dense.hpp"

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::stablehlo {
namespace {

constexpr int kMaxNested = 100;

// Counts how deep a recursive rule is.
class Nesting {
 public:
  explicit Nesting(int& depth) : depth_(&depth) { ++depth; }
  Nesting(const Nesting&) = delete;
  Nesting(Nesting&&) = delete;
  Nesting& operator=(const Nesting&) = delete;
  Nesting& operator=(Nesting&&) = delete;
  ~Nesting() { --*depth_; }
  bool too_deep() const { return *depth_ > kMaxNested; }

 private:
  int* depth_;
};

// "2x?x4x" before an element type. False for a size that is none.
bool read_sizes(std::string_view& text, Dims& out) {
  while (!text.empty() && (text[0] == '?' || (text[0] >= '0' && text[0] <= '9'))) {
    const auto end = text.find('x');
    if (end == std::string_view::npos) return false;
    const std::string_view size = trim(text.substr(0, end));
    if (size == "?") {
      out.push_back(kOpen);
    } else {
      auto n = parse_int(size);
      if (!n || *n < 0) return false;
      out.push_back(*n);
    }
    text = trim(text.substr(end + 1));
  }
  return true;
}

Attribute text_attribute(std::string_view text) { return {std::string(text)}; }

}  // namespace

Diagnostic AttributeReader::error(std::string_view expected) const {
  const Token& token = lexer_->peek();
  const std::string found = token.kind == Token::Kind::end ? "the file ends" : cat("'", lexer_->rest().substr(0, 20), "' stands");
  std::string shown = is_valid_utf8(found) ? found : "other bytes stand";
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return module_->error("SH003", cat("expected ", expected, ", but ", shown, " here"), token.line);
}

Result<void> AttributeReader::expect(std::string_view punctuation) {
  if (lexer_->take(punctuation)) return success();
  return error(cat('\'', punctuation, '\''));
}

Result<std::string_view> AttributeReader::angled_text() {
  auto text = lexer_->angled();
  if (!text) return error("'<' and a '>' that closes it");
  return *text;
}

Result<void> AttributeReader::skip_location() {
  if (!lexer_->take_word("loc")) return success();
  if (!lexer_->bracketed()) return error("a location in parentheses");
  return success();
}

Result<Type> AttributeReader::tensor() {
  BUDA_ASSIGN(std::string_view text, angled_text());
  Type out;
  out.kind = Type::Kind::tensor;
  out.text = cat("tensor<", text, '>');
  std::string_view element = trim(text);
  if (!read_sizes(element, out.dims)) return error("a tensor's sizes and element type");
  int depth = 0;  // an encoding follows a comma that is not inside the element type
  for (std::size_t i = 0; i < element.size(); ++i) {
    if (element[i] == '<') ++depth;
    if (element[i] == '>') --depth;
    if (element[i] == ',' && depth == 0) {
      element = trim(element.substr(0, i));
      break;
    }
  }
  Type of;
  of.set_element(element);
  if (auto alias = element.starts_with('!') ? aliases_->types.find(element.substr(1)) : aliases_->types.end();
      alias != aliases_->types.end() && alias->second.kind == Type::Kind::other)
    of = alias->second;
  out.set_element(of);
  return out;
}

Result<Type> AttributeReader::type() {
  Nesting nesting(depth_);
  if (nesting.too_deep()) return error("types that are not nested as deep");
  const Token token = lexer_->peek();
  if (token.is_word("tensor")) {
    lexer_->next();
    return tensor();
  }
  Type out;
  if (token.is("(")) {
    BUDA_ASSIGN(out.inputs, type_or_list());
    BUDA_TRY(expect("->"));
    BUDA_ASSIGN(out.results, type_or_list());
    out.text = "a function";
    return out;
  }
  if (token.is_word("tuple")) {
    lexer_->next();
    BUDA_TRY(expect("<"));
    out.kind = Type::Kind::tuple;
    out.text = "tuple";
    while (!lexer_->take(">")) {
      BUDA_ASSIGN(Type part, type());
      out.results.push_back(std::move(part));
      if (!lexer_->peek().is(">")) BUDA_TRY(expect(","));
    }
    return out;
  }
  if (token.kind != Token::Kind::word && token.kind != Token::Kind::type) return error("a type");
  lexer_->next();
  if (token.kind == Token::Kind::type) {
    if (auto alias = aliases_->types.find(token.text); alias != aliases_->types.end()) return alias->second;
  }
  out.text = cat(token.kind == Token::Kind::type ? "!" : "", token.text);
  if (lexer_->peek().is("<")) {
    BUDA_ASSIGN(std::string_view parameters, angled_text());
    out.text += cat('<', parameters, '>');
  }
  out.set_element(out.text);
  return out;
}

Result<std::vector<Type>> AttributeReader::type_or_list() {
  std::vector<Type> out;
  if (!lexer_->take("(")) {
    BUDA_ASSIGN(Type one, type());
    out.push_back(std::move(one));
    return out;
  }
  while (!lexer_->take(")")) {
    if (!out.empty()) BUDA_TRY(expect(","));
    BUDA_ASSIGN(Type one, type());
    out.push_back(std::move(one));
  }
  return out;
}

Result<Attributes> AttributeReader::entries(std::string_view close) {
  Attributes out;
  while (!lexer_->take(close)) {
    const Token name = lexer_->next();
    if (name.kind != Token::Kind::word && name.kind != Token::Kind::string) return error(cat("a name or '", close, '\''));
    Attribute value;
    if (lexer_->take("=")) {
      BUDA_ASSIGN(value, attribute());
    }
    out.set(std::string(name.text), std::move(value));
    if (!lexer_->peek().is(close)) BUDA_TRY(expect(","));
  }
  return out;
}

Result<Attributes> AttributeReader::dictionary() {
  Nesting nesting(depth_);
  if (nesting.too_deep()) return error("attributes that are not nested as deep");
  BUDA_TRY(expect("{"));
  return entries("}");
}

Result<Attribute> AttributeReader::list() {
  Attribute::List out;
  BUDA_TRY(expect("["));
  while (!lexer_->take("]")) {
    if (!out.empty()) BUDA_TRY(expect(","));
    BUDA_ASSIGN(Attribute one, attribute());
    out.push_back(std::move(one));
  }
  return Attribute{std::move(out)};
}

Result<Attribute> AttributeReader::number(bool typed) {
  const Token token = lexer_->next();
  Attribute out;
  if (token.kind == Token::Kind::integer) {
    auto value = parse_int(token.text);
    if (!value) {
      auto large = parse_uint(token.text);
      if (!large) return error("an integer of at most 64 bits before this");
      value = static_cast<std::int64_t>(*large);
    }
    out.value = *value;
  } else {
    auto value = parse_double(token.text);
    if (!value) return error("a number before this");
    out.value = *value;
  }
  if (!typed || !lexer_->take(":")) return out;
  BUDA_ASSIGN(Type of, type());
  if (of.dtype && is_float(*of.dtype))
    if (const auto* integer = out.as<std::int64_t>(); integer != nullptr && !token.text.starts_with("0x"))
      out.value = static_cast<double>(*integer);
  return out;
}

std::optional<std::string_view> AttributeReader::resource(std::string_view name) {
  if (!aliases_->resources) {
    auto& all = aliases_->resources.emplace();
    const std::string_view file = aliases_->file.view();
    const auto at = file.find("{-#");  // from the front, since what is behind is long
    Lexer lexer(at == std::string_view::npos ? "" : file.substr(at + 3));
    std::string_view last;
    while (lexer.peek().kind != Token::Kind::end) {
      const Token token = lexer.next();
      if ((token.kind == Token::Kind::word || token.kind == Token::Kind::string) && lexer.peek().is(":")) last = token.text;
      // The first four bytes say how the others are aligned.
      if (token.kind == Token::Kind::string && token.text.starts_with("0x") && token.text.size() >= 10) all[last] = token.text.substr(10);
    }
  }
  const auto found = aliases_->resources->find(name);
  return found == aliases_->resources->end() ? std::nullopt : std::optional(found->second);
}

Result<Attribute> AttributeReader::constant(std::string_view kind) {
  BUDA_ASSIGN(std::string_view text, angled_text());
  if (kind == "array") {
    const auto colon = text.find(':');
    Attribute::List out;
    if (colon != std::string_view::npos) {
      Lexer inside(text.substr(colon + 1));
      AttributeReader reader(inside, *module_, *aliases_);
      while (inside.peek().kind != Token::Kind::end) {
        if (!out.empty() && !inside.take(",")) return error("a list of numbers before this");
        BUDA_ASSIGN(Attribute one, reader.attribute());
        out.push_back(std::move(one));
      }
    }
    return Attribute{std::move(out)};
  }
  BUDA_TRY(expect(":"));
  BUDA_ASSIGN(Type of, type());
  std::optional<std::string_view> digits;
  if (kind == "dense_resource") {
    digits = resource(trim(text));
    if (!digits) return error(cat("a resource '", trim(text), "' of the file before this"));
  }
  auto dense = digits ? dense_of_hex(*digits, of, aliases_->file) : parse_dense(text, of, aliases_->file);
  if (!dense) return module_->error("SH010", dense.failure().diagnostics()[0].message, lexer_->peek().line);
  return Attribute{std::make_shared<const Dense>(std::move(*dense))};
}

// #stablehlo<word enumeration VALUE>, #stablehlo.name<…>, #alias.
Result<Attribute> AttributeReader::dialect_attribute() {
  const Token name = lexer_->next();
  if (!lexer_->peek().is("<")) {
    auto alias = aliases_->attributes.find(name.text);
    return alias == aliases_->attributes.end() ? text_attribute(name.text) : alias->second;
  }
  BUDA_ASSIGN(std::string_view text, angled_text());
  if (name.text.ends_with(".conv")) {
    auto axes = convolution_axes(text);
    if (!axes) return error("the axes of a convolution before this");
    return Attribute{std::move(*axes)};
  }
  Lexer inside(text);
  if (name.text.find('.') == std::string_view::npos) {
    const Token kind = inside.next();
    if (inside.peek().kind == Token::Kind::end) return text_attribute(kind.text);
    if (!inside.peek().is("<")) return text_attribute(inside.next().text);
    auto parameters = inside.angled();
    inside = Lexer(parameters.value_or(""));
    if (kind.is_word("conv")) {
      auto axes = convolution_axes(parameters.value_or(""));
      if (!axes) return error("the axes of a convolution before this");
      return Attribute{std::move(*axes)};
    }
  }
  // Parameters by name; anything else is kept as text.
  AttributeReader reader(inside, *module_, *aliases_);
  Attributes out;
  while (inside.peek().kind == Token::Kind::word) {
    const Token parameter = inside.next();
    if (!inside.take("=")) return text_attribute(text);
    auto value = reader.attribute();
    if (!value) return text_attribute(text);
    out.set(std::string(parameter.text), std::move(*value));
    if (!inside.take(",")) break;
  }
  return inside.peek().kind == Token::Kind::end ? Attribute{std::move(out)} : text_attribute(text);
}

Result<Attribute> AttributeReader::word() {
  const std::string_view word = lexer_->peek().text;
  if (word == "dense" || word == "dense_resource" || word == "array") {
    lexer_->next();
    return constant(word);
  }
  if (word == "true" || word == "false" || word == "unit") {
    lexer_->next();
    return word == "unit" ? Attribute{} : Attribute{word == "true"};
  }
  if (word == "loc") {
    BUDA_TRY(skip_location());
    return Attribute{};
  }
  if (word == "tensor" || word == "tuple") {
    BUDA_ASSIGN(Type of, type());
    return Attribute{std::move(of)};
  }
  lexer_->next();
  if (lexer_->peek().is("<")) {
    BUDA_ASSIGN(std::string_view parameters, angled_text());
    return text_attribute(cat(word, '<', parameters, '>'));
  }
  return text_attribute(word);
}

Result<Attribute> AttributeReader::attribute() {
  Nesting nesting(depth_);
  if (nesting.too_deep()) return error("attributes that are not nested as deep");
  using Kind = Token::Kind;
  const Token token = lexer_->peek();
  switch (token.kind) {
    case Kind::integer:
    case Kind::real:
      return number(true);
    case Kind::word:
      return word();
    case Kind::attribute:
      return dialect_attribute();
    case Kind::string:
      lexer_->next();
      return text_attribute(unescaped(token.text));
    case Kind::symbol: {
      lexer_->next();
      while (lexer_->take("::")) lexer_->next();
      return text_attribute(token.text);
    }
    case Kind::type: {
      BUDA_ASSIGN(Type of, type());
      return Attribute{std::move(of)};
    }
    default:
      break;
  }
  if (token.is("[")) return list();
  if (token.is("{")) {
    BUDA_ASSIGN(Attributes out, dictionary());
    return Attribute{std::move(out)};
  }
  if (token.is("(")) {
    BUDA_ASSIGN(Type of, type());
    return Attribute{std::move(of)};
  }
  if (lexer_->take("<")) {
    BUDA_ASSIGN(Attributes out, entries(">"));
    return Attribute{std::move(out)};
  }
  return error("an attribute");
}

Result<Attribute> AttributeReader::attribute_of_properties() {
  BUDA_TRY(expect("<"));
  BUDA_ASSIGN(Attributes out, dictionary());
  BUDA_TRY(expect(">"));
  return Attribute{std::move(out)};
}

Result<Attribute> AttributeReader::short_attribute() {
  // The colon that follows begins the operation's types.
  if (lexer_->peek().kind == Token::Kind::integer || lexer_->peek().kind == Token::Kind::real) return number(false);
  const std::string_view rest = lexer_->rest();
  const auto end = rest.find(']');
  const bool axes = rest.starts_with('[') && end != std::string_view::npos && rest.substr(end).starts_with("]x[");
  if (!axes) return attribute();
  for (int i = 0; i < 3; ++i) {
    if (i == 1 && !lexer_->take_word("x")) return error("'x'");
    if (i == 2) BUDA_TRY(expect("->"));
    if (!lexer_->bracketed()) return error("a list of axes");
  }
  auto found = convolution_axes(rest.substr(0, rest.size() - lexer_->rest().size()));
  if (!found) return module_->error("SH011", found.failure().diagnostics()[0].message, lexer_->peek().line);
  return Attribute{std::move(*found)};
}

Result<Attributes> convolution_axes(std::string_view text) {
  static constexpr std::string_view kOperands[] = {"input", "kernel", "output"};
  const Diagnostic wrong = input_error("SH011", {}, cat("'", text, "' does not name the axes of a convolution"));
  Attributes out;
  Lexer lexer(text);
  for (std::size_t k = 0; k < 3; ++k) {
    if (k == 1 && !lexer.take_word("x")) return wrong;
    if (k == 2 && !lexer.take("->")) return wrong;
    auto list = lexer.bracketed();
    if (!list) return wrong;
    std::map<std::int64_t, std::int64_t> spatial;
    std::int64_t at = 0;
    for (std::string_view axis : split(*list, ',')) {
      axis = trim(axis);
      const auto number = parse_int(axis);
      if (number) {
        spatial[*number] = at;
      } else if (axis == "b" || axis == "f") {
        out.set(cat(kOperands[k], axis == "b" ? "_batch_dimension" : "_feature_dimension"), {at});
      } else if (axis == "i" || axis == "o") {
        out.set(cat(kOperands[k], axis == "i" ? "_input_feature_dimension" : "_output_feature_dimension"), {at});
      } else {
        return wrong;
      }
      ++at;
    }
    Attribute::List places;
    for (const auto& [number, place] : spatial) {
      if (number != static_cast<std::int64_t>(places.size())) return wrong;
      places.push_back({place});
    }
    out.set(cat(kOperands[k], "_spatial_dimensions"), {std::move(places)});
  }
  return out;
}

}  // namespace buda::stablehlo
