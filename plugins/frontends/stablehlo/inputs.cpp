// SPDX-License-Identifier: Apache-2.0
// Names are those that Jax gives to arguments and results (jax.arg_info, jax.result_info), else the name of the argument, and "result".
#include "inputs.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/unknown_input.hpp>
#include <buda/frontend/values.hpp>

#include <algorithm>
#include <set>

namespace buda::stablehlo {
namespace {

std::string unique(std::string name, std::set<std::string>& taken) {
  std::string out = name;
  for (int i = 1; !taken.insert(out).second; ++i) out = cat(name, '_', i);
  return out;
}

class InputResolver {
 public:
  InputResolver(const Module& module, const Function& function, const plugin::ImportOptions& options)
      : module_(&module), function_(&function), options_(&options) {}

  Result<std::vector<ModelInput>> run() {
    const Region& body = function_->body();
    std::set<std::string> taken;
    for (std::size_t i = 0; i < body.arguments.size(); ++i) {
      std::string name = frontend::graph_name(function_->argument_text(i, "jax.arg_info"));
      if (name.empty()) name = frontend::graph_name(body.argument_names[i]);
      input(unique(name.empty() ? cat("arg", i) : name, taken), body.argument_types[i]);
    }
    for (const auto& [name, value] : options_->dims)
      if (places_.count(name) == 0) unknown(cat("--dim ", name, '=', value), "dimension", name, places_);
    for (const auto& [name, value] : options_->values)
      if (names_.count(name) == 0) unknown(cat("--value ", name), "input", name, names_);
    for (const auto& [name, shape] : options_->input_shapes)
      if (names_.count(name) == 0) unknown(cat("--input-shape ", name), "input", name, names_);
    if (!failure_.empty()) return std::move(failure_);
    return std::move(inputs_);
  }

 private:
  void input(const std::string& name, const Type& type) {
    if (type.kind != Type::Kind::tensor || !type.dtype)
      return refuse(name, cat("has the type ", type.text, "; only tensors of numbers and booleans are supported"));
    names_.insert(name);
    ModelInput out{name, *type.dtype, type.is_complex, Shape(Dims(type.dims)), std::nullopt};
    for (std::size_t axis = 0; axis < type.dims.size(); ++axis) {
      const std::string place = cat(name, '.', axis);
      places_.insert(place);
      auto given = options_->dims.find(place);
      if (given == options_->dims.end()) continue;
      if (type.dims[axis] != kOpen && type.dims[axis] != given->second)
        return refuse(name, cat("has the type ", type.text, "; --dim ", place, '=', given->second, " gives axis ", axis, " another size"));
      out.shape[axis] = given->second;
    }
    if (auto given = options_->input_shapes.find(name); given != options_->input_shapes.end()) {
      if (!fits(type, given->second.shape, given->second.dtype.value_or(*type.dtype)))
        return refuse(name, cat("has the type ", type.text, "; --input-shape gives ", given->second.shape.text()));
      out.shape = given->second.shape;
    }
    if (auto fixed = options_->values.find(name); fixed != options_->values.end()) {
      if (type.is_complex || !fits(type, fixed->second.shape(), fixed->second.dtype()))
        return refuse(name, cat("has the type ", type.text, "; the value given is ", fixed->second.describe()));
      out.shape = fixed->second.shape();
      out.value = fixed->second;
    }
    for (std::size_t axis = 0; axis < out.shape.rank(); ++axis)
      if (out.shape[axis] == kOpen) {
        refuse(name, cat("has the type ", type.text, ", and the size of axis ", axis, " is open"));
        failure_.diagnostics().back().hint = cat("give the size: --dim ", name, '.', axis, "=N");
        return;
      }
    if (!out.shape.volume()) return refuse(name, cat("has the impossible shape ", out.shape.text()));
    inputs_.push_back(std::move(out));
  }

  static bool fits(const Type& type, const Shape& shape, DType dtype) {
    bool out = dtype == *type.dtype && shape.rank() == type.dims.size();
    for (std::size_t axis = 0; out && axis < shape.rank(); ++axis) out = type.dims[axis] == kOpen || type.dims[axis] == shape[axis];
    return out;
  }

  void refuse(const std::string& name, std::string_view reason) {
    names_.insert(name);
    Diagnostic d = module_->error("SH023", cat("input '", name, "' ", reason), function_->operation->line);
    d.node = name;
    failure_.add(std::move(d));
  }

  void unknown(std::string_view given, std::string_view what, const std::string& name, const std::set<std::string>& known) {
    failure_.add(frontend::unknown_input("SH024", {module_->path}, given, what, name, known));
  }

  const Module* module_;
  const Function* function_;
  const plugin::ImportOptions* options_;
  std::vector<ModelInput> inputs_;
  std::set<std::string> names_;
  std::set<std::string> places_;
  Failure failure_;
};

}  // namespace

Result<std::vector<ModelInput>> resolve_inputs(const Module& module, const Function& function, const plugin::ImportOptions& options) {
  return InputResolver(module, function, options).run();
}

std::vector<std::string> result_names(const Function& function, std::size_t count) {
  std::vector<std::string> out;
  std::set<std::string> taken;
  for (std::size_t i = 0; i < count; ++i) {
    std::string name = frontend::graph_name(function.result_text(i, "jax.result_info"));
    if (name.empty()) name = count == 1 ? "result" : cat("result", i);
    out.push_back(unique(name, taken));
  }
  return out;
}

}  // namespace buda::stablehlo
