// SPDX-License-Identifier: Apache-2.0
// Access to one operator.
#include "node_import.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/known_argument.hpp>
#include <buda/graph/graph.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::tflite_frontend {

using Ref = graph::ValueRef;

graph::ValueRef dequantized(ops::Builder& b, graph::ValueRef value, const TensorInfo& info, const std::string& name) {
  const frontend::Quantization& q = *info.quantization;
  if (dtype_size(*info.dtype) <= 4) return frontend::dequantized(b, value, q, *info.dtype, name);
  // Only sums have 64 bits: the bias of 16-bit operators, one axis without a zero point.
  Shape shape = q.per_slice() ? Shape{static_cast<std::int64_t>(q.scales.size())} : Shape{};
  Ref scale = b.named(b.graph().fresh_name(cat(name, ".scale"))).constant(Tensor(shape, std::vector<float>(q.scales)));
  Ref real = b.named(b.graph().fresh_name(cat(name, ".number"))).op("cast", {value}, {{"dtype", std::string("F32")}});
  return b.named(b.graph().fresh_name(cat(name, ".real"))).multiply(real, scale);
}

graph::ValueRef requantized(ops::Builder& b, graph::ValueRef value, const TensorInfo& info, const std::string& name) {
  return frontend::quantized(b, value, *info.quantization, *info.dtype, name, "away");
}

const TensorInfo& NodeImport::input_info(std::size_t i) const { return info(has_input(i) ? op_->inputs[i] : -1); }

const TensorInfo& NodeImport::output_info(std::size_t i) const { return info(has_output(i) ? op_->outputs[i] : -1); }

const TensorInfo& NodeImport::info(std::int32_t tensor) const {
  static const TensorInfo kNone;
  return tensor < 0 ? kNone : scope_->graph->tensors[static_cast<std::size_t>(tensor)];
}

Operand NodeImport::operand(std::size_t i) const {
  return has_input(i) ? scope_->values[static_cast<std::size_t>(op_->inputs[i])] : nullptr;
}

Ref NodeImport::input(std::size_t i) { return state_->store.ref(operand(i)); }

Ref NodeImport::number(std::size_t i) {
  Ref value = input(i);
  const auto* type = state_->builder->graph().type(value);
  if (type == nullptr || is_float(type->dtype) || !input_info(i).is_quantized()) return value;
  Ref& known = scope_->numbers[op_->inputs[i]];
  if (!known.valid()) known = dequantized(*state_->builder, value, input_info(i), cat(scope_->prefix, input_info(i).name));
  return known;
}

Ref NodeImport::moved(std::size_t i) { return state_->arithmetic == Arithmetic::real ? number(i) : input(i); }

Result<graph::ValueType> NodeImport::type(std::size_t i) const {
  if (!has_input(i)) return refuse(cat("input ", i, " is missing"));
  auto value = operand(i);
  if (value != nullptr && value->tensor)
    return graph::ValueType{.dtype = value->tensor->dtype(), .shape = value->tensor->shape(), .format = {}};
  if (value != nullptr)
    if (const auto* type = state_->builder->graph().type(value->ref)) return *type;
  return refuse("a value that it uses has no type");
}

Result<Shape> NodeImport::shape(std::size_t i) const {
  BUDA_ASSIGN(auto t, type(i));
  return t.shape;
}

Result<Shape> NodeImport::shape_of(Ref value) const {
  if (const auto* type = state_->builder->graph().type(value)) return type->shape;
  return refuse("a value that it uses has no type");
}

std::string_view NodeImport::custom_options() const {
  const auto* bytes = op_->record->custom_options();
  return bytes == nullptr ? std::string_view() : std::string_view(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

bool NodeImport::is_known(std::size_t i) const { return has_input(i) && state_->store.tensor(operand(i)) != nullptr; }

Result<Tensor> NodeImport::known(std::size_t i, std::string_view what) const {
  if (!has_input(i)) return refuse(cat("its ", what, " (input ", i, ") is missing"));
  return frontend::known_argument(*this, state_->store, operand(i), cat(what, " (input ", i, ", '", input_info(i).name, "')"));
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

Result<NodeImport::Dims> NodeImport::result_shape(std::size_t i) const {
  const TensorInfo& stated = output_info(0);
  bool open = std::find(stated.open_axes.begin(), stated.open_axes.end(), true) != stated.open_axes.end();
  if (is_known(i) || open || stated.shape.rank() == 0) return known_integers(i, "shape of the result");
  return stated.shape.dims();
}

Result<bool> NodeImport::known_truth(const Operand& value, std::string_view what) const {
  BUDA_ASSIGN(Tensor tensor, frontend::known_argument(*this, state_->store, value, what));
  return frontend::truth_of(*this, tensor, what);
}

Result<Ref> NodeImport::state(std::size_t i, const Shape& shape, bool as_numbers) {
  const TensorInfo& stored = input_info(i);
  if (!stored.dtype) return refuse(cat("its state '", stored.name, "' has elements of ", stored.type_name));
  if (operand(i) == nullptr) {
    BUDA_ASSIGN(Tensor zeros, Tensor::zeros(*stored.dtype, shape));
    if (stored.is_quantized())
      zeros = Tensor(shape, std::vector<std::int64_t>(zeros.size(), stored.quantization->zero_points[0])).cast(*stored.dtype);
    scope_->values[static_cast<std::size_t>(op_->inputs[i])] = known_value(stored.name, std::move(zeros), Role::constant, stored.name);
  }
  BUDA_ASSIGN(Shape given, this->shape(i));
  if (given.volume() != shape.volume())
    return refuse(cat("its state '", stored.name, "' is ", given.text(), " where ", shape.text(), " is needed"));
  Ref value = as_numbers ? number(i) : input(i);
  return given == shape ? value : step(cat("state", i)).reshape(value, shape);
}

void NodeImport::keep_state(std::size_t i, Ref value, bool as_numbers) {
  auto tensor = static_cast<std::size_t>(op_->inputs[i]);
  const TensorInfo& stored = input_info(i);
  auto before = this->shape(i), now = shape_of(value);
  if (before && now && *before != *now) value = step(cat("state", i, ".next")).reshape(value, *before);
  if (as_numbers && stored.is_quantized() && state_->arithmetic == Arithmetic::exact) value = quantized(value, stored);
  scope_->numbers.erase(op_->inputs[i]);
  scope_->values[tensor] = computed_value(stored.name, value);
}

Result<std::vector<Operand>> NodeImport::call(std::size_t which, const std::vector<Operand>& arguments, std::string_view name) {
  if (which >= op_->called.size()) return refuse("it does not name its subgraphs");
  return state_->calls->call(*this, op_->called[which], arguments, cat(scope_->prefix, op_->name, '/', name, name.empty() ? "" : "/"));
}

void NodeImport::output_all(const std::vector<Operand>& results) {
  for (std::size_t i = 0; i < results.size() && i < output_count(); ++i)
    scope_->values[static_cast<std::size_t>(op_->outputs[i])] = results[i];
}

Ref NodeImport::cast(Ref value, DType to, std::string_view step_name) {
  return step(step_name).op("cast", {value}, {{"dtype", std::string(dtype_name(to))}});
}

ops::Builder& NodeImport::named(std::string_view name) {
  return state_->builder->named(state_->builder->graph().fresh_name(cat(scope_->prefix, name)));
}

ops::Builder& NodeImport::step(std::string_view suffix) { return named(cat(op_->name, '.', suffix)); }

ops::Builder& NodeImport::before(tflite_format::Activation activation) {
  return activation == tflite_format::Activation::NONE ? result() : step("linear");
}

Result<Ref> NodeImport::activated(Ref value, tflite_format::Activation activation) {
  using A = tflite_format::Activation;
  switch (activation) {
    case A::NONE:
      return value;
    case A::RELU:
      return result().relu(value);
    case A::RELU_N1_TO_1:
      return result().clip(value, -1, 1);
    case A::RELU6:
      return result().clip(value, 0, 6);
    case A::TANH:
      return result().tanh(value);
    default:
      break;
  }
  return refuse(cat("its activation ", static_cast<int>(activation), " (SIGN_BIT is 5) is not supported"));
}

void NodeImport::output(Ref value, std::size_t i) {
  if (!has_output(i)) return;
  auto tensor = static_cast<std::size_t>(op_->outputs[i]);
  scope_->values[tensor] = computed_value(output_info(i).name, value);
}

Ref NodeImport::quantized(Ref value, const TensorInfo& to) {
  return requantized(*state_->builder, value, to, cat(scope_->prefix, op_->name, ".stored"));
}

void NodeImport::output_number(Ref value, std::size_t i) {
  if (!has_output(i)) return;
  const auto* type = state_->builder->graph().type(value);
  const TensorInfo& to = output_info(i);
  if (type == nullptr || !is_float(type->dtype) || !to.is_quantized() || state_->arithmetic == Arithmetic::real) return output(value, i);
  output(quantized(value, to), i);
}

void NodeImport::output_known(Tensor tensor, std::size_t i) {
  if (!has_output(i)) return;
  const auto& name = output_info(i).name;
  scope_->values[static_cast<std::size_t>(op_->outputs[i])] = known_value(name, std::move(tensor), Role::constant, name);
}

void NodeImport::output_input(std::size_t input) {
  if (has_output(0)) scope_->values[static_cast<std::size_t>(op_->outputs[0])] = operand(input);
}

}  // namespace buda::tflite_frontend
