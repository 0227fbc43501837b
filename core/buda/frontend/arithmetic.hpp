// SPDX-License-Identifier: Apache-2.0
// Arithmetic on each element of two operands, as TensorFlow and TensorFlow Lite have it.
#pragma once

#include <buda/frontend/layouts.hpp>
#include <buda/frontend/op_import.hpp>
#include <buda/tensor/dtype.hpp>
#include <buda/tensor/shape.hpp>

#include <optional>

#pragma GCC visibility push(default)

namespace buda::frontend {

// An operand as the file has it; its shape is given where its numbers are known while importing.
struct ElementOperand {
  graph::ValueRef value;
  std::optional<Shape> known_shape;
};
struct ElementOperands {
  graph::ValueRef a, b;
  bool channels_first = false;  // so is the result, then
};
// Both operands with channels first, if that is possible: one was computed so, and the other too, or it has one number for each channel, or
// one for all. Else both as they are.
ElementOperands element_operands(OpImport& op, const Layouts& layouts, const ElementOperand& a, const ElementOperand& b);

// The largest whole number not above a / b; the difference times itself; where a and b differ.
graph::ValueRef floor_quotient(OpImport& op, graph::ValueRef a, graph::ValueRef b, DType dtype);
graph::ValueRef squared_difference(OpImport& op, graph::ValueRef a, graph::ValueRef b);
graph::ValueRef not_equal(OpImport& op, graph::ValueRef a, graph::ValueRef b);

}  // namespace buda::frontend

#pragma GCC visibility pop
