// SPDX-License-Identifier: Apache-2.0
// Rules of operations on quantised tensors. In an operation that is computed, the types of results and of regions are those of the integers
// or of the numbers, so that importers see no quantised types.
#include "quantized_call.hpp"

#include "quantized_type.hpp"

#include <buda/base/text.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

namespace buda::stablehlo {
namespace {

// Results are operands, parts of them, or what is computed by operations inside.
constexpr std::string_view kHandOn[] = {"func.call",
                                        "stablehlo.case",
                                        "stablehlo.composite",
                                        "stablehlo.custom_call",
                                        "stablehlo.get_tuple_element",
                                        "stablehlo.if",
                                        "stablehlo.optimization_barrier",
                                        "stablehlo.tuple",
                                        "stablehlo.while"};

constexpr std::string_view kMoveElements[] = {"stablehlo.bitcast_convert",
                                              "stablehlo.broadcast",
                                              "stablehlo.broadcast_in_dim",
                                              "stablehlo.concatenate",
                                              "stablehlo.constant",
                                              "stablehlo.dynamic_broadcast_in_dim",
                                              "stablehlo.dynamic_gather",
                                              "stablehlo.dynamic_pad",
                                              "stablehlo.dynamic_reshape",
                                              "stablehlo.dynamic_slice",
                                              "stablehlo.dynamic_update_slice",
                                              "stablehlo.gather",
                                              "stablehlo.get_dimension_size",
                                              "stablehlo.pad",
                                              "stablehlo.real_dynamic_slice",
                                              "stablehlo.reshape",
                                              "stablehlo.reverse",
                                              "stablehlo.slice",
                                              "stablehlo.torch_index_select",
                                              "stablehlo.transpose"};

// Of a body: numbers keep their order when they are quantised with one scale.
constexpr std::string_view kCompare[] = {"stablehlo.compare", "stablehlo.maximum", "stablehlo.minimum", "stablehlo.return",
                                         "stablehlo.select"};

template <std::size_t N>
bool is_one_of(std::string_view name, const std::string_view (&names)[N]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

Type stored(const Type& type) {
  Type out = type;
  out.quantized.reset();
  return out;
}

Type expressed(const Type& type) {
  Type out = stored(type);
  if (type.quantized) out.dtype = type.quantized->expressed;
  return out;
}

void change_types(Operation& op, Type (*change)(const Type&)) {
  for (Type& type : op.result_types) type = change(type);
  for (Region& region : op.regions) {
    for (Type& type : region.argument_types) type = change(type);
    for (Operation& inner : region.operations) change_types(inner, change);
  }
}

class QuantizedCall {
 public:
  QuantizedCall(ImportState& state, const Operation& op, std::vector<Value> operands, const std::string& name)
      : state_(&state), op_(&op), operands_(std::move(operands)), name_(name) {}

  Result<std::vector<Value>> compute(const ComputeOperation& inner) {
    BUDA_TRY(check());
    const bool by_integers = is_one_of(op_->name, kMoveElements) || only_compares();
    if (by_integers) BUDA_TRY(check_steps());
    Operation changed = *op_;
    change_types(changed, by_integers ? stored : expressed);
    std::vector<Value> operands = operands_;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (operands[i].quantized && !by_integers) operands[i] = dequantized(operands[i], i);
      operands[i].quantized.reset();
    }
    BUDA_ASSIGN(std::vector<Value> results, inner(changed, std::move(operands)));
    for (std::size_t i = 0; i < results.size(); ++i) {
      const auto& to = op_->result_types[i].quantized;
      if (!to || !results[i].is_tensor()) continue;
      if (!by_integers) results[i] = quantized(results[i], *to, i);
      results[i].quantized = to;
    }
    return results;
  }

 private:
  Diagnostic refuse(std::string reason) const {
    Diagnostic d = state_->module->error("SH040", cat("node '", name_, "' (op type ", op_->name, "): ", reason), op_->line);
    d.node = name_;
    return d;
  }

  Result<void> check() const {
    if (op_->name == "stablehlo.uniform_dequantize" && (operands_.size() != 1 || !operands_[0].quantized))
      return refuse("takes a quantised tensor");
    if (op_->name == "stablehlo.uniform_quantize" && !op_->result_types.empty() && !op_->result_types[0].quantized)
      return refuse(cat("its result has the type ", op_->result_types[0].text, ", which is no quantised type that is supported"));
    return success();
  }

  bool only_compares() const {
    if (op_->regions.empty()) return false;
    return std::all_of(op_->regions.begin(), op_->regions.end(), [](const Region& region) {
      return std::all_of(region.operations.begin(), region.operations.end(),
                         [](const Operation& op) { return is_one_of(op.name, kCompare); });
    });
  }

  // Integers that are moved keep their meaning.
  Result<void> check_steps() const {
    for (const Value& operand : operands_)
      for (const Type& result : op_->result_types)
        if (operand.quantized && result.quantized && !same_steps(*operand.quantized, *result.quantized))
          return refuse(cat("its result has the type ", result.text, ", which is quantised otherwise than an operand"));
    return success();
  }

  Value dequantized(const Value& value, std::size_t i) {
    const QuantizedType& from = *value.quantized;
    const std::string name = operands_.size() == 1 ? name_ : cat(name_, ".operand", i);
    Ref made = frontend::dequantized(*state_->builder, state_->store.ref(value.real), from.steps, from.stored, name);
    if (from.expressed != DType::f32)
      made = named(cat(name, ".cast")).op("cast", {made}, {{"dtype", std::string(dtype_name(from.expressed))}});
    return tensor_value(made);
  }

  // A result that no node computes (that of uniform_quantize) leaves the name of the operation to its integers.
  Value quantized(const Value& value, const QuantizedType& to, std::size_t i) {
    const Ref real = state_->store.ref(value.real);
    const bool has_node = real.valid() && state_->builder->graph().node(real.node).name().starts_with(name_);
    const std::string name = i == 0 && !has_node ? name_ : i == 0 ? cat(name_, ".stored") : cat(name_, ".stored", i);
    Ref made = frontend::quantized(*state_->builder, real, to.steps, to.stored, to.is_narrow ? cat(name, ".wide") : name, "even");
    return tensor_value(to.is_narrow ? named(name).clip(made, to.least, to.most) : made);
  }

  ops::Builder& named(const std::string& name) { return state_->builder->named(state_->builder->graph().fresh_name(name)); }

  ImportState* state_;
  const Operation* op_;
  std::vector<Value> operands_;
  std::string name_;
};

}  // namespace

bool needs_quantized_rule(const Operation& op, const std::vector<Value>& operands) {
  if (is_one_of(op.name, kHandOn)) return false;
  if (op.name == "stablehlo.uniform_quantize" || op.name == "stablehlo.uniform_dequantize") return true;
  return std::any_of(operands.begin(), operands.end(), [](const Value& v) { return v.quantized != nullptr; }) ||
         std::any_of(op.result_types.begin(), op.result_types.end(), [](const Type& t) { return t.quantized != nullptr; });
}

Result<std::vector<Value>> compute_quantized(ImportState& state, const Operation& op, std::vector<Value> operands, const std::string& name,
                                             const ComputeOperation& compute) {
  return QuantizedCall(state, op, std::move(operands), name).compute(compute);
}

}  // namespace buda::stablehlo
