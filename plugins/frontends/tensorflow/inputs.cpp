// SPDX-License-Identifier: Apache-2.0
// The inputs of a model: their types and sizes, and values that the user fixed.
//
// A graph leaves the size of a batch open, older ones every size: --dim INPUT.AXIS=N gives one, --input-shape all.
#include "model.hpp"
#include "tensors.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/unknown_input.hpp>
#include <buda/frontend/values.hpp>
#include <buda/tensor/tensor.hpp>

#include <set>

namespace buda::tensorflow_frontend {
namespace {

constexpr std::int64_t kOpen = -1;

class InputResolver {
 public:
  InputResolver(Model& model, const plugin::ImportOptions& options) : model_(&model), options_(&options) {}

  Result<void> run() {
    for (const Terminal& t : model_->inputs) input(t);
    for (const auto& [name, value] : options_->dims)
      if (places_.count(name) == 0) unknown(cat("--dim ", name, '=', value), "dimension", name, places_);
    for (const auto& [name, value] : options_->values)
      if (names_.count(name) == 0) unknown(cat("--value ", name), "input", name, names_);
    for (const auto& [name, shape] : options_->input_shapes)
      if (names_.count(name) == 0) unknown(cat("--input-shape ", name), "input", name, names_);
    if (!failure_.empty()) return std::move(failure_);
    return success();
  }

 private:
  void input(const Terminal& t) {
    const std::string name = frontend::graph_name(t.name);
    if (!names_.insert(name).second) return refuse(name, "is there twice");
    auto given = options_->input_shapes.find(name);
    auto fixed = options_->values.find(name);
    auto dtype = t.has_type ? dtype_of(t.type) : fixed != options_->values.end() ? std::optional(fixed->second.dtype()) : DType::f32;
    if (given != options_->input_shapes.end() && given->second.dtype) {
      if (t.has_type && dtype != given->second.dtype)
        return refuse(name, cat("has type ", type_name(t.type), "; --input-shape gives another"));
      dtype = given->second.dtype;
    }
    if (!dtype) return refuse(name, cat("has elements of ", type_name(t.type), "; only numbers and booleans are supported"));
    ModelInput out{name, t.value, *dtype, {}, std::nullopt};
    bool known = !t.shape.unknown_rank();
    if (known)
      for (const auto& dim : t.shape.dim()) out.shape.push_back(dim.size() < 0 ? kOpen : dim.size());
    const Shape declared = out.shape;
    for (std::size_t axis = 0; axis < out.shape.rank(); ++axis) {
      const std::string place = cat(name, '.', axis);
      places_.insert(place);
      auto size = options_->dims.find(place);
      if (size == options_->dims.end()) continue;
      if (declared[axis] != kOpen && declared[axis] != size->second)
        return refuse(name,
                      cat("has the shape ", text(declared), "; --dim ", place, '=', size->second, " gives axis ", axis, " another size"));
      out.shape[axis] = size->second;
    }
    if (given != options_->input_shapes.end()) {
      if (known && !fits(declared, given->second.shape))
        return refuse(name, cat("has the shape ", text(declared), "; --input-shape gives ", given->second.shape.text()));
      out.shape = given->second.shape;
      known = true;
    }
    if (fixed != options_->values.end()) {
      if (fixed->second.dtype() != *dtype || (known && !fits(declared, fixed->second.shape())))
        return refuse(
            name, cat("has type ", dtype_name(*dtype), " and shape ", text(declared), "; the value given is ", fixed->second.describe()));
      out.shape = fixed->second.shape();
      out.fixed = fixed->second;
      known = true;
    }
    if (!known) {
      refuse(name, "has no shape in the file");
      failure_.diagnostics().back().hint = cat("give one: --input-shape ", name, "=1,224,224,3");
      return;
    }
    add(std::move(out), declared);
  }

  void add(ModelInput input, const Shape& declared) {
    std::vector<std::string> open;
    for (std::size_t axis = 0; axis < input.shape.rank(); ++axis)
      if (input.shape[axis] == kOpen) open.push_back(cat("--dim ", input.name, '.', axis, "=1"));
    if (!open.empty()) {
      refuse(input.name, cat("has the shape ", text(declared), ", of which sizes are open"));
      failure_.diagnostics().back().hint = cat("give them: ", join(open, " "));
    } else if (!input.shape.volume()) {
      refuse(input.name, cat("has the impossible shape ", input.shape.text()));
    } else {
      model_->pushed.push_back(std::move(input));
    }
  }

  static bool fits(const Shape& declared, const Shape& given) {
    bool out = declared.rank() == given.rank();
    for (std::size_t axis = 0; out && axis < declared.rank(); ++axis) out = declared[axis] == kOpen || declared[axis] == given[axis];
    return out;
  }

  static std::string text(const Shape& shape) {
    std::vector<std::string> sizes;
    for (auto size : shape) sizes.push_back(size == kOpen ? "?" : cat(size));
    return cat('[', join(sizes, ", "), ']');
  }

  void refuse(const std::string& name, std::string_view reason) {
    Diagnostic d = model_->error("GF024", cat("input '", name, "' ", reason));
    d.node = name;
    failure_.add(std::move(d));
  }

  void unknown(std::string_view given, std::string_view what, const std::string& name, const std::set<std::string>& known) {
    failure_.add(frontend::unknown_input("GF025", model_->error("", "").loc, given, what, name, known));
  }

  Model* model_;
  const plugin::ImportOptions* options_;
  std::set<std::string> names_, places_;
  Failure failure_;
};

}  // namespace

Result<void> resolve_inputs(Model& model, const plugin::ImportOptions& options) { return InputResolver(model, options).run(); }

}  // namespace buda::tensorflow_frontend
