// SPDX-License-Identifier: Apache-2.0
// Access to one call.
#include "call.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/known_argument.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>

namespace buda::torchscript {
namespace {

const Value kMissing{Nothing{}};

// "torch.add_" and "ops.aten.add_" are "add_".
std::string_view short_name(std::string_view op) { return op.substr(op.rfind('.') + 1); }

}  // namespace

std::string Place::text() const { return cat(file, ':', line); }

std::string wrong_argument(std::string_view name, const Value& value, std::string_view wanted) {
  return cat("its argument '", name, "' is ", value.describe(), ", not ", wanted);
}

Call::Call(ImportState& state, const Place& place, std::string op, std::vector<Value> arguments)
    : state_(&state), place_(&place), op_(std::move(op)), arguments_(std::move(arguments)) {
  std::string_view name = short_name(op_);
  while (name.ends_with('_')) name.remove_suffix(1);
  while (name.starts_with('_')) name.remove_prefix(1);
  node_ = place.module.empty() ? std::string(name) : cat(place.module, '.', name);
}

bool Call::in_place() const {
  std::string_view name = short_name(op_);
  return name.ends_with('_') && !name.ends_with("__");
}

Result<void> Call::bind(const OpImporter& importer, std::vector<std::pair<std::string, Value>> named) {
  importer_ = &importer;
  auto parameters = split(importer.parameters, ' ');
  if (arguments_.size() > parameters.size())
    return refuse(cat("has ", arguments_.size(), " arguments; the ", parameters.size(), " that are known are ", join(parameters, ", ")));
  arguments_.resize(parameters.size(), kMissing);
  for (auto& [name, value] : named) {
    auto it = std::find(parameters.begin(), parameters.end(), std::string_view(name));
    if (it != parameters.end()) {
      arguments_[static_cast<std::size_t>(it - parameters.begin())] = std::move(value);
    } else if (!value.none() && name != "layout" && name != "device" && name != "pin_memory" && name != "memory_format") {
      return refuse(cat("has an argument '", name, "', which is not supported"));
    }
  }
  return success();
}

// ---- arguments

const Value& Call::operator[](std::string_view name) const {
  std::size_t i = 0;
  for (std::string_view parameter : split(importer_->parameters, ' ')) {
    if (parameter == name) return i < arguments_.size() ? arguments_[i] : kMissing;
    ++i;
  }
  return kMissing;
}

Ref Call::current(TensorCell& cell) {
  if (cell.base == nullptr) return state_->store.ref(cell.value);
  const std::uint64_t now = cell.root().version;
  if (cell.version != now) {
    const Ref whole = current(*cell.base);
    cell.value = frontend::computed_value(node_, cell.view.take(*this, whole));
    cell.version = now;
  }
  return state_->store.ref(cell.value);
}

Ref Call::value_ref(const Value& value) {
  if (const auto* cell = value.as<Cell>()) return current(**cell);
  if (const auto* b = value.as<bool>()) return constant(Tensor::scalar(Boolean{static_cast<std::uint8_t>(*b)}));
  if (const auto* i = value.as<std::int64_t>()) return constant(Tensor::scalar(*i));
  if (const auto* d = value.as<double>()) return constant(Tensor::scalar(static_cast<float>(*d)));
  return {};
}

Ref Call::ref(std::string_view name) { return value_ref((*this)[name]); }

Result<graph::ValueType> Call::type(std::string_view name) {
  const Value& value = (*this)[name];
  if (const auto* cell = value.as<Cell>(); cell != nullptr && (*cell)->base == nullptr && (*cell)->value->tensor) {
    const Tensor& tensor = *(*cell)->value->tensor;
    return graph::ValueType{.dtype = tensor.dtype(), .shape = tensor.shape(), .format = {}};
  }
  if (value.none()) return refuse(cat("its argument '", name, "' is missing"));
  if (const auto* type = state_->builder.graph().type(value_ref(value))) return *type;
  return refuse(wrong_argument(name, value, "a tensor"));
}

Result<Shape> Call::shape(std::string_view name) {
  BUDA_ASSIGN(auto t, type(name));
  return t.shape;
}

Result<DType> Call::dtype(std::string_view name) {
  BUDA_ASSIGN(auto t, type(name));
  return t.dtype;
}

Result<Shape> Call::shape_of(Ref value) const {
  if (const auto* type = state_->builder.graph().type(value)) return type->shape;
  return refuse("a value that it uses has no type");
}

Result<std::vector<Ref>> Call::refs(std::string_view name) {
  const auto* list = (*this)[name].as<SequenceRef>();
  if (list == nullptr) return refuse(wrong_argument(name, (*this)[name], "a list of tensors"));
  std::vector<Ref> out;
  for (const Value& item : (*list)->items) {
    if (!item.is<Cell>()) return refuse(wrong_argument(name, item, "a tensor"));
    out.push_back(value_ref(item));
  }
  return out;
}

const Tensor* Call::known_or_null(const Value& value) {
  const auto* cell = value.as<Cell>();
  if (cell == nullptr) return nullptr;
  if ((*cell)->base != nullptr) current(**cell);
  return state_->store.tensor((*cell)->value);
}

Result<Tensor> Call::known(std::string_view name) {
  const Value& value = (*this)[name];
  const auto* cell = value.as<Cell>();
  if (cell == nullptr) return refuse(wrong_argument(name, value, "a tensor"));
  if ((*cell)->base != nullptr) current(**cell);
  return frontend::known_argument(*this, state_->store, (*cell)->value, cat("argument '", name, '\''));
}

Result<std::int64_t> Call::integer_of(const Value& value, std::string_view what) {
  if (const auto* i = value.as<std::int64_t>()) return *i;
  if (const auto* b = value.as<bool>()) return *b ? 1 : 0;
  if (const auto* cell = value.as<Cell>()) {
    if ((*cell)->base != nullptr) current(**cell);
    BUDA_ASSIGN(Tensor t, frontend::known_argument(*this, state_->store, (*cell)->value, cat("argument '", what, '\'')));
    if (t.size() != 1) return refuse(cat("its argument '", what, "' is ", t.describe(), ", not one number"));
    return t.cast(DType::i64).as<std::int64_t>()[0];
  }
  return refuse(wrong_argument(what, value, "an integer"));
}

Result<double> Call::real_of(const Value& value, std::string_view what) {
  if (const auto* d = value.as<double>()) return *d;
  if (const auto* cell = value.as<Cell>()) {
    if ((*cell)->base != nullptr) current(**cell);
    BUDA_ASSIGN(Tensor t, frontend::known_argument(*this, state_->store, (*cell)->value, cat("argument '", what, '\'')));
    if (t.size() != 1) return refuse(cat("its argument '", what, "' is ", t.describe(), ", not one number"));
    return t.cast(DType::f64).as<double>()[0];
  }
  BUDA_ASSIGN(auto i, integer_of(value, what));
  return static_cast<double>(i);
}

Result<std::int64_t> Call::integer(std::string_view name) { return integer_of((*this)[name], name); }

Result<std::int64_t> Call::integer_or(std::string_view name, std::int64_t standard) {
  if (!has(name)) return standard;
  return integer(name);
}

Result<double> Call::real_or(std::string_view name, double standard) {
  if (!has(name)) return standard;
  return real_of((*this)[name], name);
}

Result<bool> Call::flag_or(std::string_view name, bool standard) {
  BUDA_ASSIGN(auto i, integer_or(name, standard ? 1 : 0));
  return i != 0;
}

Result<std::string> Call::text_or(std::string_view name, std::string standard) {
  if (!has(name)) return standard;
  if (const auto* text = (*this)[name].as<std::string>()) return *text;
  return refuse(wrong_argument(name, (*this)[name], "a text"));
}

Result<Dims> Call::integers(std::string_view name) {
  const Value& value = (*this)[name];
  const auto* list = value.as<SequenceRef>();
  Dims out;
  if (list == nullptr) {
    BUDA_ASSIGN(auto one, integer_of(value, name));
    out.push_back(one);
    return out;
  }
  for (const Value& item : (*list)->items) {
    BUDA_ASSIGN(auto one, integer_of(item, name));
    out.push_back(one);
  }
  return out;
}

Result<Dims> Call::integers_or(std::string_view name, Dims standard) {
  if (!has(name)) return standard;
  return integers(name);
}

Result<Dims> Call::sizes_or(std::string_view name, std::size_t count, std::int64_t standard) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 30;  // so that nothing overflows
  BUDA_ASSIGN(Dims given, integers_or(name, Dims(count, standard)));
  if (given.empty()) given.assign(count, standard);
  if (given.size() == 1) given.resize(count, given[0]);
  if (given.size() != count) return refuse(cat("its argument '", name, "' is ", list_text(given), "; ", count, " numbers are needed"));
  for (auto v : given)
    if (v < 0 || v > kLargest) return refuse(cat("its argument '", name, "' is ", list_text(given), "; 0 to ", kLargest, " is read"));
  return given;
}

Result<std::int64_t> Call::axis_or(std::string_view name, std::int64_t standard, std::size_t rank) {
  BUDA_ASSIGN(auto given, integer_or(name, standard));
  return frontend::axis_of(*this, given, std::max<std::size_t>(rank, 1));
}

// ---- results

ops::Builder& Call::named(std::string_view name) { return state_->builder.named(state_->builder.graph().fresh_name(name)); }
ops::Builder& Call::result() { return named(node_); }
ops::Builder& Call::step(std::string_view suffix) { return named(cat(node_, '.', suffix)); }

Value Call::tensor(Ref value) {
  if (!value.valid()) return Failed{};
  return new_cell(frontend::computed_value(node_, value));
}

Value Call::known_tensor(Tensor tensor) {
  return new_cell(frontend::known_value(node_, std::move(tensor), frontend::Role::constant, node_));
}

Value Call::results(Ref first, std::size_t count) {
  if (!first.valid()) return Failed{};
  std::vector<Value> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(tensor(Ref(first.node, static_cast<std::uint32_t>(i))));
  return tuple_of(std::move(out));
}

Value Call::view(View view) {
  const auto* base = arguments_[0].as<Cell>();
  if (base == nullptr) return Failed{};
  const Ref whole = current(**base);
  const Ref part = view.take(*this, whole);
  if (!part.valid()) return Failed{};
  auto cell = new_cell(frontend::computed_value(node_, part));
  cell->base = *base;
  cell->view = std::move(view);
  cell->version = cell->root().version;
  return cell;
}

Ref Call::cast(Ref value, DType to, std::string_view step_name) {
  const auto* type = state_->builder.graph().type(value);
  if (type == nullptr || type->dtype == to) return value;
  return step(step_name).op("cast", {value}, {{"dtype", std::string(dtype_name(to))}});
}

Ref Call::constant(Tensor tensor) { return step("constant").constant(std::move(tensor)); }

Ref Call::number(double value, DType dtype) { return constant(Tensor::scalar(value).cast(dtype)); }

Diagnostic Call::refuse(std::string reason) const {
  Diagnostic d = state_->archive->error("TS040", cat("node '", node_, "' (", op_, ", ", place_->text(), "): ", reason));
  d.node = node_;
  return d;
}

Result<void> Call::write(const Cell& cell, Ref value) {
  if (!value.valid()) return success();
  TensorCell& root = cell->root();
  // A batch normalisation in training mode counts its batches, of which only a momentum of None makes something.
  if (state_->training && root.state.ends_with("num_batches_tracked")) return success();
  if (!root.state.empty())
    return refuse(
        cat("changes '", root.state, "' of the model, which would be another in the next run; a compiled model keeps its weights"));
  if (cell->base == nullptr) {
    cell->value = frontend::computed_value(node_, value);
    ++cell->version;
    return success();
  }
  if (!cell->view.put) return refuse("changes in place a tensor that repeats elements of another one");
  const Ref whole = current(*cell->base);
  BUDA_TRY(write(cell->base, cell->view.put(*this, whole, value)));
  cell->value = frontend::computed_value(node_, value);
  cell->version = root.version;
  return success();
}

}  // namespace buda::torchscript
