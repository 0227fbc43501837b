// SPDX-License-Identifier: Apache-2.0
// Programs of TorchScript, which archives hold as text in a part of Python, as trees.
#pragma once

#include "archive.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace buda::torchscript {

struct Expr {
  enum class Kind : std::uint8_t {
    name,  // text
    text,  // text
    integer,
    real,
    none,
    boolean,      // integer
    list,         // children
    tuple,        // children
    dictionary,   // children: key, value, key, value, …
    call,         // children: what is called, then arguments, of which some are keywords
    keyword,      // text = children[0]
    attribute,    // children[0].text
    subscript,    // children[0][children[1]]
    unary,        // text: - + ~ not
    binary,       // text: the operator
    conditional,  // children[1] if children[0] else children[2]
  };
  Kind kind = Kind::none;
  std::string text;
  std::int64_t integer = 0;
  double real = 0;
  std::vector<Expr> children;
  std::uint32_t line = 0;
};

struct Statement {
  enum class Kind : std::uint8_t { assign, expression, branch, repeat, loop, give_back, pass };
  Kind kind = Kind::pass;
  Expr target;  // of an assignment; the variable of a loop
  Expr value;   // assigned, evaluated, the condition of a branch or repetition, what a loop goes through, given back
  std::vector<Statement> body, otherwise;
  std::uint32_t line = 0;
};

struct Parameter {
  std::string name;
  Expr type;
  std::optional<Expr> standard;
};

struct Function {
  std::string name;  // with that of its class and its file's: "__torch__.Net.forward"
  std::string file;  // the member of the archive
  std::vector<Parameter> parameters;
  std::vector<Statement> body;
};

struct Class {
  std::string name, base;
  std::vector<std::string> fields;          // in their order
  std::map<std::string, Expr> constants;    // of fields that have a value in the code
  std::map<std::string, Function> methods;  // by their own names
};

// All code of an archive, by full names.
struct Program {
  std::map<std::string, Class> classes;
  std::map<std::string, Function> functions;
};

// Reads all members code/….py. Faults are reported with member and line.
Result<Program> read_program(const Archive& archive);

// "Optional[Tensor]": for messages.
std::string text_of(const Expr& expr);

}  // namespace buda::torchscript
