// SPDX-License-Identifier: Apache-2.0
// What the importer of an operation works with: its operands, attributes and regions, and the graph being built.
//
//   Result<void> import_transpose(OpCall& n) {
//     BUDA_ASSIGN(Dims permutation, n.integers("permutation"));
//     n.output(n.result().transpose(n.input(0), permutation));
//     return success();
//   }
#pragma once

#include "module.hpp"
#include "op_table.hpp"

#include <buda/frontend/op_import.hpp>
#include <buda/frontend/values.hpp>
#include <buda/graph/graph.hpp>
#include <buda/ops/whole_graph/builder.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace buda::stablehlo {

using Ref = graph::ValueRef;

// A value of the module: a tensor, two of a complex one, or a tuple's parts. Tokens have neither.
struct Value {
  frontend::Operand real, imaginary;
  std::vector<Value> parts;
  std::shared_ptr<const QuantizedType> quantized;  // what the integers of `real` stand for

  bool is_complex() const { return imaginary != nullptr; }
  bool is_tensor() const { return real != nullptr; }
};

Value tensor_value(Ref real, Ref imaginary = {});

// What all operations share.
struct ImportState {
  ImportState(const Module& m, ops::Builder& b) : module(&m), builder(&b), store(b.graph(), m.file) {}

  const Module* module;
  ops::Builder* builder;
  frontend::ValueStore store;
  // Computes a region or a function on given values.
  std::function<Result<std::vector<Value>>(const Region&, std::vector<Value>, bool lifted)> run_region;
  std::function<Result<std::vector<Value>>(const Operation&, std::string_view function, std::vector<Value>)> run_function;
  // In the body of a reduction, where a number stands for a whole tensor of numbers.
  bool lifted = false;
};

class OpCall : public frontend::OpImport {  // wide because it is all that importers of operations see of one
 public:
  OpCall(ImportState& state, const Operation& op, const OpImporter& importer, std::vector<Value> operands, std::string name)
      : state_(&state),
        op_(&op),
        importer_(&importer),
        operands_(std::move(operands)),
        name_(std::move(name)),
        results_(op.results.size()) {}

  const OpImporter& importer() const { return *importer_; }
  const Operation& operation() const { return *op_; }
  bool lifted() const { return state_->lifted; }

  // ---- operands

  std::size_t input_count() const { return operands_.size(); }
  const Value& value(std::size_t i) const { return operands_[i]; }
  bool is_complex(std::size_t i) const { return operands_[i].is_complex(); }
  // The real tensor, or the part of a complex one that is at hand (Scope::parts).
  Ref input(std::size_t i) {
    return state_->store.ref(part_ == Part::imaginary && is_complex(i) ? operands_[i].imaginary : operands_[i].real);
  }
  Ref ref(const frontend::Operand& operand) { return state_->store.ref(operand); }
  Ref real(std::size_t i) { return state_->store.ref(operands_[i].real); }
  Ref imaginary(std::size_t i) { return state_->store.ref(operands_[i].imaginary); }
  Result<void> expect_inputs(std::size_t least, std::size_t most) const;
  Shape shape(std::size_t i) { return shape_of(real(i)); }
  DType dtype(std::size_t i) { return dtype_of(real(i)); }
  Shape shape_of(Ref value) const;
  DType dtype_of(Ref value) const;
  // An operand that must be known while importing. `what` it is, for the message.
  Result<Tensor> known(std::size_t i, std::string_view what) const;
  Result<Tensor> known(const Value& value, std::string_view what) const;
  Result<Dims> known_integers(std::size_t i, std::string_view what) const;
  // Null where it depends on inputs of the model.
  const Tensor* find_known(Ref value) { return state_->store.known.find(value); }

  // ---- attributes

  const Attribute* attribute(std::string_view name) const { return op_->attributes.find(name); }
  Result<Dims> integers(std::string_view name) const;
  Result<Dims> integers_or(std::string_view name, Dims otherwise) const;
  Result<std::int64_t> integer(std::string_view name) const;
  Result<std::int64_t> integer_or(std::string_view name, std::int64_t otherwise) const;
  // The attributes inside of one: dimension numbers.
  Result<Attributes> group(std::string_view name) const;
  Result<Dims> integers_in(const Attributes& group, std::string_view name) const;
  Result<std::int64_t> integer_in(const Attributes& group, std::string_view name, std::int64_t otherwise) const;
  std::string text(std::string_view name, std::string_view otherwise = "") const;
  bool flag(std::string_view name, bool otherwise) const;

  // ---- results

  const Type& result_type(std::size_t i = 0) const { return op_->result_types[i]; }
  // The shape that the file states for a result; refused where a size is open.
  Result<Shape> stated_shape(std::size_t i = 0) const;
  std::size_t result_count() const { return results_.size(); }
  ops::Builder& result() override { return named(name_); }
  ops::Builder& step(std::string_view suffix) override;
  // A node of that op, named after it. Arguments may make nodes, too.
  Ref op(std::string_view op_name, std::vector<graph::Edge> inputs, ops::AttrMap attrs = {}) {
    return step(op_name).op(op_name, std::move(inputs), std::move(attrs));
  }
  const std::string& name() const { return name_; }
  void output(Ref value, std::size_t i = 0);
  void output(Ref real, Ref imaginary, std::size_t i) { output(tensor_value(real, imaginary), i); }
  void output(Value value, std::size_t i = 0);
  // A product of operands 0 and 1 that is linear in both; of complex numbers it is taken part by part.
  Result<void> output_product(const std::function<Result<Ref>(Ref, Ref)>& product);
  std::vector<Value>& results() { return results_; }

  // Nodes that are needed again and again.
  Ref cast(Ref value, DType to);
  Ref scalar(double value, DType dtype);
  Ref broadcast_to(Ref value, const Shape& shape);
  Ref constant(Tensor tensor);

  // ---- regions

  Result<std::vector<Value>> run(std::size_t region, std::vector<Value> arguments, bool lifted) {
    return state_->run_region(op_->regions[region], std::move(arguments), lifted);
  }
  Result<std::vector<Value>> call(std::string_view function, std::vector<Value> arguments) {
    return state_->run_function(*op_, function, std::move(arguments));
  }
  Result<void> expect_regions(std::size_t count) const;

  Diagnostic refuse(std::string reason) const override;

  // Runs an importer, for both parts of complex operands where it asks for that.
  Result<void> import();

 private:
  enum class Part : std::uint8_t { real, imaginary };
  ops::Builder& named(std::string_view name) { return state_->builder->named(state_->builder->graph().fresh_name(name)); }

  ImportState* state_;
  const Operation* op_;
  const OpImporter* importer_;
  std::vector<Value> operands_;
  std::string name_;
  std::vector<Value> results_;
  Part part_ = Part::real;
};

// A real number in a formula of elementwise nodes:  Number x = …;  Number y = exp(x * 2.0) + 1.0;
struct Number {
  OpCall* call = nullptr;
  Ref ref;

  Number with(Ref other) const { return {call, other}; }
  Number constant(double value) const { return with(call->scalar(value, call->dtype_of(ref))); }
};

// a, b may have different shapes, which broadcast.
Number apply(std::string_view op, Number a);
Number apply(std::string_view op, Number a, Number b);
Number where(Number condition, Number a, Number b);
inline Number operator+(Number a, Number b) { return apply("add", a, b); }
inline Number operator-(Number a, Number b) { return apply("subtract", a, b); }
inline Number operator*(Number a, Number b) { return apply("multiply", a, b); }
inline Number operator/(Number a, Number b) { return apply("divide", a, b); }
inline Number operator-(Number a) { return apply("negative", a); }
inline Number operator+(Number a, double b) { return a + a.constant(b); }
inline Number operator-(Number a, double b) { return a - a.constant(b); }
inline Number operator*(Number a, double b) { return a * a.constant(b); }
inline Number operator/(Number a, double b) { return a / a.constant(b); }
inline Number operator+(double a, Number b) { return b.constant(a) + b; }
inline Number operator-(double a, Number b) { return b.constant(a) - b; }
inline Number operator*(double a, Number b) { return b.constant(a) * b; }
inline Number operator/(double a, Number b) { return b.constant(a) / b; }
inline Number operator<(Number a, Number b) { return apply("less", a, b); }
inline Number operator>(Number a, Number b) { return apply("greater", a, b); }
inline Number operator<=(Number a, Number b) { return apply("less_equal", a, b); }
inline Number operator>=(Number a, Number b) { return apply("greater_equal", a, b); }
inline Number operator<(Number a, double b) { return a < a.constant(b); }
inline Number operator>(Number a, double b) { return a > a.constant(b); }
inline Number operator<=(Number a, double b) { return a <= a.constant(b); }
inline Number operator>=(Number a, double b) { return a >= a.constant(b); }
inline Number equal(Number a, Number b) { return apply("equal", a, b); }
inline Number equal(Number a, double b) { return equal(a, a.constant(b)); }

// A complex number in a formula.
struct Complex {
  Number re, im;
};

}  // namespace buda::stablehlo
