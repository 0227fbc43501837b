// SPDX-License-Identifier: Apache-2.0
// What the importer of an operator works with: one operator of the file, its options and inputs, and the graph being built.
//
//   Result<void> import_tanh(NodeImport& n) {
//     n.output_number(n.result().tanh(n.number(0)));
//     return success();
//   }
//
// A quantised tensor can be had in two ways: as it is stored, in integers (`input`), or as the numbers that it stands for (`number`).
#pragma once

#include "model.hpp"
#include "op_table.hpp"

#include <buda/frontend/axes.hpp>
#include <buda/frontend/layouts.hpp>
#include <buda/frontend/op_import.hpp>
#include <buda/frontend/values.hpp>
#include <buda/ops/whole_graph/builder.hpp>

#include <schema_generated.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace buda::tflite_frontend {

using frontend::computed_value;
using frontend::known_value;
using frontend::Layouts;
using frontend::Operand;
using frontend::Role;

// What quantised integers become.
enum class Arithmetic {
  exact,  // integers, with the reference's rounding
  real,   // the numbers that they stand for, without rounding between operators
};

// What the user chooses by the frontend's options.
struct ImportChoices {
  Arithmetic arithmetic = Arithmetic::exact;
  Arithmetic hybrid = Arithmetic::real;  // of products of real numbers with integers
  StateOption states = StateOption::passed;
};

class NodeImport;

// The values of a subgraph while it is imported, by tensor. One that is called twice has a scope for each call.
struct Scope {
  const Subgraph* graph = nullptr;
  std::string prefix;  // of its nodes' names
  std::vector<Operand> values;
  std::map<std::int32_t, graph::ValueRef> numbers;  // of quantised tensors: those that they stand for
  int depth = 0;                                    // of calls
  bool initialises = false;                         // is it run once, before the first run?
};

// A variable that operators name and assign. Its handle is a known number: its place among all.
struct Variable {
  std::string name;
  Operand value;
};

// What imports a subgraph in the place of an operator that calls it.
class Calls {
 public:
  virtual ~Calls() = default;
  // The results; one that could not be imported has failed, and was reported.
  virtual Result<std::vector<Operand>> call(const NodeImport& caller, std::size_t subgraph, const std::vector<Operand>& arguments,
                                            std::string prefix) = 0;
};

// What all operators share.
struct ImportState {
  ImportState(const Model& m, ops::Builder& b, const ImportChoices& chosen, Calls& c)
      : model(&m),
        builder(&b),
        arithmetic(chosen.arithmetic),
        hybrid(chosen.hybrid),
        states(chosen.states),
        calls(&c),
        store(b.graph(), m.file) {}

  const Model* model;
  ops::Builder* builder;
  Arithmetic arithmetic, hybrid;
  StateOption states;
  Calls* calls;
  std::vector<Variable> variables;
  frontend::ValueStore store;
  Layouts layouts;
};

// A table of options without any field, which has all its standard values.
template <class T>
const T& standard_options() {
  struct Empty {
    std::uint16_t vtable_bytes = 4, table_bytes = 4;
    std::int32_t to_vtable = 4;
  };
  static constexpr Empty kEmpty;
  return *reinterpret_cast<const T*>(&kEmpty.to_vtable);
}

class NodeImport : public frontend::OpImport {  // wide because it is all that importers of operators see of one
 public:
  using Ref = graph::ValueRef;
  using Dims = std::vector<std::int64_t>;

  NodeImport(ImportState& state, Scope& scope, const OperatorInfo& op, const OpImporter& importer)
      : state_(&state), scope_(&scope), op_(&op), importer_(&importer) {}

  const OpImporter& importer() const { return *importer_; }
  const Scope& scope() const { return *scope_; }
  ImportState& shared() { return *state_; }
  Layouts& layouts() { return state_->layouts; }

  // The operator's options; those that the file leaves out have their standard values.
  template <class T>
  const T& options() const {
    const auto* given = op_->record->builtin_options_as<T>();
    return given == nullptr ? standard_options<T>() : *given;
  }

  // The bytes that a custom operator has for options.
  std::string_view custom_options() const;

  // Is the result quantised, and to be computed in integers?
  bool is_exact() const { return state_->arithmetic == Arithmetic::exact && has_output(0) && output_info(0).is_quantized(); }

  // ---- inputs, which all exist and were imported; an optional one may not be there

  std::size_t input_count() const { return op_->inputs.size(); }
  bool has_input(std::size_t i) const { return i < input_count() && op_->inputs[i] >= 0; }
  // What the file says of it; nothing of one that is not there.
  const TensorInfo& input_info(std::size_t i) const;
  // The value as it is stored: integers where a tensor is quantised, unless real numbers have taken their place.
  Ref input(std::size_t i);
  // The numbers that it stands for.
  Ref number(std::size_t i);
  // As operators want it that only move elements: as it is stored, but real numbers where these are computed with.
  Ref moved(std::size_t i);
  Operand operand(std::size_t i) const;
  Result<graph::ValueType> type(std::size_t i) const;
  Result<Shape> shape(std::size_t i) const;
  // An input that must be known while importing, because it decides about types. `what` it is, for the message.
  Result<Tensor> known(std::size_t i, std::string_view what) const;
  Result<Dims> known_integers(std::size_t i, std::string_view what) const;
  Result<std::int64_t> known_integer(std::size_t i, std::string_view what) const;
  Result<double> known_number(std::size_t i, std::string_view what) const;
  bool is_known(std::size_t i) const;
  // The shape of result 0, which input i is: if that is not known, the one that the file states for the result, where that is not open.
  Result<Dims> result_shape(std::size_t i) const;
  Result<Shape> shape_of(Ref value) const;
  // Of a value that must be known and is one boolean or number: is it other than 0?
  Result<bool> known_truth(const Operand& value, std::string_view what) const;
  // A value of another element type.
  Ref cast(Ref value, DType to, std::string_view step_name);

  // ---- states, which are inputs that the operator changes

  // The state as it is now, as it is stored or as the numbers that it stands for, in this shape.
  Result<Ref> state(std::size_t i, const Shape& shape, bool as_numbers);
  void keep_state(std::size_t i, Ref value, bool as_numbers);

  // ---- subgraphs

  // `which` counts those that the operator names.
  Result<std::vector<Operand>> call(std::size_t which, const std::vector<Operand>& arguments, std::string_view name);
  // Operands 0 and up are the results.
  void output_all(const std::vector<Operand>& results);

  // ---- results

  ops::Builder& result() override { return named(op_->name); }
  ops::Builder& step(std::string_view suffix) override;
  std::size_t output_count() const { return op_->outputs.size(); }
  bool has_output(std::size_t i) const { return i < output_count(); }
  const TensorInfo& output_info(std::size_t i) const;
  // The result as it is stored.
  void output(Ref value, std::size_t i = 0);
  // The result as the numbers that it stands for: quantised where the file says so.
  void output_number(Ref value, std::size_t i = 0);
  void output_known(Tensor tensor, std::size_t i = 0);
  // The result is the input, unchanged.
  void output_input(std::size_t input);
  // The builder for what an activation follows: it gives the operator's name where there is none.
  ops::Builder& before(tflite_format::Activation activation);
  Result<Ref> activated(Ref value, tflite_format::Activation activation);
  // A result that was computed with channels first, as the file has it.
  Ref channels_last(Ref value) { return layouts().channels_last(step("last"), value); }
  Ref channels_first(Ref value) { return layouts().channels_first(step("first"), value); }

  Diagnostic refuse(std::string reason) const override { return node_error(*state_->model, *op_, "TF040", std::move(reason)); }

 private:
  const TensorInfo& info(std::int32_t tensor) const;
  Ref quantized(Ref value, const TensorInfo& to);
  ops::Builder& named(std::string_view name);

  ImportState* state_;
  Scope* scope_;
  const OperatorInfo* op_;
  const OpImporter* importer_;
};

// The numbers that a stored value stands for, as nodes called after the tensor.
graph::ValueRef dequantized(ops::Builder& builder, graph::ValueRef value, const TensorInfo& info, const std::string& name);
// The opposite: the nearest stored numbers, halves away from zero.
graph::ValueRef requantized(ops::Builder& builder, graph::ValueRef value, const TensorInfo& info, const std::string& name);

}  // namespace buda::tflite_frontend
