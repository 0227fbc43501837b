// SPDX-License-Identifier: Apache-2.0
// Inputs, by the types that the code states for them.
#include "inputs.hpp"

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <set>

namespace buda::torchscript {
namespace {

class InputMaker {
 public:
  InputMaker(ImportState& state, const plugin::ImportOptions& options) : state_(state), options_(options) {}

  // Nothing where a parameter keeps its standard value.
  Value parameter(const Parameter& p) {
    if (is_tensor(p.type)) return given(p.name) ? tensor(p.name) : missing(p);
    const std::string outer = p.type.kind == Expr::Kind::subscript ? text_of(p.type.children[0]) : text_of(p.type);
    if (outer == "List" || outer == "Tuple" || outer == "Dict") return collection(p, outer);
    if (outer == "int" || outer == "float" || outer == "bool") return number(p, outer);
    if (p.standard || outer == "Optional") return Nothing{};
    refuse(p.name, cat("is of type ", text_of(p.type), ", which is not supported"));
    return Failed{};
  }

  Result<void> finish() {
    for (const auto& [name, dim] : options_.dims)
      unknown(cat("--dim ", name, '=', dim, ": the archive has no symbolic dimensions"),
              "give the shape of the whole input: --input-shape NAME=1,3,224,224");
    for (const auto& [name, shape] : options_.input_shapes) check_name("--input-shape", name);
    for (const auto& [name, value] : options_.values) check_name("--value", name);
    if (!failure_.empty()) return std::move(failure_);
    return success();
  }

 private:
  static bool is_tensor(const Expr& type) {
    if (type.kind == Expr::Kind::subscript && text_of(type.children[0]) == "Optional") return is_tensor(type.children[1]);
    return type.kind == Expr::Kind::name ? type.text == "Tensor" : type.kind == Expr::Kind::none;
  }
  static bool is_optional(const Parameter& p) {
    return p.standard.has_value() || (p.type.kind == Expr::Kind::subscript && text_of(p.type.children[0]) == "Optional");
  }
  bool given(const std::string& name) const { return options_.input_shapes.count(name) != 0 || options_.values.count(name) != 0; }

  Value missing(const Parameter& p) {
    names_.insert(p.name);
    if (is_optional(p)) return Nothing{};
    refuse(p.name, "has no shape in the archive",
           cat("give it: --input-shape ", p.name, "=1,3,224,224 (or =1,128:I64, with an element type)"));
    return Failed{};
  }

  Value tensor(const std::string& name) {
    names_.insert(name);
    graph::ValueType type{.dtype = DType::f32, .shape = {}, .format = {}};
    auto shape = options_.input_shapes.find(name);
    auto value = options_.values.find(name);
    if (shape != options_.input_shapes.end()) {
      type.shape = shape->second.shape;
      type.dtype = shape->second.dtype.value_or(value != options_.values.end() ? value->second.dtype() : DType::f32);
    }
    if (value != options_.values.end()) {
      const Tensor& fixed = value->second;
      if (shape != options_.input_shapes.end() && (fixed.shape() != type.shape || fixed.dtype() != type.dtype))
        refuse(name, cat("has type ", dtype_name(type.dtype), " and shape ", type.shape.text(), "; the value given is ", fixed.describe()));
      type.shape = fixed.shape();
      type.dtype = fixed.dtype();
    }
    if (!type.shape.volume()) {
      refuse(name, cat("has the impossible shape ", type.shape.text()));
      return Failed{};
    }
    Ref input = state_.builder.input(name, type.shape, type.dtype);
    if (!input.valid()) return Failed{};
    state_.builder.node(input).origins = {{state_.archive->file, name}};
    if (value != options_.values.end()) return new_cell(frontend::known_value(name, value->second, frontend::Role::constant, name));
    return new_cell(frontend::computed_value(name, input));
  }

  // Whether the options name it, or something in it.
  bool given_within(const std::string& name) const {
    const std::string prefix = cat(name, '.');
    auto names_one = [&](const auto& options) {
      auto it = options.lower_bound(prefix);
      return it != options.end() && it->first.starts_with(prefix);
    };
    return given(name) || names_one(options_.input_shapes) || names_one(options_.values);
  }

  // The keys of a dictionary, which those who give its items chose. Keys of tensors may have dots.
  std::set<std::string> keys(const std::string& prefix, bool of_tensors) const {
    std::set<std::string> out;
    auto take = [&](const auto& options) {
      for (auto it = options.lower_bound(prefix); it != options.end() && it->first.starts_with(prefix); ++it)
        out.insert(it->first.substr(prefix.size(), of_tensors ? std::string::npos : it->first.find('.', prefix.size()) - prefix.size()));
    };
    take(options_.input_shapes);
    take(options_.values);
    return out;
  }

  // A list, tuple or dictionary of what was given, "x.0", "x.1" or "x.KEY"; these may be such, too ("x.0.1").
  Value collection(const Parameter& p, const std::string& outer) {
    const std::string prefix = cat(p.name, '.');
    if (!given_within(p.name)) {
      const std::string first = cat(prefix, outer == "Dict" ? "KEY" : "0");
      names_.insert(first);
      if (p.standard) return Nothing{};
      refuse(p.name, cat("is a ", text_of(p.type), ", whose tensors have no shapes in the archive"),
             cat("give them: --input-shape ", first, "=1,3,224,224, and so on"));
      return Failed{};
    }
    std::vector<Expr> types(1);  // without one: tensors
    if (p.type.kind == Expr::Kind::subscript) {
      const Expr& inside = p.type.children[1];
      types = inside.kind == Expr::Kind::tuple ? inside.children : std::vector<Expr>{inside};
    }
    auto item = [&](const std::string& name, const Expr& type) { return parameter({cat(prefix, name), type, std::nullopt}); };
    if (outer == "Dict") {
      auto out = std::make_shared<Mapping>();
      for (const std::string& key : keys(prefix, is_tensor(types.back()))) out->items.emplace_back(Value(key), item(key, types.back()));
      return out;
    }
    std::vector<Value> items;
    if (outer == "Tuple") {
      for (std::size_t i = 0; i < types.size(); ++i) items.push_back(item(cat(i), types[i]));
      return tuple_of(std::move(items));
    }
    while (given_within(cat(prefix, items.size()))) items.push_back(item(cat(items.size()), types[0]));
    return list_of(std::move(items));
  }

  // A number is known, as it decides about the program.
  Value number(const Parameter& p, const std::string& type) {
    names_.insert(p.name);
    auto value = options_.values.find(p.name);
    if (value == options_.values.end()) {
      if (p.standard) return Nothing{};
      refuse(p.name, cat("is a number (", type, "), which decides about the program"),
             cat("give it: --value ", p.name, "=FILE, with one number"));
      return Failed{};
    }
    if (value->second.size() != 1) {
      refuse(p.name, cat("is one number; the value given is ", value->second.describe()));
      return Failed{};
    }
    const double real = value->second.cast(DType::f64).as<double>()[0];
    const std::int64_t integer = value->second.cast(DType::i64).as<std::int64_t>()[0];
    if (type == "float") return real;
    if (type == "bool") return integer != 0;
    return integer;
  }

  void refuse(const std::string& name, std::string_view reason, std::string hint = {}) {
    Diagnostic d = state_.archive->error("TS021", cat("input '", name, "' ", reason));
    d.node = name;
    d.hint = std::move(hint);
    failure_.add(std::move(d));
  }

  void check_name(std::string_view option, const std::string& name) {
    if (names_.count(name) != 0) return;
    std::vector<std::string> known(names_.begin(), names_.end());
    auto near = nearest_word(name, known);
    unknown(cat(option, ' ', name, ": the model has no input '", name, '\''), near            ? cat("did you mean '", *near, "'?")
                                                                              : known.empty() ? "it has none"
                                                                                              : cat("it has: ", join(known, ", ")));
  }

  void unknown(std::string message, std::string hint) {
    Diagnostic d = usage_error("TS022", std::move(message));
    d.loc = state_.archive->error("", "").loc;
    d.hint = std::move(hint);
    failure_.add(std::move(d));
  }

  ImportState& state_;
  const plugin::ImportOptions& options_;
  std::set<std::string> names_;
  Failure failure_;
};

}  // namespace

Result<std::vector<Value>> make_inputs(ImportState& state, const Function& method, const plugin::ImportOptions& options) {
  InputMaker maker(state, options);
  std::vector<Value> out;
  std::size_t last_given = 0;
  for (std::size_t i = 1; i < method.parameters.size(); ++i) {
    out.push_back(maker.parameter(method.parameters[i]));
    // Standard values that are no None can only be left at the end.
    const auto& standard = method.parameters[i].standard;
    const bool standing = out.back().none() && standard && standard->kind != Expr::Kind::none;
    if (!standing) last_given = i;
    if (standing) continue;
  }
  BUDA_TRY(maker.finish());
  out.resize(last_given);
  return out;
}

}  // namespace buda::torchscript
