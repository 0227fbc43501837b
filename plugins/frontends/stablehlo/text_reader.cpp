// SPDX-License-Identifier: Apache-2.0
// The parser of MLIR text.
//
// Operands have no types in most short forms, and need none: they have those of the values. The types that an operation states for its
// results are kept and compared with what is computed.
#include "text_reader.hpp"

#include "attribute_reader.hpp"
#include "lexer.hpp"
#include "short_forms.hpp"

#include <buda/base/text.hpp>

#include <set>
#include <utility>

namespace buda::stablehlo {
namespace {

constexpr int kMaxNestedRegions = 64;

class TextReader {  // wide because the rules of the grammar share the tokens and the scopes of names
 public:
  TextReader(Module& module, io::Bytes text) : module_(&module), lexer_(text.view()), attributes_(lexer_, module, aliases_), scopes_(1) {
    aliases_.file = std::move(text);
  }

  Result<void> read() {
    while (lexer_.peek().kind != Token::Kind::end) {
      const Token token = lexer_.peek();
      if (token.kind == Token::Kind::metadata) return success();  // read before
      if (token.kind == Token::Kind::attribute || token.kind == Token::Kind::type) {
        BUDA_TRY(alias());
        continue;
      }
      BUDA_ASSIGN(Operation op, operation());
      module_->operations.push_back(std::move(op));
    }
    return success();
  }

 private:
  using Kind = Token::Kind;
  Diagnostic error(std::string_view expected) const { return attributes_.error(expected); }

  Result<void> alias() {
    const Token name = lexer_.next();
    BUDA_TRY(attributes_.expect("="));
    if (name.kind == Kind::type) {
      BUDA_ASSIGN(Type type, attributes_.type());
      aliases_.types[std::string(name.text)] = std::move(type);
    } else {
      BUDA_ASSIGN(Attribute attribute, attributes_.attribute());
      aliases_.attributes[std::string(name.text)] = std::move(attribute);
    }
    return success();
  }

  // ---- values

  using Scope = std::map<std::string, std::vector<ValueId>, std::less<>>;

  std::vector<ValueId> define(std::string_view name, std::size_t count) {
    std::vector<ValueId> ids;
    for (std::size_t i = 0; i < count; ++i) ids.push_back(module_->value_count++);
    scopes_.back()[std::string(name)] = ids;
    return ids;
  }

  Result<ValueId> use() {
    const Token name = lexer_.peek();
    if (name.kind != Kind::value) return error("a value (%name)");
    lexer_.next();
    std::size_t number = 0;
    if (lexer_.peek().kind == Kind::result) {
      auto n = parse_uint(lexer_.next().text);
      number = static_cast<std::size_t>(n.value_or(SIZE_MAX));
    }
    for (std::size_t i = scopes_.size(); i-- > isolated_;)
      if (auto it = scopes_[i].find(name.text); it != scopes_[i].end()) {
        if (number < it->second.size()) return it->second[number];
        break;
      }
    return module_->error("SH004", cat("uses the value %", name.text, number == 0 ? "" : cat('#', number), ", which is not defined before"),
                          name.line);
  }

  // %a, %b, …, possibly none.
  Result<void> uses(std::vector<ValueId>& out) {
    while (lexer_.peek().kind == Kind::value) {
      BUDA_ASSIGN(ValueId id, use());
      out.push_back(id);
      if (!lexer_.take(",")) break;
    }
    return success();
  }

  // ---- regions

  Result<Region> region() {
    if (++depth_ > kMaxNestedRegions) return error("regions that are not nested as deep");
    scopes_.emplace_back();
    Region out;
    auto read = block(out);
    scopes_.pop_back();
    --depth_;
    if (!read) return std::move(read).failure();
    return out;
  }

  Result<void> block(Region& out) {
    BUDA_TRY(attributes_.expect("{"));
    for (auto& [name, type] : pending_arguments_) argument(out, name, std::move(type));
    pending_arguments_.clear();
    if (lexer_.peek().kind == Kind::block) {
      lexer_.next();
      if (lexer_.take("(")) {
        while (!lexer_.take(")")) {
          const Token name = lexer_.next();
          if (name.kind != Kind::value) return error("the name of an argument before this");
          BUDA_TRY(attributes_.expect(":"));
          BUDA_ASSIGN(Type type, attributes_.type());
          BUDA_TRY(attributes_.skip_location());
          argument(out, name.text, std::move(type));
          if (!lexer_.peek().is(")")) BUDA_TRY(attributes_.expect(","));
        }
      }
      BUDA_TRY(attributes_.expect(":"));
    }
    while (!lexer_.take("}")) {
      if (lexer_.peek().kind == Kind::block) return error("the end of the region: branches between blocks are not supported");
      BUDA_ASSIGN(Operation op, operation());
      out.operations.push_back(std::move(op));
    }
    return success();
  }

  void argument(Region& out, std::string_view name, Type type) {
    out.arguments.push_back(define(name, 1)[0]);
    out.argument_names.emplace_back(name);
    out.argument_types.push_back(std::move(type));
  }

  // ---- operations

  struct ResultName {
    std::string_view name;
    std::size_t count = 1;
  };

  Result<std::vector<ResultName>> result_names() {
    std::vector<ResultName> out;
    while (lexer_.peek().kind == Kind::value) {
      ResultName name{lexer_.next().text, 1};
      if (lexer_.take(":")) {
        auto count = parse_uint(lexer_.peek().text);
        constexpr std::uint64_t kMost = 1 << 16;
        if (!count || *count > kMost) return error("a number of results");
        lexer_.next();
        name.count = static_cast<std::size_t>(*count);
      }
      out.push_back(name);
      if (!lexer_.take(",")) break;
    }
    if (!out.empty()) BUDA_TRY(attributes_.expect("="));
    return out;
  }

  Result<Operation> operation() {
    BUDA_ASSIGN(std::vector<ResultName> names, result_names());
    Operation op;
    op.line = lexer_.peek().line;
    std::size_t count = 0;
    for (const auto& name : names) count += name.count;
    const Token name = lexer_.peek();
    if (name.kind != Kind::word && name.kind != Kind::string) return error("an operation");
    lexer_.next();
    op.name = std::string(name.text);
    if (!is_valid_utf8(op.name)) return error("the name of an operation before this");
    result_count_ = count;
    if (name.kind == Kind::string) {
      BUDA_TRY(generic_form(op));
    } else {
      BUDA_TRY(short_form(op));
    }
    BUDA_TRY(attributes_.skip_location());
    if (op.result_types.size() != count)
      return module_->error("SH005", cat("operation ", op.name, " has ", op.result_types.size(), " results, and ", count, " are named"),
                            op.line);
    for (const auto& n : names) {
      auto ids = define(n.name, n.count);
      op.results.insert(op.results.end(), ids.begin(), ids.end());
    }
    if (!names.empty()) op.label = std::string(names[0].name);
    return op;
  }

  // Functions and modules see no values of what is around them.
  Result<Region> isolated_region() {
    const std::size_t before = isolated_;
    isolated_ = scopes_.size();
    auto out = region();
    isolated_ = before;
    return out;
  }

  Result<void> generic_form(Operation& op) {
    BUDA_TRY(attributes_.expect("("));
    BUDA_TRY(uses(op.operands));
    BUDA_TRY(attributes_.expect(")"));
    if (lexer_.peek().is("[")) return error("no successors: branches between blocks are not supported");
    if (lexer_.peek().is("<")) {
      BUDA_ASSIGN(Attribute properties, attributes_.attribute_of_properties());
      if (auto* named = std::get_if<Attributes>(&properties.value)) op.attributes.merge(std::move(*named));
    }
    const bool isolated = op.name == "func.func" || op.name == "builtin.module";
    if (lexer_.take("(")) {
      while (!lexer_.take(")")) {
        BUDA_ASSIGN(Region body, isolated ? isolated_region() : region());
        op.regions.push_back(std::move(body));
        if (!lexer_.peek().is(")")) BUDA_TRY(attributes_.expect(","));
      }
    }
    if (lexer_.peek().is("{")) {
      BUDA_ASSIGN(Attributes more, attributes_.dictionary());
      op.attributes.merge(std::move(more));
    }
    BUDA_TRY(attributes_.expect(":"));
    BUDA_ASSIGN(Type type, attributes_.type());
    op.result_types = std::move(type.results);
    return success();
  }

  Result<void> short_form(Operation& op) {
    if (op.name == "module" || op.name == "builtin.module") return module(op);
    if (op.name == "func.func") return function(op);
    if (op.name == "return" || op.name == "func.return" || op.name == "stablehlo.return") return terminator(op);
    if (op.name == "call") op.name = "func.call";
    const std::size_t results = result_count_;
    if (op.name == "stablehlo.constant" || op.name == "chlo.constant" || op.name == "arith.constant") return constant(op);
    if (op.name == "stablehlo.reduce") return reduce(op, results);
    if (op.name == "stablehlo.while") return loop(op);
    if (op.name.find('.') == std::string::npos) return error(cat("an operation before this, not '", op.name, '\''));
    return general_form(op, results);
  }

  Result<void> module(Operation& op) {
    op.name = "builtin.module";
    if (lexer_.peek().kind == Kind::symbol) op.attributes.set("sym_name", {std::string(lexer_.next().text)});
    if (lexer_.take_word("attributes")) {
      BUDA_ASSIGN(Attributes more, attributes_.dictionary());
      op.attributes.merge(std::move(more));
    }
    BUDA_ASSIGN(Region body, isolated_region());
    op.regions.push_back(std::move(body));
    return success();
  }

  Result<void> function(Operation& op) {
    std::string visibility = "public";
    for (std::string_view word : {"public", "private", "nested"})
      if (lexer_.take_word(word)) visibility = word;
    op.attributes.set("sym_visibility", {visibility});
    const Token name = lexer_.next();
    if (name.kind != Kind::symbol) return error("a function's name before this");
    op.attributes.set("sym_name", {std::string(name.text)});
    Type type;
    Attribute::List argument_attributes, result_attributes;
    BUDA_TRY(function_arguments(type, argument_attributes));
    BUDA_TRY(function_results(type, result_attributes));
    op.attributes.set("function_type", {std::move(type)});
    op.attributes.set("arg_attrs", {std::move(argument_attributes)});
    op.attributes.set("res_attrs", {std::move(result_attributes)});
    if (lexer_.take_word("attributes")) {
      BUDA_ASSIGN(Attributes more, attributes_.dictionary());
      op.attributes.merge(std::move(more));
    }
    if (!lexer_.peek().is("{")) {
      pending_arguments_.clear();
      return success();
    }
    BUDA_ASSIGN(Region body, isolated_region());
    op.regions.push_back(std::move(body));
    return success();
  }

  Result<Attribute> optional_dictionary() {
    if (!lexer_.peek().is("{")) return Attribute{Attributes()};
    BUDA_ASSIGN(Attributes out, attributes_.dictionary());
    return Attribute{std::move(out)};
  }

  Result<void> function_arguments(Type& type, Attribute::List& all) {
    BUDA_TRY(attributes_.expect("("));
    while (!lexer_.take(")")) {
      std::string_view name;
      if (lexer_.peek().kind == Kind::value) {
        name = lexer_.next().text;
        BUDA_TRY(attributes_.expect(":"));
      }
      BUDA_ASSIGN(Type of, attributes_.type());
      BUDA_ASSIGN(Attribute attributes, optional_dictionary());
      BUDA_TRY(attributes_.skip_location());
      all.push_back(std::move(attributes));
      type.inputs.push_back(of);
      pending_arguments_.emplace_back(name, std::move(of));
      if (!lexer_.peek().is(")")) BUDA_TRY(attributes_.expect(","));
    }
    return success();
  }

  Result<void> function_results(Type& type, Attribute::List& all) {
    if (!lexer_.take("->")) return success();
    if (!lexer_.take("(")) {
      BUDA_ASSIGN(Type of, attributes_.type());
      type.results.push_back(std::move(of));
      all.push_back({Attributes()});
      return success();
    }
    while (!lexer_.take(")")) {
      BUDA_ASSIGN(Type of, attributes_.type());
      type.results.push_back(std::move(of));
      BUDA_ASSIGN(Attribute attributes, optional_dictionary());
      all.push_back(std::move(attributes));
      if (!lexer_.peek().is(")")) BUDA_TRY(attributes_.expect(","));
    }
    return success();
  }

  Result<void> terminator(Operation& op) {
    if (op.name == "return") op.name = "func.return";
    if (lexer_.peek().is("{")) {
      BUDA_ASSIGN(op.attributes, attributes_.dictionary());
    }
    BUDA_TRY(uses(op.operands));
    if (op.operands.empty()) return success();
    BUDA_TRY(attributes_.expect(":"));
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      if (i > 0) BUDA_TRY(attributes_.expect(","));
      BUDA_ASSIGN(Type type, attributes_.type());
    }
    return success();
  }

  // constant dense<…> : type, or, where the result has another type, constant() <{value = dense<…>}> : () -> type.
  Result<void> constant(Operation& op) {
    if (lexer_.take("(")) {
      BUDA_TRY(attributes_.expect(")"));
      if (lexer_.peek().is("<")) {
        BUDA_ASSIGN(Attribute properties, attributes_.attribute_of_properties());
        if (const auto* named = properties.as<Attributes>()) op.attributes.merge(*named);
      }
      if (lexer_.peek().is("{")) {
        BUDA_ASSIGN(Attributes more, attributes_.dictionary());
        op.attributes.merge(std::move(more));
      }
      BUDA_TRY(attributes_.expect(":"));
      return types(op, 1);
    }
    if (lexer_.peek().is("{")) {
      BUDA_ASSIGN(op.attributes, attributes_.dictionary());
    }
    const Token first = lexer_.peek();
    BUDA_ASSIGN(Attribute value, attributes_.attribute());
    const auto* dense = value.as<std::shared_ptr<const Dense>>();
    if (dense == nullptr) return module_->error("SH010", cat("operation ", op.name, " has no dense elements"), first.line);
    op.result_types = {(*dense)->type};
    op.attributes.set("value", std::move(value));
    return success();
  }

  // reduce(%a init: %c), (%b init: %d) applies stablehlo.add across dimensions = [0] : types, or with a region behind "reducer".
  Result<void> reduce(Operation& op, std::size_t results) {
    std::vector<ValueId> starts;
    do {
      BUDA_TRY(attributes_.expect("("));
      BUDA_ASSIGN(ValueId operand, use());
      op.operands.push_back(operand);
      if (!lexer_.take_word("init")) return error("'init:'");
      BUDA_TRY(attributes_.expect(":"));
      BUDA_ASSIGN(ValueId start, use());
      starts.push_back(start);
      BUDA_TRY(attributes_.expect(")"));
    } while (lexer_.take(","));
    op.operands.insert(op.operands.end(), starts.begin(), starts.end());
    std::string body;
    if (lexer_.take_word("applies")) body = std::string(lexer_.next().text);
    if (!lexer_.take_word("across") || !lexer_.take_word("dimensions")) return error("'across dimensions'");
    BUDA_TRY(attributes_.expect("="));
    BUDA_ASSIGN(Attribute dimensions, attributes_.attribute());
    op.attributes.set("dimensions", std::move(dimensions));
    if (lexer_.peek().is("{")) {
      BUDA_ASSIGN(Attributes more, attributes_.dictionary());
      op.attributes.merge(std::move(more));
    }
    BUDA_TRY(attributes_.expect(":"));
    BUDA_TRY(types(op, results));
    if (!body.empty()) {
      op.regions.push_back(region_of_one(body, op));
      return success();
    }
    if (!lexer_.take_word("reducer")) return error("'applies' or 'reducer'");
    // (%a: T, %c: T) (%b: T, %d: T): what is so far, and the next element, of each operand.
    std::vector<std::pair<std::string_view, Type>> left, right;
    while (lexer_.take("(")) {
      for (auto* side : {&left, &right}) {
        if (side == &right) BUDA_TRY(attributes_.expect(","));
        const std::string_view name = lexer_.next().text;
        BUDA_TRY(attributes_.expect(":"));
        BUDA_ASSIGN(Type type, attributes_.type());
        BUDA_TRY(attributes_.skip_location());
        side->emplace_back(name, std::move(type));
      }
      BUDA_TRY(attributes_.expect(")"));
    }
    left.insert(left.end(), right.begin(), right.end());
    pending_arguments_ = std::move(left);
    BUDA_ASSIGN(Region made, region());
    op.regions.push_back(std::move(made));
    return success();
  }

  // A region that applies one operation to its two arguments.
  Region region_of_one(const std::string& name, const Operation& op) {
    Region out;
    Type element = op.result_types.empty() ? Type() : op.result_types[0];
    element.dims.clear();
    for (int i = 0; i < 2; ++i) {
      out.arguments.push_back(module_->value_count++);
      out.argument_types.push_back(element);
      out.argument_names.emplace_back(i == 0 ? "lhs" : "rhs");
    }
    Operation apply, end;
    apply.name = name;
    apply.line = end.line = op.line;
    apply.operands = out.arguments;
    apply.results = {module_->value_count++};
    apply.result_types = {element};
    end.name = "stablehlo.return";
    end.operands = apply.results;
    out.operations = {std::move(apply), std::move(end)};
    return out;
  }

  // while(%x = %0, …) : types cond { … } do { … }
  Result<void> loop(Operation& op) {
    std::vector<std::string_view> names;
    BUDA_TRY(attributes_.expect("("));
    while (!lexer_.take(")")) {
      names.push_back(lexer_.next().text);
      BUDA_TRY(attributes_.expect("="));
      BUDA_ASSIGN(ValueId start, use());
      op.operands.push_back(start);
      if (!lexer_.peek().is(")")) BUDA_TRY(attributes_.expect(","));
    }
    if (lexer_.take(":")) {
      do {
        BUDA_ASSIGN(Type type, attributes_.type());
        op.result_types.push_back(std::move(type));
      } while (lexer_.take(","));
    }
    if (op.result_types.size() != names.size()) return error("as many types as values before this");
    if (lexer_.take_word("attributes")) {
      BUDA_ASSIGN(op.attributes, attributes_.dictionary());
    }
    for (std::string_view word : {"cond", "do"}) {
      if (!lexer_.take_word(word)) return error(cat('\'', word, '\''));
      for (std::size_t i = 0; i < names.size(); ++i) pending_arguments_.emplace_back(names[i], op.result_types[i]);
      BUDA_ASSIGN(Region made, region());
      op.regions.push_back(std::move(made));
    }
    return success();
  }

  // The form that most operations have: values, words, named attributes and a dictionary, then types.
  Result<void> general_form(Operation& op, std::size_t results) {
    ShortForm form;
    while (!lexer_.take(":")) {
      const Token token = lexer_.peek();
      if (token.kind == Kind::value) {
        BUDA_ASSIGN(ValueId id, use());
        op.operands.push_back(id);
      } else if (token.kind == Kind::word) {
        lexer_.next();
        if (lexer_.take("=")) {
          BUDA_TRY(named_attribute(form, std::string(token.text)));
        } else {
          form.words.emplace_back(token.text);
        }
      } else if (token.kind == Kind::string || token.kind == Kind::symbol) {
        lexer_.next();
        form.words.push_back(unescaped(token.text));
      } else if (token.is("[")) {
        BUDA_TRY(slices(form));
      } else if (token.is("{")) {
        BUDA_ASSIGN(Attributes more, attributes_.dictionary());
        op.attributes.merge(std::move(more));
      } else if (token.is(",") || token.is("(") || token.is(")")) {
        lexer_.next();
      } else {
        return error("operands, attributes or ':' and types");
      }
    }
    BUDA_TRY(types(op, results));
    name_attributes(op, std::move(form));
    return success();
  }

  Result<void> named_attribute(ShortForm& form, std::string name) {
    BUDA_ASSIGN(Attribute value, attributes_.short_attribute());
    if (lexer_.take_word("x")) {
      BUDA_ASSIGN(Attribute second, attributes_.attribute());
      value = Attribute{Attribute::List{std::move(value), std::move(second)}};
    }
    form.named.set(std::move(name), std::move(value));
    return success();
  }

  // [0:2, 1:6:2], or [0].
  Result<void> slices(ShortForm& form) {
    auto text = lexer_.bracketed();
    if (!text) return error("']'");
    for (std::string_view axis : split(*text, ',')) {
      Dims row{0, 0, 1};
      std::size_t i = 0;
      for (std::string_view part : split(axis, ':')) {
        auto n = parse_int(trim(part));
        if (!n || i >= row.size()) return error("slices such as [0:2, 1:6:2] before this");
        row[i++] = *n;
      }
      form.slices.push_back(std::move(row));
    }
    return success();
  }

  // The types behind the colon: of operands and results, or only of results where these have the types of operands.
  Result<void> types(Operation& op, std::size_t results) {
    const bool list = lexer_.peek().is("(");
    BUDA_ASSIGN(std::vector<Type> found, attributes_.type_or_list());
    while (!list && lexer_.take(",")) {
      BUDA_ASSIGN(Type type, attributes_.type());
      found.push_back(std::move(type));
    }
    if (lexer_.take("->")) {
      BUDA_ASSIGN(op.result_types, attributes_.type_or_list());
      return success();
    }
    if (results == 0) return success();
    if (found.size() == results) {
      op.result_types = std::move(found);
    } else if (!found.empty()) {
      op.result_types.assign(results, found.back());
    }
    return success();
  }

  Module* module_;
  Lexer lexer_;
  Aliases aliases_;
  AttributeReader attributes_;
  std::vector<Scope> scopes_;
  std::size_t isolated_ = 0;                                          // the first scope whose names are seen
  std::vector<std::pair<std::string_view, Type>> pending_arguments_;  // of the next region
  std::size_t result_count_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<Module> read_text(const std::string& path, io::Bytes text) {
  Module module;
  module.path = path;
  module.file = path.substr(path.rfind('/') + 1);
  BUDA_TRY(TextReader(module, std::move(text)).read());
  return module;
}

}  // namespace buda::stablehlo
