// SPDX-License-Identifier: Apache-2.0
// What is asked of a module whichever form it was read from.
#include "module.hpp"

#include "quantized_type.hpp"

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::stablehlo {
namespace {

std::string text_of(const Operation& op, std::string_view list_name, std::size_t i, std::string_view attribute) {
  const Attribute* found = op.attributes.find(list_name);
  const auto* list = found == nullptr ? nullptr : found->as<Attribute::List>();
  if (list == nullptr || i >= list->size()) return {};
  const auto* attributes = (*list)[i].as<Attributes>();
  const Attribute* value = attributes == nullptr ? nullptr : attributes->find(attribute);
  const auto* text = value == nullptr ? nullptr : value->as<std::string>();
  return text == nullptr ? std::string() : *text;
}

void collect(const std::vector<Operation>& operations, std::vector<const Operation*>& out) {
  for (const Operation& op : operations) {
    if (op.name == "func.func") out.push_back(&op);
    if (op.name == "builtin.module")
      for (const Region& region : op.regions) collect(region.operations, out);
  }
}

}  // namespace

bool Type::has_open_sizes() const { return std::find(dims.begin(), dims.end(), kOpen) != dims.end(); }

void Type::set_element(std::string_view element) {
  dtype = element_type(element, is_complex);
  auto parsed = parse_quantized_type(element);
  if (!parsed) return;
  dtype = parsed->stored;
  quantized = std::make_shared<const QuantizedType>(std::move(*parsed));
}

void Type::set_element(const Type& element) {
  dtype = element.dtype;
  is_complex = element.is_complex;
  quantized = element.quantized;
  if (!quantized || !quantized->per_axis) return;
  const auto axis = static_cast<std::size_t>(quantized->steps.axis);
  const auto count = static_cast<std::int64_t>(quantized->steps.scales.size());
  if (axis < dims.size() && (dims[axis] == count || dims[axis] == kOpen)) return;
  dtype.reset();
  quantized.reset();
}

const Attribute* Attributes::find(std::string_view name) const {
  auto it = std::find(names_.begin(), names_.end(), name);
  return it == names_.end() ? nullptr : &values_[static_cast<std::size_t>(it - names_.begin())];
}

void Attributes::set(std::string name, Attribute value) {
  auto it = std::find(names_.begin(), names_.end(), name);
  if (it != names_.end()) {
    values_[static_cast<std::size_t>(it - names_.begin())] = std::move(value);
    return;
  }
  names_.push_back(std::move(name));
  values_.push_back(std::move(value));
}

void Attributes::merge(Attributes others) {
  for (std::size_t i = 0; i < others.names_.size(); ++i) set(std::move(others.names_[i]), std::move(others.values_[i]));
}

std::string Function::argument_text(std::size_t i, std::string_view attribute) const {
  return text_of(*operation, "arg_attrs", i, attribute);
}
std::string Function::result_text(std::size_t i, std::string_view attribute) const {
  return text_of(*operation, "res_attrs", i, attribute);
}

Diagnostic Module::error(std::string code, std::string message, std::uint32_t line) const {
  SourceLoc loc{path};
  loc.line = line;
  return input_error(code, loc, std::move(message));
}

Result<std::map<std::string, Function, std::less<>>> functions_of(const Module& module) {
  std::vector<const Operation*> found;
  collect(module.operations, found);
  std::map<std::string, Function, std::less<>> out;
  for (const Operation* op : found) {
    const Attribute* attribute = op->attributes.find("sym_name");
    const auto* name = attribute == nullptr ? nullptr : attribute->as<std::string>();
    if (name == nullptr || op->regions.size() > 1)
      return module.error("SH020", "has a function without a name or with several bodies", op->line);
    Function function{*name, op, true};
    if (const Attribute* visibility = op->attributes.find("sym_visibility"))
      if (const auto* text = visibility->as<std::string>()) function.is_public = *text == "public" || text->empty();
    if (!out.emplace(*name, function).second) return module.error("SH020", cat("has two functions named '", *name, '\''), op->line);
  }
  return out;
}

std::optional<DType> element_type(std::string_view text, bool& is_complex) {
  is_complex = false;
  if (text.starts_with("complex<") && text.ends_with(">")) {
    bool nested = false;
    auto part = element_type(trim(text.substr(8, text.size() - 9)), nested);
    is_complex = true;
    return part && !nested && (*part == DType::f32 || *part == DType::f64) ? part : std::nullopt;
  }
  static constexpr std::pair<std::string_view, DType> kTypes[] = {
      {"i1", DType::boolean}, {"i8", DType::i8},     {"si8", DType::i8},   {"ui8", DType::u8},    {"i16", DType::i16}, {"si16", DType::i16},
      {"ui16", DType::u16},   {"i32", DType::i32},   {"si32", DType::i32}, {"ui32", DType::u32},  {"i64", DType::i64}, {"si64", DType::i64},
      {"ui64", DType::u64},   {"index", DType::i64}, {"f16", DType::f16},  {"bf16", DType::bf16}, {"f32", DType::f32}, {"f64", DType::f64}};
  for (const auto& [name, dtype] : kTypes)
    if (text == name) return dtype;
  return std::nullopt;
}

}  // namespace buda::stablehlo
