// SPDX-License-Identifier: Apache-2.0
// The inputs of a model, and the values of its symbolic dimensions.
#include "model.hpp"

#include "tensor_reader.hpp"

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/plugin/model_source.hpp>
#include <buda/tensor/tensor.hpp>

#include <onnx/onnx_pb.h>

#include <set>

namespace buda::onnx_frontend {
namespace {

class DimResolver {
 public:
  DimResolver(Model& model, const plugin::ImportOptions& options)
      : model_(&model), given_(&options.dims), values_(&options.values), shapes_(&options.input_shapes) {}

  void input(::onnx::ValueInfoProto& value) {
    std::size_t before = failure_.diagnostics().size();
    names_.insert(value.name());
    if (!value.type().has_tensor_type()) {
      refuse(value, "is not a dense tensor; sequences, maps, optionals and sparse tensors are not supported");
      return;
    }
    auto& type = *value.mutable_type()->mutable_tensor_type();
    auto dtype = dtype_of(type.elem_type());
    if (!dtype)
      refuse(value,
             cat("has elements of ", onnx_type_name(type.elem_type()), "; only numbers and booleans of at most 64 bits are supported"));
    if (auto given = shapes_->find(value.name()); given != shapes_->end() && dtype) {
      if (!take_shape(value, *dtype, given->second)) return;
    }
    if (auto fixed = values_->find(value.name()); fixed != values_->end()) {
      if (dtype) fixed_input(value, *dtype, fixed->second);
      return;
    }
    if (!type.has_shape()) {
      refuse(value, "has no shape");
      failure_.diagnostics().back().hint = cat("give it one, for example --input-shape ", value.name(), "=1,3,224,224");
      return;
    }
    Shape shape;
    for (int axis = 0; axis < type.shape().dim_size(); ++axis)
      shape.push_back(input_dim(value.name(), axis, *type.mutable_shape()->mutable_dim(axis)));
    if (failure_.diagnostics().size() != before) return;
    if (!shape.volume()) {
      refuse(value, cat("has the impossible shape ", shape.text()));
      return;
    }
    model_->inputs.push_back({value.name(), *dtype, std::move(shape), {}});
  }

  // Values that are no inputs: dimensions of known names get their values, others stay open.
  void other(::onnx::ValueInfoProto& value) {
    if (!value.type().has_tensor_type() || !value.type().tensor_type().has_shape()) return;
    for (auto& dim : *value.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()) {
      if (!dim.has_dim_param()) continue;
      auto it = given_->find(dim.dim_param());
      if (it != given_->end()) dim.set_dim_value(it->second);
    }
  }

  Result<void> finish() {
    for (const auto& [name, value] : *given_) {
      if (used_.count(name) != 0) continue;
      std::vector<std::string> known(known_.begin(), known_.end());
      Diagnostic d = usage_error("ON022", cat("--dim ", name, '=', value, ": the model has no symbolic dimension '", name, '\''));
      if (auto near = nearest_word(name, known))
        d.hint = cat("did you mean '", *near, "'?");
      else
        d.hint = known.empty() ? "all its dimensions are fixed" : cat("it has: ", join(known, ", "));
      d.loc = model_->error("", "").loc;
      failure_.add(std::move(d));
    }
    for (const auto& [name, value] : *values_) check_name("--value", name);
    for (const auto& [name, shape] : *shapes_) check_name("--input-shape", name);
    if (!failure_.empty()) return std::move(failure_);
    return success();
  }

 private:
  void check_name(std::string_view option, const std::string& name) {
    if (names_.count(name) != 0) return;
    std::vector<std::string> known(names_.begin(), names_.end());
    Diagnostic d = usage_error("ON022", cat(option, ' ', name, ": the model has no input '", name, '\''));
    if (auto near = nearest_word(name, known))
      d.hint = cat("did you mean '", *near, "'?");
    else
      d.hint = known.empty() ? "it has no inputs at all" : cat("it has: ", join(known, ", "));
    d.loc = model_->error("", "").loc;
    failure_.add(std::move(d));
  }

  // The shape that the user gives, in place of one that is open or missing. False, with an error, where it is not one of the input's.
  bool take_shape(::onnx::ValueInfoProto& input, DType dtype, const plugin::InputShape& given) {
    auto& type = *input.mutable_type()->mutable_tensor_type();
    const std::string declared = sizes_text(type.shape());  // which the sizes given replace
    bool fits = given.dtype.value_or(dtype) == dtype;
    if (!type.has_shape())
      for (std::size_t axis = 0; axis < given.shape.rank(); ++axis) type.mutable_shape()->add_dim();
    type.mutable_shape();
    fits = fits && type.shape().dim_size() == static_cast<int>(given.shape.rank());
    for (int axis = 0; fits && axis < type.shape().dim_size(); ++axis) {
      auto& dim = *type.mutable_shape()->mutable_dim(axis);
      const auto size = given.shape[static_cast<std::size_t>(axis)];
      if (dim.has_dim_value() && dim.dim_value() >= 0)
        fits = dim.dim_value() == size;
      else
        dim.set_dim_value(size);
    }
    if (!fits) {
      refuse(input, cat("has type ", dtype_name(dtype), " and shape ", declared, "; --input-shape gives ",
                        given.dtype ? cat(dtype_name(*given.dtype), ' ') : "", given.shape.text()));
    }
    return fits;
  }

  static std::string sizes_text(const ::onnx::TensorShapeProto& shape) {
    std::vector<std::string> sizes;
    for (const auto& dim : shape.dim())
      sizes.push_back(dim.has_dim_value() ? cat(dim.dim_value()) : dim.has_dim_param() ? dim.dim_param() : "?");
    return list_text(sizes);
  }

  // The value must be one that the input could have.
  void fixed_input(::onnx::ValueInfoProto& input, DType dtype, const Tensor& value) {
    auto& type = *input.mutable_type()->mutable_tensor_type();
    const std::string declared = sizes_text(type.shape());
    bool fits = value.dtype() == dtype && (!type.has_shape() || type.shape().dim_size() == static_cast<int>(value.shape().rank()));
    for (std::size_t axis = 0; fits && axis < value.shape().rank(); ++axis) {
      if (!type.has_shape()) type.mutable_shape()->add_dim();
      auto& dim = *type.mutable_shape()->mutable_dim(static_cast<int>(axis));
      if (dim.has_dim_value() && dim.dim_value() >= 0) {
        fits = dim.dim_value() == value.shape()[axis];
        continue;
      }
      // A dimension that it shares with other inputs has the size that it has here, unless it was given.
      if (auto given = given_->find(dim.dim_param()); dim.has_dim_param() && given != given_->end()) {
        used_.insert(given->first);
        fits = given->second == value.shape()[axis];
      }
      dim.set_dim_value(value.shape()[axis]);
    }
    if (!fits) {
      refuse(input, cat("has type ", dtype_name(dtype), " and shape ", declared, "; the value given is ", value.describe()));
      return;
    }
    model_->inputs.push_back({input.name(), dtype, value.shape(), value});
  }

  // A symbolic dimension is reached by its name, and any that is not fixed by "<input>.<axis>".
  std::int64_t input_dim(const std::string& input, int axis, ::onnx::TensorShapeProto_Dimension& dim) {
    if (dim.has_dim_value() && dim.dim_value() >= 0) return dim.dim_value();
    std::string place = cat(input, '.', axis);
    bool named = dim.has_dim_param() && !dim.dim_param().empty();
    std::string name = named ? dim.dim_param() : place;
    known_.insert(name);
    auto it = given_->find(name);
    if (it == given_->end()) it = given_->find(place);
    if (it != given_->end()) {
      used_.insert(it->first);
      dim.set_dim_value(it->second);
      return it->second;
    }
    Diagnostic d =
        model_->error("ON021", named ? cat("input '", input, "': dimension ", axis, " is symbolic ('", name, "') and has no value")
                                     : cat("input '", input, "': dimension ", axis, " is not known"));
    d.node = input;
    d.hint = cat("give it a value, for example --dim ", name, "=1");
    d.data = {{"input", input}, {"axis", cat(axis)}, {"dim", name}};
    failure_.add(std::move(d));
    return 0;
  }

  void refuse(const ::onnx::ValueInfoProto& value, std::string_view reason) {
    Diagnostic d = model_->error("ON021", cat("input '", value.name(), "' ", reason));
    d.node = value.name();
    failure_.add(std::move(d));
  }

  Model* model_;
  const std::map<std::string, std::int64_t>* given_;
  const NamedTensors* values_;
  const std::map<std::string, plugin::InputShape>* shapes_;
  std::set<std::string> names_;  // of inputs
  std::set<std::string> known_;
  std::set<std::string> used_;
  Failure failure_;
};

}  // namespace

Result<void> resolve_inputs(Model& model, const plugin::ImportOptions& options) {
  auto& graph = *model.proto->mutable_graph();
  DimResolver dims(model, options);
  for (auto& value : *graph.mutable_input())
    if (model.initializers.find(value.name()) == model.initializers.end()) dims.input(value);
  for (auto& value : *graph.mutable_output()) dims.other(value);
  for (auto& value : *graph.mutable_value_info()) dims.other(value);
  return dims.finish();
}

}  // namespace buda::onnx_frontend
