// SPDX-License-Identifier: Apache-2.0
// The angle as an arc tangent, put right for the left half plane and the axis between both halves.
#include "angles.hpp"

#include <numbers>

namespace buda::frontend {

graph::ValueRef arc_tangent(OpImport& op, graph::ValueRef y, graph::ValueRef x, DType dtype) {
  auto number = [&](std::string_view name, double value) { return op.step(name).constant(value, dtype); };
  graph::ValueRef zero = number("zero", 0), one = number("one", 1), half = number("half", std::numbers::pi / 2);
  graph::ValueRef turn = number("pi", std::numbers::pi), back = number("-pi", -std::numbers::pi);
  graph::ValueRef upright = op.step("upright").op("equal", {x, zero}), left = op.step("left").op("less", {x, zero}),
                  below = op.step("below").op("less", {y, zero});
  graph::ValueRef divisor = op.step("divisor").op("where", {upright, one, x});
  graph::ValueRef slope = op.step("slope").divide(y, divisor);
  graph::ValueRef angle = op.step("angle").op("atan", {slope});
  graph::ValueRef side = op.step("side").op("where", {below, back, turn});
  graph::ValueRef turned = op.step("turn").op("where", {left, side, zero});
  graph::ValueRef sum = op.step("sum").add(angle, turned);
  graph::ValueRef sign = op.step("sign").op("sign", {y});
  graph::ValueRef ends = op.step("ends").multiply(sign, half);
  return op.result().op("where", {upright, ends, sum});
}

}  // namespace buda::frontend
