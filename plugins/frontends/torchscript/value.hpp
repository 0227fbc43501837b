// SPDX-License-Identifier: Apache-2.0
// The values of a program while it is evaluated: tensors are values of the graph, all else is known.
#pragma once

#include "code.hpp"

#include <buda/frontend/op_import.hpp>
#include <buda/frontend/values.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace buda::torchscript {

using frontend::Operand;
using Ref = graph::ValueRef;

struct TensorCell;
struct Sequence;
struct Mapping;
struct Object;
struct ComplexPair;

struct Failed {};   // could not be computed; the reason has been reported
struct Nothing {};  // None
// What a name of the code means that is no variable: "torch.relu", "__torch__.torch.nn.functional.relu".
struct FullName {
  std::string text;
};

using Cell = std::shared_ptr<TensorCell>;
using SequenceRef = std::shared_ptr<Sequence>;
using MappingRef = std::shared_ptr<Mapping>;
using ComplexRef = std::shared_ptr<ComplexPair>;

// As in Python, tensors, lists, dictionaries and objects are shared by all who refer to them. Element types and layouts are integers, as
// TorchScript has them; devices are texts.
struct Value
    : std::variant<Failed, Nothing, bool, std::int64_t, double, std::string, Cell, SequenceRef, MappingRef, Object*, FullName, ComplexRef> {
  using variant::variant;

  template <class T>
  const T* as() const {
    return std::get_if<T>(static_cast<const variant*>(this));
  }
  template <class T>
  bool is() const {
    return as<T>() != nullptr;
  }
  bool failed() const { return is<Failed>(); }
  bool none() const { return is<Nothing>(); }
  // "a tensor", "the integer 3": for messages.
  std::string describe() const;
};

struct Sequence {
  bool tuple = false;
  std::vector<Value> items;
  const Class* type = nullptr;  // of a tuple with names
};

// In the order in which keys came.
struct Mapping {
  std::vector<std::pair<Value, Value>> items;
  Value* find(const Value& key);
};

// A tensor of complex numbers: two tensors. Not changed in place.
struct ComplexPair {
  Value real, imaginary;
};
Value complex_of(Value real, Value imaginary);

struct Object {
  std::string type;  // its class
  std::string path;  // from the model: "layer1.0.conv1"; empty for the model itself
  std::map<std::string, Value> fields;
};

Value list_of(std::vector<Value> items);
Value tuple_of(std::vector<Value> items);
Value integers_value(const std::vector<std::int64_t>& numbers);
// Are both the same number, text, nothing, or sequence of such? Nothing where that is not known.
std::optional<bool> same(const Value& a, const Value& b);
bool contains_tensor(const Value& value);
bool contains_complex(const Value& value);
bool contains_failure(const Value& value);

// ---- tensors

// How a part of a tensor (or the whole of it under another shape) is taken from it, and put back when it was changed in place.
struct View {
  std::function<Ref(frontend::OpImport& op, Ref whole)> take;
  std::function<Ref(frontend::OpImport& op, Ref whole, Ref part)> put;  // empty: cannot be
};

// A tensor of the program. What changes one in place changes all that look at the same elements: a view computes itself anew when that
// happened since it was last looked at, and writes through to what it is a view of.
struct TensorCell {
  Operand value;
  Cell base;
  View view;
  std::uint64_t version = 0;  // of a tensor that is no view: how often it was changed; of a view: when it was computed
  std::string state;          // a parameter or buffer of the model: its name
  bool number = false;        // was a number of the program, and counts as one where element types are derived

  TensorCell& root();
};

Cell new_cell(Operand value);

}  // namespace buda::torchscript
