// SPDX-License-Identifier: Apache-2.0
// The types and classes of device ops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#pragma GCC visibility push(default)

namespace buda::ops {

enum class OpType : std::uint8_t {
#define BUDA_DEVICE_OP(name, op_class, ...) name,
#include <buda/ops/table/device_ops.def>
#undef BUDA_DEVICE_OP
};

// Types of one class have operands, shapes, buffers and rules in common. Each class but the first four has one type.
enum class OpClass : std::uint8_t {
  binary,  // elementwise, of two inputs
  quant,
  unary,  // a copy
  sfpu,   // elementwise, of one input, on the vector unit
  matmul,
  depthwise,
  reduce,
  splice,
  embedding,
  tilizer,
  topk,
  ethernet,
  fused,
  buffer,
  drainer,
};

std::string_view op_type_name(OpType type);
std::optional<OpType> op_type_from_name(std::string_view name);
OpClass op_class(OpType type);

}  // namespace buda::ops

#pragma GCC visibility pop
