// SPDX-License-Identifier: Apache-2.0
// Access to one ONNX node.
#include "node_import.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/axes.hpp>
#include <buda/frontend/known_argument.hpp>
#include <buda/graph/graph.hpp>
#include <buda/tensor/tensor.hpp>

#include <onnx/onnx_pb.h>

#include <algorithm>

namespace buda::onnx_frontend {
namespace {

// Floats become doubles by way of their shortest decimal form, so that 0.01 stays 0.01 and does not become 0.009999999776482582; back in
// fp32 it is the same number.
double as_double(float value) { return parse_double(to_text(value)).value_or(static_cast<double>(value)); }

}  // namespace

const std::string& NodeImport::input_name(std::size_t i) const { return node_->input(static_cast<int>(i)); }

std::size_t NodeImport::input_count() const { return static_cast<std::size_t>(node_->input_size()); }

bool NodeImport::has_input(std::size_t i) const { return i < input_count() && !input_name(i).empty(); }

NodeImport::NodeImport(const Model& model, const ::onnx::NodeProto& node, const OpImporter& importer, const Scope& scope,
                       ops::Builder& builder, BodyImporter& bodies, Host& host)
    : model_(&model),
      node_(&node),
      importer_(&importer),
      scope_(&scope),
      values_(scope.values),
      builder_(&builder),
      bodies_(&bodies),
      host_(&host),
      name_(scope.prefix + node.name()) {}

Operand NodeImport::named(const std::string& value_name) const { return values_->find(value_name); }

Operand NodeImport::operand(std::size_t i) const { return has_input(i) ? values_->find(input_name(i)) : nullptr; }

graph::ValueRef NodeImport::ref(const Operand& value) {
  auto ref = values_->store().ref(value);
  // A known tensor that has just become a node may have taken the name that the next one was to get.
  if (!pending_.empty() && builder_->graph().find(pending_).valid()) builder_named(pending_);
  return ref;
}

graph::ValueRef NodeImport::input(std::size_t i) { return ref(operand(i)); }

const NarrowType* NodeImport::narrow(std::size_t i) const {
  auto value = operand(i);
  return value == nullptr ? nullptr : value->narrow;
}

Result<graph::ValueRef> NodeImport::second_operand() {
  auto b = input(1);
  if (opset() >= 7 || integer("broadcast", 0) == 0 || !has("axis")) return b;
  BUDA_ASSIGN(Shape left, shape(0));
  BUDA_ASSIGN(Shape right, shape(1));
  BUDA_ASSIGN(Shape aligned, frontend::aligned_from(*this, right, left, integer("axis", 0)));
  return aligned == right ? b : step("aligned").reshape(b, aligned);
}

graph::ValueRef NodeImport::cast(Ref value, DType to, std::string_view step_name) {
  return step(step_name).op("cast", {value}, {{"dtype", std::string(dtype_name(to))}});
}

Result<graph::ValueType> NodeImport::type(const Operand& value) const {
  if (value != nullptr && value->tensor)
    return graph::ValueType{.dtype = value->tensor->dtype(), .shape = value->tensor->shape(), .format = {}};
  if (value != nullptr)
    if (const auto* type = builder_->graph().type(value->ref)) return *type;
  return refuse("a value that it uses has no type");
}

Result<graph::ValueType> NodeImport::type(std::size_t i) const {
  if (!has_input(i)) return refuse(cat("input ", i, " is missing"));
  return type(operand(i));
}

Result<Shape> NodeImport::shape(std::size_t i) const {
  BUDA_ASSIGN(auto t, type(i));
  return t.shape;
}

bool NodeImport::is_known(std::size_t i) const { return has_input(i) && values_->store().tensor(operand(i)) != nullptr; }

Result<Tensor> NodeImport::known(const Operand& value, std::string_view what) const {
  return frontend::known_argument(*this, values_->store(), value, what);
}

Result<Tensor> NodeImport::known(std::size_t i, std::string_view what) const {
  if (!has_input(i)) return refuse(cat("its ", what, " (input ", i, ") is missing"));
  return known(operand(i), cat(what, " (input ", i, ", '", input_name(i), "')"));
}

Result<NodeImport::Dims> NodeImport::known_integers(std::size_t i, std::string_view what) const {
  BUDA_ASSIGN(Tensor tensor, known(i, what));
  if (!is_integer(tensor.dtype()) || tensor.shape().rank() > 1)
    return refuse(cat("its ", what, " (input ", i, ") is ", tensor.describe(), ", not a list of integers"));
  Tensor wide = tensor.cast(DType::i64);
  auto elements = wide.as<std::int64_t>();
  return Dims(elements.begin(), elements.end());
}

Result<double> NodeImport::known_number(std::size_t i, std::string_view what) const {
  BUDA_ASSIGN(Tensor tensor, known(i, what));
  if (tensor.size() != 1) return refuse(cat("its ", what, " (input ", i, ") is ", tensor.describe(), ", not a single number"));
  return tensor.dtype() == DType::f32 ? as_double(tensor.as<float>()[0]) : tensor.cast(DType::f64).as<double>()[0];
}

const ::onnx::AttributeProto* NodeImport::find(std::string_view name) const {
  for (const auto& attribute : node_->attribute())
    if (attribute.name() == name) return &attribute;
  return nullptr;
}

bool NodeImport::has(std::string_view name) const { return find(name) != nullptr; }

std::int64_t NodeImport::integer(std::string_view name, std::int64_t otherwise) const {
  const auto* a = find(name);
  return a == nullptr ? otherwise : a->i();
}

double NodeImport::real(std::string_view name, double otherwise) const {
  const auto* a = find(name);
  return a == nullptr ? otherwise : as_double(a->f());
}

NodeImport::Dims NodeImport::integers(std::string_view name) const {
  const auto* a = find(name);
  return a == nullptr ? Dims() : Dims(a->ints().begin(), a->ints().end());
}

std::string NodeImport::text(std::string_view name, std::string_view otherwise) const {
  const auto* a = find(name);
  return std::string(a == nullptr ? otherwise : std::string_view(a->s()));
}

std::vector<float> NodeImport::floats(std::string_view name) const {
  const auto* a = find(name);
  return a == nullptr ? std::vector<float>() : std::vector<float>(a->floats().begin(), a->floats().end());
}

std::vector<std::string> NodeImport::texts(std::string_view name) const {
  const auto* a = find(name);
  return a == nullptr ? std::vector<std::string>() : std::vector<std::string>(a->strings().begin(), a->strings().end());
}

Result<Tensor> NodeImport::read_attribute(std::string_view name, Result<Tensor> read) const {
  if (read) return read;
  Failure failure;
  for (const Diagnostic& d : read.failure().diagnostics()) {
    Diagnostic refused = refuse(cat("attribute '", name, "' ", d.message));
    refused.hint = d.hint;
    failure.add(std::move(refused));
  }
  return failure;
}

Result<Tensor> NodeImport::tensor(std::string_view name) const {
  const auto* a = find(name);
  if (a == nullptr || !a->has_t()) return refuse(cat("attribute '", name, "' is missing"));
  return read_attribute(name, TensorReader(model_->path, host_->fs()).read(a->t()));
}

const NarrowType* NodeImport::narrow_attribute(std::string_view name) const {
  const auto* a = find(name);
  return a == nullptr ? nullptr : narrow_type(a->t().data_type());
}

Result<Tensor> NodeImport::sparse_tensor(std::string_view name) const {
  const auto* a = find(name);
  if (a == nullptr || !a->has_sparse_tensor()) return refuse(cat("attribute '", name, "' is missing"));
  return read_attribute(name, TensorReader(model_->path, host_->fs()).read(a->sparse_tensor()));
}

Result<const ::onnx::GraphProto*> NodeImport::subgraph(std::string_view name) const {
  const auto* a = find(name);
  if (a == nullptr || !a->has_g()) return refuse(cat("attribute '", name, "' is missing"));
  return &a->g();
}

Result<std::vector<Operand>> NodeImport::import_subgraph(const ::onnx::GraphProto& body, std::vector<Operand> arguments,
                                                         std::string_view step) {
  if (static_cast<std::size_t>(body.input_size()) != arguments.size())
    return refuse(cat("its subgraph has ", body.input_size(), " inputs, and is given ", arguments.size()));
  return bodies_->import_subgraph(body, std::move(arguments), *scope_, cat(name_, '.', step));
}

Result<std::int64_t> NodeImport::axis(std::int64_t axis, std::size_t rank) const { return frontend::axis_of(*this, axis, rank); }

Result<NodeImport::Dims> NodeImport::axes(const Dims& axes, std::size_t rank) const { return frontend::axes_of(*this, axes, rank); }

Result<Shape> NodeImport::as_matrix(const Shape& shape, std::int64_t axis) const { return frontend::as_matrix(*this, shape, axis); }

Result<std::optional<NodeImport::Dims>> NodeImport::axes_argument(std::size_t i) const {
  if (has("axes")) return std::optional<Dims>(integers("axes"));
  if (!has_input(i)) return std::optional<Dims>();
  BUDA_ASSIGN(Dims axes, known_integers(i, "axes"));
  return std::optional<Dims>(std::move(axes));
}

ops::Builder& NodeImport::builder_named(std::string_view name) {
  pending_ = builder_->graph().fresh_name(name);
  return builder_->named(pending_);
}

ops::Builder& NodeImport::result() { return builder_named(name_); }

ops::Builder& NodeImport::step(std::string_view suffix) { return builder_named(cat(name_, '.', suffix)); }

const std::string& NodeImport::output_name(std::size_t i) const { return node_->output(static_cast<int>(i)); }

std::size_t NodeImport::output_count() const { return static_cast<std::size_t>(node_->output_size()); }

bool NodeImport::has_output(std::size_t i) const { return i < output_count() && !output_name(i).empty(); }

void NodeImport::output(Ref value, std::size_t i) {
  if (has_output(i)) values_->define(output_name(i), value);
}

void NodeImport::output(Operand value, std::size_t i) {
  if (has_output(i)) values_->define(output_name(i), std::move(value));
}

void NodeImport::output_known(Tensor tensor, std::size_t i, const NarrowType* narrow) {
  if (!has_output(i)) return;
  auto value = known_value(output_name(i), std::move(tensor), Role::constant, node_->name());
  value->narrow = narrow;
  output(std::move(value), i);
}

void NodeImport::output_narrow(Ref value, const NarrowType* narrow) {
  if (!has_output(0)) return;
  auto operand = computed_value(output_name(0), value);
  operand->narrow = narrow;
  output(std::move(operand));
}

void NodeImport::output_input(std::size_t input, std::size_t i) { output(operand(input), i); }

Result<void> NodeImport::refuse_outputs_from(std::size_t i, std::string_view why) const {
  for (std::size_t k = i; k < output_count(); ++k)
    if (has_output(k)) return refuse(cat("its result ", k, " ('", output_name(k), "') ", why));
  return success();
}

Diagnostic NodeImport::refuse(std::string reason) const { return node_error(*model_, *node_, "ON040", std::move(reason)); }

}  // namespace buda::onnx_frontend
