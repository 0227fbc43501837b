// SPDX-License-Identifier: Apache-2.0
// Types and attributes in MLIR text.
#pragma once

#include "lexer.hpp"
#include "module.hpp"

#include <buda/io/bytes.hpp>

namespace buda::stablehlo {

// Names that the file gives to attributes and types (#map = …, !t = …), and its resources of constants (dense_resource<name>).
struct Aliases {
  io::Bytes file;  // whole: resources stand at its end, and are looked for where the first is used
  std::map<std::string, Attribute, std::less<>> attributes;
  std::map<std::string, Type, std::less<>> types;
  std::optional<std::map<std::string_view, std::string_view>> resources;  // name to bytes in hexadecimal
};

class AttributeReader {
 public:
  AttributeReader(Lexer& lexer, const Module& module, Aliases& aliases) : lexer_(&lexer), module_(&module), aliases_(&aliases) {}

  Result<Type> type();
  // A type, or several in parentheses.
  Result<std::vector<Type>> type_or_list();
  Result<Attribute> attribute();
  // {name = value, …}, where the next token is {.
  Result<Attributes> dictionary();
  // <{name = value, …}>, where the next token is <.
  Result<Attribute> attribute_of_properties();
  // As in short forms, where numbers have no type, and the axes of a convolution stand without a name: [b, f, 0]x[…]->[…].
  Result<Attribute> short_attribute();
  // Behind dense, dense_resource or array: the constant, whose type follows.
  Result<Attribute> constant(std::string_view kind);
  // loc(…), which says nothing here.
  Result<void> skip_location();

  // An error at the next token.
  Diagnostic error(std::string_view expected) const;
  Result<void> expect(std::string_view punctuation);

 private:
  Result<Attribute> list();
  Result<Attribute> number(bool typed);
  Result<Attribute> dialect_attribute();
  Result<Attribute> word();
  Result<Attributes> entries(std::string_view close);
  Result<Type> tensor();
  Result<std::string_view> angled_text();
  // Digits without the 0x; nothing where the file has no such resource.
  std::optional<std::string_view> resource(std::string_view name);

  Lexer* lexer_;
  const Module* module_;
  Aliases* aliases_;
  int depth_ = 0;
};

// The axes of a convolution, "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", as the attributes that the specification names.
Result<Attributes> convolution_axes(std::string_view text);

}  // namespace buda::stablehlo
