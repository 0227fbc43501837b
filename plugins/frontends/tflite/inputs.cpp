// SPDX-License-Identifier: Apache-2.0
// The inputs of a model: their sizes, and values that the user fixed.
//
// The format marks a size as open and stores one all the same (usually 1), with which its interpreter runs unless it is told another; so
// does this frontend. `--dim INPUT.AXIS=N` gives another, also where the file does not mark the size as open: what depends on it is
// computed anew, and an operator that has the old size built in says so.
#include "model.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/unknown_input.hpp>
#include <buda/plugin/model_source.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <set>

namespace buda::tflite_frontend {
namespace {

class InputResolver {
 public:
  InputResolver(Model& model, const plugin::ImportOptions& options) : model_(&model), options_(&options) {}

  void input(std::int32_t tensor, const std::string& name) {
    const TensorInfo& info = model_->main().tensors[static_cast<std::size_t>(tensor)];
    if (!inputs_.insert(name).second) failure_.add(model_->error("TF032", cat("has two inputs named '", name, "'")));
    if (!info.dtype) {
      refuse(name, cat("has elements of ", info.type_name, "; only numbers and booleans of at most 64 bits are supported"));
      return;
    }
    ModelInput out{static_cast<std::size_t>(tensor), name, info.shape, std::nullopt};
    for (std::size_t axis = 0; axis < info.shape.rank(); ++axis) {
      std::string place = cat(name, '.', axis);
      places_.insert(place);
      if (auto given = options_->dims.find(place); given != options_->dims.end()) out.shape[axis] = given->second;
    }
    if (auto given = options_->input_shapes.find(name); given != options_->input_shapes.end()) {
      if (given->second.shape.rank() != info.shape.rank() || given->second.dtype.value_or(*info.dtype) != *info.dtype) {
        refuse(name, cat("has type ", dtype_name(*info.dtype), " and shape ", info.shape.text(), "; --input-shape gives another type, or ",
                         given->second.shape.text()));
        return;
      }
      out.shape = given->second.shape;
    }
    if (!out.shape.volume()) {
      refuse(name, cat("has the impossible shape ", out.shape.text()));
      return;
    }
    if (auto fixed = options_->values.find(name); fixed != options_->values.end()) fix(info, out, fixed->second);
    model_->pushed.push_back(std::move(out));
  }

  Result<void> finish() {
    for (const auto& [name, value] : options_->dims)
      if (places_.count(name) == 0) unknown(cat("--dim ", name, '=', value), "dimension", name, places_);
    for (const auto& [name, value] : options_->values)
      if (inputs_.count(name) == 0) unknown(cat("--value ", name), "input", name, inputs_);
    for (const auto& [name, shape] : options_->input_shapes)
      if (inputs_.count(name) == 0) unknown(cat("--input-shape ", name), "input", name, inputs_);
    if (!failure_.empty()) return std::move(failure_);
    return success();
  }

 private:
  // The value must be one that the input could have.
  void fix(const TensorInfo& info, ModelInput& input, const Tensor& value) {
    bool fits = value.dtype() == *info.dtype && value.shape().rank() == info.shape.rank();
    for (std::size_t axis = 0; fits && axis < info.shape.rank(); ++axis)
      fits = info.open_axes[axis] || value.shape()[axis] == input.shape[axis];
    if (!fits) {
      refuse(input.name,
             cat("has type ", dtype_name(*info.dtype), " and shape ", input.shape.text(), "; the value given is ", value.describe()));
      return;
    }
    input.shape = value.shape();
    input.value = value;
  }

  void refuse(const std::string& name, std::string_view reason) {
    Diagnostic d = model_->error("TF021", cat("input '", name, "' ", reason));
    d.node = name;
    failure_.add(std::move(d));
  }

  void unknown(std::string_view given, std::string_view what, const std::string& name, const std::set<std::string>& known) {
    failure_.add(frontend::unknown_input("TF022", model_->error("", "").loc, given, what, name, known));
  }

  Model* model_;
  const plugin::ImportOptions* options_;
  std::set<std::string> inputs_;
  std::set<std::string> places_;
  Failure failure_;
};

}  // namespace

Result<void> resolve_inputs(Model& model, const plugin::ImportOptions& options, StateOption states) {
  InputResolver resolver(model, options);
  for (const auto& input : model.entry.inputs) resolver.input(input.tensor, input.name);
  const auto& inputs = model.main().inputs;
  if (states == StateOption::passed)
    for (auto tensor : model.states())
      if (std::find(inputs.begin(), inputs.end(), tensor) == inputs.end())
        resolver.input(tensor, model.main().tensors[static_cast<std::size_t>(tensor)].name);
  return resolver.finish();
}

}  // namespace buda::tflite_frontend
