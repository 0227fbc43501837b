// SPDX-License-Identifier: Apache-2.0
// What the importer of an operator works with: one node of the file, its attributes and inputs, and the graph being built.
//
//   Result<void> import_tanh(NodeImport& n) {
//     n.output(n.result().tanh(n.input(0)));
//     return success();
//   }
#pragma once

#include "model.hpp"
#include "op_table.hpp"

#include <buda/frontend/axes.hpp>
#include <buda/frontend/layouts.hpp>
#include <buda/frontend/op_import.hpp>
#include <buda/frontend/values.hpp>
#include <buda/ops/whole_graph/builder.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace buda::tensorflow_frontend {

using frontend::Operand;

// What a node gives.
struct Value {
  enum class Kind {
    none,      // the node has no such result
    failed,    // the node could not be imported, which is reported
    tensor,    // numbers
    list,      // of values: a TensorList, or what was written to a TensorArray
    variable,  // the place of a variable
    complex,   // complex numbers, as two tensors
    dead,      // nothing, because a condition led elsewhere
  };
  Kind kind = Kind::none;
  Operand tensor = {};
  std::shared_ptr<const std::vector<Value>> list = {};
  std::string variable = {};                  // the node that makes it
  graph::ValueRef real = {}, imaginary = {};  // of complex numbers; without `imaginary` that part is 0

  static Value of(Operand operand) { return {Kind::tensor, std::move(operand)}; }
  static Value of_parts(graph::ValueRef real, graph::ValueRef imaginary) {
    return {.kind = Kind::complex, .real = real, .imaginary = imaginary};
  }
};
using Values = std::vector<Value>;
using Attributes = std::map<std::string, format::AttrValue>;

// Whoever walks over the graph, for operators that call functions or read variables.
class Walk {
 public:
  virtual ~Walk() = default;
  // The results of a function, whose nodes get names behind `prefix`. Values of nodes that failed, which is reported already, are failed.
  virtual Result<Values> call(const frontend::OpImport& caller, const std::string& function, const Attributes& attributes, Values arguments,
                              const std::string& prefix) = 0;
  virtual Result<Operand> variable(const frontend::OpImport& reader, const std::string& name) = 0;
};

// What all operators share.
struct ImportState {
  ImportState(const Model& m, ops::Builder& b) : model(&m), builder(&b), store(b.graph(), m.file) {}

  const Model* model;
  ops::Builder* builder;
  frontend::ValueStore store;
  frontend::Layouts layouts;
  Walk* walk = nullptr;
};

class NodeImport : public frontend::OpImport {  // wide because it is all that importers of operators see of one
 public:
  using Ref = graph::ValueRef;
  using Dims = std::vector<std::int64_t>;

  // `attributes` are those of the call of the function that the node is in; `name` is the node's in the graph being built.
  NodeImport(ImportState& state, const format::NodeDef& node, const Attributes& attributes, std::string name, Values inputs)
      : state_(&state), node_(&node), attributes_(&attributes), name_(std::move(name)), inputs_(std::move(inputs)) {}

  const OpImporter& importer() const { return *find_importer(node_->op()); }
  const std::string& type_of_op() const { return node_->op(); }
  const std::string& name() const { return name_; }
  frontend::Layouts& layouts() { return state_->layouts; }
  Walk& walk() { return *state_->walk; }
  frontend::ValueStore& store() { return state_->store; }

  // ---- attributes; one that the file leaves out has its standard value

  bool has_attr(const std::string& name) const { return attr(name) != nullptr; }
  std::int64_t integer(const std::string& name, std::int64_t standard) const;
  double real(const std::string& name, double standard) const;
  bool flag(const std::string& name, bool standard) const;
  std::string text(const std::string& name, std::string_view standard) const;
  Dims integers(const std::string& name) const;
  std::vector<float> reals(const std::string& name) const;
  std::vector<std::string> texts(const std::string& name) const;
  Result<DType> dtype(const std::string& name, DType standard) const;
  bool is_complex_type(const std::string& name) const;
  const format::AttrValue* attr(const std::string& name) const;
  // All of the node, for the function that it calls.
  Attributes all_attributes() const;

  // ---- inputs

  std::size_t input_count() const { return inputs_.size(); }
  const Value& value(std::size_t i) const;
  const Values& values() const { return inputs_; }
  Ref input(std::size_t i) { return state_->store.ref(operand(i)); }
  Operand operand(std::size_t i) const { return value(i).tensor; }
  Result<graph::ValueType> type(std::size_t i) const;
  Result<Shape> shape(std::size_t i) const;
  Result<Shape> shape_of(Ref value) const;
  Result<graph::ValueType> type_of(Ref value) const;
  // The elements of a list; its tensors, all of which must be there.
  Result<Values> list(std::size_t i) const;
  // The numbers of an input, or of the variable that it is the place of.
  Result<Operand> read(std::size_t i);
  // An input that must be known while importing, because it decides about types. `what` it is, for the message.
  Result<Tensor> known(std::size_t i, std::string_view what) const;
  Result<Dims> known_integers(std::size_t i, std::string_view what) const;
  Result<std::int64_t> known_integer(std::size_t i, std::string_view what) const;
  Result<double> known_number(std::size_t i, std::string_view what) const;
  Result<bool> known_truth(const Operand& value, std::string_view what) const;
  bool is_known(std::size_t i) const { return state_->store.tensor(operand(i)) != nullptr; }
  Ref ref(const Operand& value) { return state_->store.ref(value); }
  Ref cast(Ref value, DType to, std::string_view step_name);
  // The same node with other inputs, whose nodes get a suffix.
  NodeImport with_inputs(std::string_view suffix, Values inputs) const;

  // ---- results

  ops::Builder& result() override { return named(name_); }
  ops::Builder& step(std::string_view suffix) override;
  void output(Ref value, std::size_t i = 0) { output(Value::of(frontend::computed_value(name_, value)), i); }
  void output(Value value, std::size_t i = 0);
  void output_list(Values values, std::size_t i = 0);
  void output_known(Tensor tensor, std::size_t i = 0);
  // The result is the input, unchanged.
  void output_input(std::size_t input, std::size_t i = 0) { output(value(input), i); }
  Values take_outputs() { return std::move(outputs_); }

  // ---- images: does the node have channels last? Then what was computed with channels first is brought back to the file's order.

  bool channels_last() const;
  // An image with channels first, and a result that is one, in the node's order.
  Ref image(std::size_t i);
  Ref as_node_has_it(Ref first);

  Diagnostic refuse(std::string reason) const override;

 private:
  ops::Builder& named(std::string_view name);

  ImportState* state_;
  const format::NodeDef* node_;
  const Attributes* attributes_;
  std::string name_;
  Values inputs_, outputs_;
};

// "node 'fc1' (op type MatMul): <reason>": every refusal of a node has this form.
Diagnostic node_error(const Model& model, const std::string& name, const std::string& type, std::string code, std::string reason);

}  // namespace buda::tensorflow_frontend
