// SPDX-License-Identifier: Apache-2.0
// Access to one operation.
#include "op_call.hpp"

#include "dense.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/known_argument.hpp>
#include <buda/graph/value_type.hpp>
#include <buda/tensor/tensor.hpp>

namespace buda::stablehlo {

Value tensor_value(Ref real, Ref imaginary) {
  Value out;
  out.real = frontend::computed_value({}, real);
  if (imaginary.valid()) out.imaginary = frontend::computed_value({}, imaginary);
  return out;
}

Result<void> OpCall::expect_inputs(std::size_t least, std::size_t most) const {
  if (operands_.size() < least || operands_.size() > most)
    return refuse(cat("has ", operands_.size(), " operands, and takes ", least, least == most ? "" : " or more"));
  for (const Value& v : operands_)
    if (!v.is_tensor()) return refuse("takes tensors only");
  return success();
}

Result<void> OpCall::expect_regions(std::size_t count) const {
  if (op_->regions.size() != count) return refuse(cat("has ", op_->regions.size(), " regions, not ", count));
  return success();
}

Shape OpCall::shape_of(Ref value) const {
  const auto* type = state_->builder->graph().type(value);
  return type == nullptr ? Shape{} : type->shape;
}

DType OpCall::dtype_of(Ref value) const {
  const auto* type = state_->builder->graph().type(value);
  return type == nullptr ? DType::f32 : type->dtype;
}

Result<Tensor> OpCall::known(std::size_t i, std::string_view what) const {
  if (i >= operands_.size() || !operands_[i].is_tensor()) return refuse(cat("its ", what, " (operand ", i, ") is missing"));
  return known(operands_[i], what);
}

Result<Tensor> OpCall::known(const Value& value, std::string_view what) const {
  return frontend::known_argument(*this, state_->store, value.real, what);
}

Result<Dims> OpCall::known_integers(std::size_t i, std::string_view what) const {
  BUDA_ASSIGN(Tensor tensor, known(i, what));
  if (is_float(tensor.dtype())) return refuse(cat("its ", what, " (operand ", i, ") is ", tensor.describe(), ", not integers"));
  const Tensor wide = tensor.cast(DType::i64);
  auto elements = wide.as<std::int64_t>();
  return Dims(elements.begin(), elements.end());
}

Result<Dims> OpCall::integers(std::string_view name) const {
  if (attribute(name) == nullptr) return refuse(cat("its attribute ", name, " is missing"));
  return integers_or(name, {});
}

Result<Dims> OpCall::integers_or(std::string_view name, Dims otherwise) const {
  const Attribute* found = attribute(name);
  if (found == nullptr) return otherwise;
  auto out = integers_of(*found);
  if (!out) return refuse(cat("its attribute ", name, ' ', out.failure().diagnostics()[0].message));
  return out;
}

Result<std::int64_t> OpCall::integer(std::string_view name) const {
  BUDA_ASSIGN(Dims list, integers(name));
  if (list.size() != 1) return refuse(cat("its attribute ", name, " has ", list.size(), " numbers, not one"));
  return list[0];
}

Result<std::int64_t> OpCall::integer_or(std::string_view name, std::int64_t otherwise) const {
  return attribute(name) == nullptr ? Result<std::int64_t>(otherwise) : integer(name);
}

Result<Attributes> OpCall::group(std::string_view name) const {
  const Attribute* found = attribute(name);
  const auto* group = found == nullptr ? nullptr : found->as<Attributes>();
  if (group == nullptr) return refuse(cat("its attribute ", name, found == nullptr ? " is missing" : " is not read"));
  return *group;
}

Result<Dims> OpCall::integers_in(const Attributes& group, std::string_view name) const {
  const Attribute* found = group.find(name);
  if (found == nullptr) return Dims{};
  auto out = integers_of(*found);
  if (!out) return refuse(cat("its attribute ", name, ' ', out.failure().diagnostics()[0].message));
  return out;
}

Result<std::int64_t> OpCall::integer_in(const Attributes& group, std::string_view name, std::int64_t otherwise) const {
  BUDA_ASSIGN(Dims list, integers_in(group, name));
  return list.empty() ? otherwise : list[0];
}

std::string OpCall::text(std::string_view name, std::string_view otherwise) const {
  const Attribute* found = attribute(name);
  const auto* text = found == nullptr ? nullptr : found->as<std::string>();
  return text == nullptr ? std::string(otherwise) : *text;
}

bool OpCall::flag(std::string_view name, bool otherwise) const {
  const Attribute* found = attribute(name);
  if (found == nullptr) return otherwise;
  if (found->as<std::monostate>() != nullptr) return true;
  const auto* flag = found->as<bool>();
  return flag == nullptr ? otherwise : *flag;
}

Result<Shape> OpCall::stated_shape(std::size_t i) const {
  if (i >= op_->result_types.size()) return refuse("has no result");
  const Type& type = op_->result_types[i];
  if (type.kind != Type::Kind::tensor || type.has_open_sizes())
    return refuse(cat("its result has the type ", type.text, ", whose size is open"));
  return Shape(Dims(type.dims));
}

ops::Builder& OpCall::step(std::string_view suffix) { return named(cat(name_, '.', suffix)); }

void OpCall::output(Ref value, std::size_t i) {
  if (i >= results_.size()) return;
  if (part_ == Part::imaginary) {
    results_[i].imaginary = frontend::computed_value({}, value);
  } else {
    results_[i].real = frontend::computed_value({}, value);
  }
}

void OpCall::output(Value value, std::size_t i) {
  if (i < results_.size()) results_[i] = std::move(value);
}

Ref OpCall::cast(Ref value, DType to) {
  return dtype_of(value) == to ? value : step("cast").op("cast", {value}, {{"dtype", std::string(dtype_name(to))}});
}

Result<void> OpCall::output_product(const std::function<Result<Ref>(Ref, Ref)>& product) {
  BUDA_ASSIGN(Ref rr, product(real(0), real(1)));
  if (!is_complex(0) || !is_complex(1)) {
    output(rr);
    return success();
  }
  BUDA_ASSIGN(Ref ii, product(imaginary(0), imaginary(1)));
  BUDA_ASSIGN(Ref ri, product(real(0), imaginary(1)));
  BUDA_ASSIGN(Ref ir, product(imaginary(0), real(1)));
  const Ref re = step("real").subtract(rr, ii);
  output(re, step("imaginary").add(ri, ir), 0);
  return success();
}

Ref OpCall::constant(Tensor tensor) { return step("constant").constant(std::move(tensor)); }

Ref OpCall::scalar(double value, DType dtype) { return constant(Tensor::scalar(value).cast(dtype)); }

Ref OpCall::broadcast_to(Ref value, const Shape& shape) {
  return shape_of(value) == shape ? value : step("broadcast").broadcast(value, shape);
}

Diagnostic OpCall::refuse(std::string reason) const {
  Diagnostic d = state_->module->error("SH040", cat("node '", name_, "' (op type ", op_->name, "): ", reason), op_->line);
  d.node = name_;
  return d;
}

Result<void> OpCall::import() {
  bool complex = false;
  for (const Value& v : operands_) complex = complex || v.is_complex();
  BUDA_TRY(importer_->import(*this));
  const bool by_parts = importer_->scope == Scope::parts || importer_->scope == Scope::everywhere;
  if (!by_parts || !complex) return success();
  part_ = Part::imaginary;
  auto out = importer_->import(*this);
  part_ = Part::real;
  return out;
}

Number apply(std::string_view op, Number a) { return a.with(a.call->step(op).op(op, {a.ref})); }
Number apply(std::string_view op, Number a, Number b) { return a.with(a.call->step(op).op(op, {a.ref, b.ref})); }
Number where(Number condition, Number a, Number b) { return a.with(a.call->step("where").op("where", {condition.ref, a.ref, b.ref})); }

}  // namespace buda::stablehlo
