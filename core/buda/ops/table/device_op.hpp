// SPDX-License-Identifier: Apache-2.0
// The table of device ops: what every stage has to know of an op type, once.
//
// The rows are in device_ops.def. What the table does not hold is what only one stage can do: a target computes an op on tiles, a lowering
// rule decides when it is used, a device's file says how long it takes.
#pragma once

#include <buda/ops/device/value_range.hpp>
#include <buda/ops/table/op.hpp>
#include <buda/ops/table/op_class.hpp>
#include <buda/ops/table/op_type.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace buda::ops {

// An attribute of one op type, or of a few, besides those of its class.
struct OwnAttribute {
  std::string_view key;                  // of its row (device_attribute.hpp)
  std::string_view tensor_op_name = "";  // the attribute of the same meaning that DeviceOp::tensor_op has
  std::string_view sample = "";          // a value for examples and random netlists
};

struct DeviceOp {
  OpType type{};
  std::string_view name;
  OpClass op_class{};

  // ---- for people
  std::string_view meaning;     // what the output is: a sentence
  std::string_view notes = "";  // what else is to be known: sentences

  // ---- meaning
  std::string_view tensor_op = "";  // of the same meaning at tensor level: it evaluates this one, and is lowered to it
  std::vector<OwnAttribute> attributes = {};
  Result<std::vector<Tensor>> (*evaluate)(const EvaluateCall&) = nullptr;  // the reference meaning of an op without tensor_op
  RangeRule range = nullptr;     // of the result, by those of the operands; without it nothing is known of the result
  double harmless_argument = 1;  // with which the result is finite: padding may be set to it

  // ---- how the device computes it
  bool commutative = false;
  bool vector_unit = false;    // of two operands, and yet on the vector unit: its operands are copied into the destination register
  bool takes_int32 = false;    // of integers also Int32, besides Int8 and UInt8
  bool may_fuse = true;        // for elementwise ops: fuse-ops makes it a step of a fused op
  bool ends_fused_op = false;  // so slow that what follows is better done by another core

  // ---- numbers for examples and random netlists
  double sample_min = -2, sample_max = 2;
};

// In the order of OpType.
const std::vector<DeviceOp>& device_ops();
const DeviceOp& device_op(OpType type);
const DeviceOp* find_device_op(std::string_view name);  // null if there is no such op
// The op that elements of an op at tensor level become one by one; null if there is none.
const DeviceOp* device_op_for(std::string_view tensor_op);

// Whether fuse-ops may make it a step of a fused op.
bool may_fuse(const DeviceOp& op);
// Whether a step of a fused op can leave its result in the destination register, or find an operand there.
bool uses_register(const DeviceOp& op);

// The definitions of elementwise ops and copies at device level, which follow from their rows.
std::vector<OpDef> elementwise_device_ops();

// The range of the result of a device op of one or two inputs, by its name. The packer's ReLU is not considered.
ValueRange range_after(std::string_view op, const AttrMap& attrs, const ValueRange& x);
ValueRange range_after(std::string_view op, const AttrMap& attrs, const ValueRange& a, const ValueRange& b);

}  // namespace buda::ops
