// SPDX-License-Identifier: Apache-2.0
// Arithmetic on each element.
#include <buda/frontend/arithmetic.hpp>

namespace buda::frontend {
namespace {

using Ref = graph::ValueRef;

std::optional<Ref> image_operand(OpImport& op, const Layouts& layouts, const ElementOperand& operand, std::string_view step) {
  if (auto first = layouts.channels_first(operand.value)) return first;
  const auto& shape = operand.known_shape;
  if (!shape || shape->rank() > 4) return std::nullopt;
  if (shape->rank() == 0) return operand.value;
  const std::int64_t channels = (*shape)[shape->rank() - 1];
  if (shape->volume() != channels) return std::nullopt;
  return op.step(step).reshape(operand.value, Shape{channels, 1, 1});
}

}  // namespace

ElementOperands element_operands(OpImport& op, const Layouts& layouts, const ElementOperand& a, const ElementOperand& b) {
  if (layouts.channels_first(a.value) || layouts.channels_first(b.value)) {
    auto first_a = image_operand(op, layouts, a, "a"), first_b = image_operand(op, layouts, b, "b");
    if (first_a && first_b) return {*first_a, *first_b, true};
  }
  return {a.value, b.value};
}

// A remainder has the sign of b.
Ref floor_quotient(OpImport& op, Ref a, Ref b, DType dtype) {
  if (is_float(dtype)) {
    Ref quotient = op.step("quotient").divide(a, b);
    return op.result().op("floor", {quotient});
  }
  Ref rest = op.step("rest").op("modulo", {a, b});
  Ref whole = op.step("whole").subtract(a, rest);
  return op.result().divide(whole, b);
}

Ref squared_difference(OpImport& op, Ref a, Ref b) {
  Ref difference = op.step("difference").subtract(a, b);
  return op.result().square(difference);
}

Ref not_equal(OpImport& op, Ref a, Ref b) {
  Ref equal = op.step("equal").op("equal", {a, b});
  return op.result().op("logical_not", {equal});
}

}  // namespace buda::frontend
