// SPDX-License-Identifier: Apache-2.0
// Access to one node.
#include "node_import.hpp"

#include "tensors.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/known_argument.hpp>
#include <buda/graph/graph.hpp>
#include <buda/tensor/tensor.hpp>

namespace buda::tensorflow_frontend {

using Ref = graph::ValueRef;

const format::AttrValue* NodeImport::attr(const std::string& name) const {
  auto found = node_->attr().find(name);
  if (found == node_->attr().end()) return nullptr;
  if (found->second.placeholder().empty()) return &found->second;
  auto bound = attributes_->find(found->second.placeholder());
  return bound == attributes_->end() ? nullptr : &bound->second;
}

Attributes NodeImport::all_attributes() const {
  Attributes out;
  for (const auto& [name, value] : node_->attr())
    if (const auto* bound = attr(name)) out.emplace(name, *bound);
  return out;
}

std::int64_t NodeImport::integer(const std::string& name, std::int64_t standard) const {
  const auto* a = attr(name);
  return a == nullptr ? standard : a->i();
}

double NodeImport::real(const std::string& name, double standard) const {
  const auto* a = attr(name);
  return a == nullptr ? standard : parse_double(to_text(a->f())).value_or(standard);
}

bool NodeImport::flag(const std::string& name, bool standard) const {
  const auto* a = attr(name);
  return a == nullptr ? standard : a->b();
}

std::string NodeImport::text(const std::string& name, std::string_view standard) const {
  const auto* a = attr(name);
  return a == nullptr ? std::string(standard) : a->s();
}

NodeImport::Dims NodeImport::integers(const std::string& name) const {
  const auto* a = attr(name);
  return a == nullptr ? Dims() : Dims(a->list().i().begin(), a->list().i().end());
}

std::vector<float> NodeImport::reals(const std::string& name) const {
  const auto* a = attr(name);
  return a == nullptr ? std::vector<float>() : std::vector<float>(a->list().f().begin(), a->list().f().end());
}

std::vector<std::string> NodeImport::texts(const std::string& name) const {
  const auto* a = attr(name);
  return a == nullptr ? std::vector<std::string>() : std::vector<std::string>(a->list().s().begin(), a->list().s().end());
}

Result<DType> NodeImport::dtype(const std::string& name, DType standard) const {
  const auto* a = attr(name);
  if (a == nullptr) return standard;
  auto out = dtype_of(a->type());
  if (!out) return refuse(cat("its type ", name, " is ", type_name(a->type()), ", which is not supported"));
  return *out;
}

bool NodeImport::is_complex_type(const std::string& name) const {
  const auto* a = attr(name);
  return a != nullptr && (a->type() == format::DT_COMPLEX64 || a->type() == format::DT_COMPLEX128);
}

const Value& NodeImport::value(std::size_t i) const {
  static const Value kNone;
  return i < inputs_.size() ? inputs_[i] : kNone;
}

Result<graph::ValueType> NodeImport::type(std::size_t i) const {
  if (i >= input_count()) return refuse(cat("input ", i, " is missing"));
  auto in = operand(i);
  if (in != nullptr && in->tensor) return graph::ValueType{.dtype = in->tensor->dtype(), .shape = in->tensor->shape(), .format = {}};
  if (in != nullptr)
    if (const auto* type = state_->builder->graph().type(in->ref)) return *type;
  return refuse(cat("its input ", i, " is not a tensor of numbers"));
}

Result<Shape> NodeImport::shape(std::size_t i) const {
  BUDA_ASSIGN(auto t, type(i));
  return t.shape;
}

Result<graph::ValueType> NodeImport::type_of(Ref value) const {
  if (const auto* type = state_->builder->graph().type(value)) return *type;
  return refuse("a value that it uses has no type");
}

Result<Shape> NodeImport::shape_of(Ref value) const {
  BUDA_ASSIGN(auto type, type_of(value));
  return type.shape;
}

NodeImport NodeImport::with_inputs(std::string_view suffix, Values inputs) const {
  return NodeImport(*state_, *node_, *attributes_, cat(name_, suffix), std::move(inputs));
}

Result<Values> NodeImport::list(std::size_t i) const {
  if (value(i).kind != Value::Kind::list) return refuse(cat("its input ", i, " is not a list of tensors"));
  return *value(i).list;
}

Result<Operand> NodeImport::read(std::size_t i) {
  if (value(i).kind == Value::Kind::variable) return state_->walk->variable(*this, value(i).variable);
  if (value(i).kind == Value::Kind::tensor) return operand(i);
  return refuse(cat("its input ", i, " is no variable"));
}

Result<Tensor> NodeImport::known(std::size_t i, std::string_view what) const {
  if (value(i).kind != Value::Kind::tensor) return refuse(cat("its ", what, " (input ", i, ") is missing"));
  return frontend::known_argument(*this, state_->store, operand(i), cat(what, " (input ", i, ", '", operand(i)->name, "')"));
}

Result<NodeImport::Dims> NodeImport::known_integers(std::size_t i, std::string_view what) const {
  BUDA_ASSIGN(Tensor tensor, known(i, what));
  return frontend::integers_of(*this, tensor, cat(what, " (input ", i, ')'));
}

Result<std::int64_t> NodeImport::known_integer(std::size_t i, std::string_view what) const {
  BUDA_ASSIGN(Tensor tensor, known(i, what));
  return frontend::integer_of(*this, tensor, cat(what, " (input ", i, ')'));
}

Result<double> NodeImport::known_number(std::size_t i, std::string_view what) const {
  BUDA_ASSIGN(Tensor tensor, known(i, what));
  return frontend::number_of(*this, tensor, cat(what, " (input ", i, ')'));
}

Result<bool> NodeImport::known_truth(const Operand& value, std::string_view what) const {
  if (value == nullptr) return refuse(cat("its ", what, " is no tensor"));
  BUDA_ASSIGN(Tensor tensor, frontend::known_argument(*this, state_->store, value, what));
  return frontend::truth_of(*this, tensor, what);
}

Ref NodeImport::cast(Ref value, DType to, std::string_view step_name) {
  return step(step_name).op("cast", {value}, {{"dtype", std::string(dtype_name(to))}});
}

ops::Builder& NodeImport::named(std::string_view name) { return state_->builder->named(state_->builder->graph().fresh_name(name)); }

ops::Builder& NodeImport::step(std::string_view suffix) { return named(cat(name_, '.', suffix)); }

void NodeImport::output(Value value, std::size_t i) {
  if (outputs_.size() <= i) outputs_.resize(i + 1);
  outputs_[i] = std::move(value);
}

void NodeImport::output_list(Values values, std::size_t i) {
  Value out;
  out.kind = Value::Kind::list;
  out.list = std::make_shared<const Values>(std::move(values));
  output(std::move(out), i);
}

void NodeImport::output_known(Tensor tensor, std::size_t i) {
  output(Value::of(frontend::known_value(name_, std::move(tensor), frontend::Role::constant, name_)), i);
}

bool NodeImport::channels_last() const {
  std::string order = text("data_format", "NHWC");
  return order != "NCHW" && order != "NCDHW" && order != "NCW";
}

Ref NodeImport::image(std::size_t i) {
  Ref value = input(i);
  return channels_last() ? layouts().channels_first(step("first"), value) : value;
}

Ref NodeImport::as_node_has_it(Ref first) { return channels_last() ? layouts().channels_last(step("last"), first) : first; }

Diagnostic NodeImport::refuse(std::string reason) const {
  return node_error(*state_->model, name_, node_->op(), "GF040", std::move(reason));
}

Diagnostic node_error(const Model& model, const std::string& name, const std::string& type, std::string code, std::string reason) {
  Diagnostic d = model.error(std::move(code), cat("node '", name, "' (op type ", type, "): ", reason));
  d.node = name;
  d.data = {{"op_type", type}};
  return d;
}

}  // namespace buda::tensorflow_frontend
