// SPDX-License-Identifier: Apache-2.0
// A module of MLIR as both readers (text and bytecode) give it: operations with operands, attributes and regions.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/tensor/dtype.hpp>
#include <buda/tensor/fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace buda::stablehlo {

using Dims = std::vector<std::int64_t>;

// A size that a type leaves open: `?`.
inline constexpr std::int64_t kOpen = -1;

struct QuantizedType;

struct Type {
  enum class Kind : std::uint8_t { tensor, tuple, other };  // other: tokens, functions, numbers
  Kind kind = Kind::other;
  std::string text;            // as the file spells it
  std::optional<DType> dtype;  // of elements, of the parts of complex ones, or of quantised ones' integers; none: not supported
  bool is_complex = false;
  std::shared_ptr<const QuantizedType> quantized;  // what the integers stand for
  Dims dims;
  std::vector<Type> inputs, results;  // of a function; a tuple's elements are its results

  bool has_open_sizes() const;
  // As "f32", "complex<f32>" or "!quant.uniform<…>" says. A type that is not supported leaves no dtype.
  void set_element(std::string_view element);
  // That of a tensor whose sizes are there. Scales for slices that it does not have leave no dtype.
  void set_element(const Type& element);
};

// Elements of a constant: of its type's shape, or a single one (of rank 0) that stands for all.
struct Dense {
  Type type;
  std::shared_ptr<const Tensor> real;
  std::shared_ptr<const Tensor> imaginary;  // of a complex one; null otherwise
};

struct Attribute;

// Attributes by name, in the order of the file.
class Attributes {
 public:
  const Attribute* find(std::string_view name) const;
  void set(std::string name, Attribute value);
  void merge(Attributes others);
  bool empty() const { return names_.empty(); }

 private:
  std::vector<std::string> names_;
  std::vector<Attribute> values_;
};

// A text is a string, a symbol without its @, or the word of an enumeration: "LT" of #stablehlo<comparison_direction LT>.
struct Attribute {
  using List = std::vector<Attribute>;
  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Attributes, Type, std::shared_ptr<const Dense>> value;

  template <class T>
  const T* as() const {
    return std::get_if<T>(&value);
  }
};

using ValueId = std::size_t;  // unique in a module
struct Region;

struct Operation {
  std::string name;   // "stablehlo.add"
  std::string label;  // what nodes are called after: the name of its first result in the file, or its number
  std::uint32_t line = 0;
  std::vector<ValueId> operands, results;
  std::vector<Type> result_types;
  Attributes attributes;
  std::vector<Region> regions;
};

// What a region with one block holds; others are refused.
struct Region {
  std::vector<ValueId> arguments;
  std::vector<Type> argument_types;
  std::vector<std::string> argument_names;
  std::vector<Operation> operations;
};

struct Function {
  std::string name;
  const Operation* operation = nullptr;
  bool is_public = true;
  const Region& body() const { return operation->regions[0]; }
  // An attribute of an argument or a result: "jax.result_info". Empty where there is none.
  std::string argument_text(std::size_t i, std::string_view attribute) const;
  std::string result_text(std::size_t i, std::string_view attribute) const;
};

struct Module {
  std::string path;  // as given, for messages
  std::string file;  // without folders, for provenance
  std::vector<Operation> operations;
  std::size_t value_count = 0;

  // An error of the file as a whole, or of one of its lines.
  Diagnostic error(std::string code, std::string message, std::uint32_t line = 0) const;
};

// The functions of a module by name. Names that occur twice are an error.
Result<std::map<std::string, Function, std::less<>>> functions_of(const Module& module);

// "f32", "i1", "ui8"; nothing for what has no element type here. `is_complex` is set for complex<f32>.
std::optional<DType> element_type(std::string_view text, bool& is_complex);

}  // namespace buda::stablehlo
