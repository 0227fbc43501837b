// SPDX-License-Identifier: Apache-2.0
// Attributes against their definition, and the checks that every use of an op begins with.
#include <buda/ops/table/op.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/families.hpp>
#include <buda/ops/table/rules.hpp>

#include <algorithm>

namespace buda::ops {
namespace {

// An integer stands for the real of the same value, and an empty list, whose type no file can tell, for any list.
bool fits(const Attr& given, AttrType wanted) {
  AttrType type = graph::attr_type(given);
  if (type == wanted) return true;
  if (wanted == AttrType::real) return type == AttrType::integer;
  if (type == AttrType::integers)
    return wanted == AttrType::reals || (wanted == AttrType::texts && std::get<std::vector<std::int64_t>>(given).empty());
  return false;
}

Diagnostic attr_error(std::string message) { return input_error("OP002", {}, std::move(message)); }

Diagnostic unknown_attr(const OpDef& def, const std::string& name) {
  std::vector<std::string> known;
  for (const auto& a : def.attrs) known.push_back(a.name);
  Diagnostic d = attr_error(cat("'", def.name, "' has no attribute '", name, "'"));
  if (auto near = nearest_word(name, known)) {
    d.hint = cat("did you mean '", *near, "'?");
  } else {
    d.hint = known.empty() ? cat("'", def.name, "' has no attributes at all") : cat("its attributes: ", join(known, ", "));
  }
  return d;
}

Result<void> check_count(const OpDef& def, std::size_t count) {
  if (count >= def.least_inputs && count <= def.most_inputs) return success();
  std::string wanted = def.most_inputs == kAnyNumber         ? cat("at least ", def.least_inputs)
                       : def.least_inputs == def.most_inputs ? cat(def.least_inputs)
                                                             : cat(def.least_inputs, " to ", def.most_inputs);
  return input_error("OP001", {}, cat("'", def.name, "' takes ", wanted, def.most_inputs == 1 ? " input, not " : " inputs, not ", count));
}

}  // namespace

const AttrDef* OpDef::attr(std::string_view attr_name) const {
  auto it = std::find_if(attrs.begin(), attrs.end(), [&](const AttrDef& a) { return a.name == attr_name; });
  return it == attrs.end() ? nullptr : &*it;
}

const Attr* Attrs::get(std::string_view name) const {
  auto it = given_->find(name);
  if (it != given_->end()) return &it->second;
  const AttrDef* def = def_->attr(name);
  return def != nullptr && def->standard ? &*def->standard : nullptr;
}

Attr Attrs::value(std::string_view name, AttrType type) const { return type == AttrType::real ? Attr(real(name)) : *get(name); }

bool Attrs::boolean(std::string_view name) const {
  const auto* v = std::get_if<bool>(get(name));
  return v != nullptr && *v;
}

std::int64_t Attrs::integer(std::string_view name) const {
  const auto* v = std::get_if<std::int64_t>(get(name));
  return v == nullptr ? 0 : *v;
}

double Attrs::real(std::string_view name) const {
  const Attr* attr = get(name);
  if (const auto* v = std::get_if<double>(attr)) return *v;
  const auto* v = std::get_if<std::int64_t>(attr);
  return v == nullptr ? 0 : static_cast<double>(*v);
}

const std::string& Attrs::text(std::string_view name) const {
  static const std::string none;
  const auto* v = std::get_if<std::string>(get(name));
  return v == nullptr ? none : *v;
}

const std::vector<std::int64_t>& Attrs::integers(std::string_view name) const {
  static const std::vector<std::int64_t> none;
  const auto* v = std::get_if<std::vector<std::int64_t>>(get(name));
  return v == nullptr ? none : *v;
}

std::vector<double> Attrs::reals(std::string_view name) const {
  const Attr* attr = get(name);
  if (const auto* v = std::get_if<std::vector<double>>(attr)) return *v;
  const auto* v = std::get_if<std::vector<std::int64_t>>(attr);
  return v == nullptr ? std::vector<double>() : std::vector<double>(v->begin(), v->end());
}

const std::vector<std::string>& Attrs::texts(std::string_view name) const {
  static const std::vector<std::string> none;
  const auto* v = std::get_if<std::vector<std::string>>(get(name));
  return v == nullptr ? none : *v;
}

Result<void> check_attrs(const OpDef& def, const AttrMap& given) {
  Failure failure;
  for (const auto& [name, value] : given) {
    const AttrDef* attr = def.attr(name);
    if (attr == nullptr) {
      failure.add(unknown_attr(def, name));
    } else if (!fits(value, attr->type)) {
      failure.add(attr_error(cat("attribute '", name, "' of '", def.name, "' is ", graph::attr_type_name(attr->type), ", not ",
                                 graph::attr_type_name(graph::attr_type(value)), ' ', graph::attr_text(value))));
    } else if (const auto* text = std::get_if<std::string>(&value);
               text != nullptr && !attr->choices.empty() &&
               std::find(attr->choices.begin(), attr->choices.end(), *text) == attr->choices.end()) {
      Diagnostic d =
          attr_error(cat("attribute '", name, "' of '", def.name, "' cannot be '", *text, "'; allowed: ", join(attr->choices, ", ")));
      if (auto near = nearest_word(*text, attr->choices)) d.hint = cat("did you mean '", *near, "'?");
      failure.add(std::move(d));
    }
  }
  for (const auto& attr : def.attrs)
    if (!attr.standard && given.find(attr.name) == given.end())
      failure.add(attr_error(cat("'", def.name, "' needs the attribute '", attr.name, "' (", attr.doc, ')')));
  if (!failure.empty()) return failure;
  return success();
}

Result<std::vector<ValueType>> infer(const OpDef& def, std::span<const ValueType> inputs, const AttrMap& attrs) {
  Failure failure;
  if (auto count = check_count(def, inputs.size()); !count) failure.add(std::move(count).failure());
  if (auto checked = check_attrs(def, attrs); !checked) failure.add(std::move(checked).failure());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!tensor_bytes(inputs[i].dtype, inputs[i].shape))
      failure.add(shape_error(cat("input ", i, " has the impossible type ", inputs[i].text())));
  if (!failure.empty()) return failure;
  return def.infer({inputs, Attrs(def, attrs)});
}

Result<std::vector<Tensor>> evaluate(const OpDef& def, std::span<const Tensor> inputs, const AttrMap& attrs, unsigned threads) {
  std::vector<ValueType> types;
  for (const auto& t : inputs) types.push_back({t.dtype(), t.shape(), std::nullopt});
  BUDA_ASSIGN(std::vector<ValueType> outputs, infer(def, types, attrs));
  for (const auto& type : outputs)
    if (!tensor_bytes(type.dtype, type.shape)) return input_error("OP003", {}, cat("the result ", type.text(), " is too large"));
  EvaluateCall call{inputs, outputs, Attrs(def, attrs), std::max(threads, 1u)};
  BUDA_ASSIGN(std::vector<Tensor> results, def.evaluate(call));
  if (def.level == Level::device)
    for (Tensor& result : results) {
      BUDA_ASSIGN(result, after_packer(call.attrs, std::move(result), call.threads));
    }
  return results;
}

double flops(const OpDef& def, std::span<const ValueType> inputs, std::span<const ValueType> outputs, const AttrMap& attrs) {
  return def.flops == nullptr ? 0 : def.flops(inputs, outputs, Attrs(def, attrs));
}

OpDef tensor_level_op(std::string family, std::string name, std::string summary, std::vector<std::string> inputs,
                      std::vector<AttrDef> attrs, decltype(OpDef::infer) infer, decltype(OpDef::evaluate) evaluate,
                      decltype(OpDef::flops) flops) {
  auto count = static_cast<std::uint32_t>(inputs.size());
  return {.name = std::move(name),
          .level = Level::tensor,
          .family = std::move(family),
          .summary = std::move(summary),
          .inputs = std::move(inputs),
          .least_inputs = count,
          .most_inputs = count,
          .attrs = std::move(attrs),
          .infer = infer,
          .evaluate = evaluate,
          .flops = flops};
}

}  // namespace buda::ops
