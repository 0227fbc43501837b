// SPDX-License-Identifier: Apache-2.0
// The table of device ops, and the definitions that follow from it.
#include <buda/ops/table/device_op.hpp>

#include <buda/ops/elementwise/unary_evaluation.hpp>
#include <buda/ops/table/device_attribute.hpp>
#include <buda/ops/table/registry.hpp>
#include <buda/ops/table/rules.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace buda::ops {
namespace {

constexpr std::string_view kBinaryNotes = "transpose is allowed on input 0, if the device supports it. Tiles of both inputs have one size.";
constexpr std::string_view kQuantNotes =
    "Results are rounded and saturate. In a fused op, where operand 1 is dest, operand 0 holds the scales.";
constexpr std::string_view kCopyNotes =
    "Most often there to change blocks, formats or chips, or to buffer data of one input while another is computed. transpose is allowed "
    "on its input.";
constexpr std::string_view kApproximateNotes = "approximate_mode computes it faster and less exactly.";

// What the matrix unit makes of infinities (docs/internals/special-values.md).
constexpr std::array<std::string_view, 2> kOfMatrixUnit = {"masks", "orders"};

// The attributes that the op at tensor level has for those of the device op.
AttrMap tensor_attributes(const DeviceOp& op, const AttrMap& given) {
  AttrMap out;
  for (const OwnAttribute& own : op.attributes) {
    if (own.tensor_op_name.empty()) continue;
    auto value = given.find(own.key);
    const auto& standard = find_device_attribute(own.key)->standard;
    if (value != given.end() || standard) out.emplace(own.tensor_op_name, value != given.end() ? value->second : *standard);
  }
  return out;
}

Result<std::vector<Tensor>> evaluate_as_tensor_op(const EvaluateCall& call) {
  const DeviceOp& op = *find_device_op(call.attrs.definition().name);
  const OpDef& meaning = *standard_ops().find(Level::tensor, op.tensor_op);
  AttrMap attrs = tensor_attributes(op, call.attrs.given());
  for (std::string_view name : kOfMatrixUnit)
    if (meaning.attr(name) != nullptr) attrs.insert_or_assign(std::string(name), true);
  return meaning.evaluate({call.inputs, call.outputs, Attrs(meaning, attrs), call.threads});
}

Result<std::vector<ValueType>> infer_elementwise(const InferCall& call) {
  BUDA_ASSIGN(DType dtype, common_dtype(call.inputs, Accepts::floats));
  BUDA_ASSIGN(Shape shape, common_device_shape(call.inputs));
  if (call.inputs.size() == 1) return like_first(call);
  return one(dtype, std::move(shape));
}

OpDef definition(const DeviceOp& op) {
  const OpClassInfo& of_class = class_info(op.op_class);
  const bool binary = op.op_class == OpClass::binary;
  OpDef def;
  def.name = op.name;
  def.level = Level::device;
  def.family = binary ? "eltwise_binary" : "eltwise_unary";
  def.summary = op.meaning.substr(0, op.meaning.size() - 1);
  def.inputs = binary ? std::vector<std::string>{"in0", "in1"} : std::vector<std::string>{"in0"};
  def.least_inputs = static_cast<std::uint32_t>(of_class.min_inputs());
  def.most_inputs = static_cast<std::uint32_t>(of_class.max_inputs());
  for (const OwnAttribute& own : op.attributes) def.attrs.push_back(device_attr(own.key));
  if (op.op_class == OpClass::sfpu) def.attrs.push_back(device_attr("approximate_mode"));
  def.attrs = with_packer_attrs(std::move(def.attrs));
  def.infer = infer_elementwise;
  def.evaluate = op.evaluate != nullptr ? op.evaluate : evaluate_as_tensor_op;
  def.flops = of_class.copies ? nullptr : one_per_element;
  return def;
}

}  // namespace

const std::vector<DeviceOp>& device_ops() {
  static const std::vector<DeviceOp> table = {
#define BUDA_DEVICE_OP(op, class_of_op, ...) DeviceOp{.type = OpType::op, .name = #op, .op_class = OpClass::class_of_op, __VA_ARGS__},
#include <buda/ops/table/device_ops.def>
#include <buda/ops/table/evaluate_call.hpp>
#undef BUDA_DEVICE_OP
  };
  return table;
}

const DeviceOp& device_op(OpType type) { return device_ops()[static_cast<std::size_t>(type)]; }

const DeviceOp* find_device_op(std::string_view name) {
  auto it = std::find_if(device_ops().begin(), device_ops().end(), [&](const DeviceOp& op) { return op.name == name; });
  return it == device_ops().end() ? nullptr : &*it;
}

const DeviceOp* device_op_for(std::string_view tensor_op) {
  auto serves = [&](const DeviceOp& op) { return op.tensor_op == tensor_op && class_info(op.op_class).elementwise; };
  auto it = std::find_if(device_ops().begin(), device_ops().end(), serves);
  return it == device_ops().end() ? nullptr : &*it;
}

std::string_view op_type_name(OpType type) { return device_op(type).name; }
OpClass op_class(OpType type) { return device_op(type).op_class; }

std::optional<OpType> op_type_from_name(std::string_view name) {
  const DeviceOp* op = find_device_op(name);
  return op == nullptr ? std::nullopt : std::optional(op->type);
}

bool may_fuse(const DeviceOp& op) { return op.may_fuse && class_info(op.op_class).elementwise; }

bool uses_register(const DeviceOp& op) { return op.op_class != OpClass::binary || !op.vector_unit; }

std::vector<OpDef> elementwise_device_ops() {
  std::vector<OpDef> out;
  for (const DeviceOp& op : device_ops())
    if (!op.tensor_op.empty() || op.evaluate != nullptr) out.push_back(definition(op));
  return out;
}

ValueRange range_after(std::string_view op, const AttrMap& attrs, const ValueRange& x) {
  const DeviceOp* row = find_device_op(op);
  return row == nullptr || row->range == nullptr ? ValueRange::anything() : row->range(attrs, std::span(&x, 1));
}

ValueRange range_after(std::string_view op, const AttrMap& attrs, const ValueRange& a, const ValueRange& b) {
  const DeviceOp* row = find_device_op(op);
  return row == nullptr || row->range == nullptr ? ValueRange::anything() : row->range(attrs, std::array{a, b});
}

}  // namespace buda::ops
