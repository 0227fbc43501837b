// SPDX-License-Identifier: Apache-2.0
// Elementwise mathematics of one value beyond what a device has: trigonometry, hyperbolic functions, rounding, signs.
//
// round goes to the nearest integer, ties to the even one, as IEEE 754 and ONNX have it. Integers stay as they are under rounding.
#include <buda/ops/elements/arithmetic.hpp>
#include <buda/ops/elementwise/unary_evaluation.hpp>
#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/families.hpp>
#include <buda/ops/table/rules.hpp>

namespace buda::ops {
namespace {

BUDA_UNARY(acos, false, std::acos(x))
BUDA_UNARY(acosh, false, std::acosh(x))
BUDA_UNARY(asin, false, std::asin(x))
BUDA_UNARY(asinh, false, std::asinh(x))
BUDA_UNARY(atan, false, std::atan(x))
BUDA_UNARY(atanh, false, std::atanh(x))
BUDA_UNARY(cosh, false, std::cosh(x))
BUDA_UNARY(sinh, false, std::sinh(x))
BUDA_UNARY(tan, false, std::tan(x))
BUDA_UNARY(erf, false, std::erf(x))
BUDA_UNARY(ceil, false, std::ceil(x))
BUDA_UNARY(floor, false, std::floor(x))
BUDA_UNARY(round, false, std::nearbyint(x))
BUDA_UNARY(sign, true, x > 0 ? T{1} : x < 0 ? static_cast<T>(-1) : x)

template <decltype(OpDef::evaluate) kEvaluate>
Result<std::vector<Tensor>> unless_integer(const EvaluateCall& call) {
  if (!is_float(call.inputs[0].dtype())) return std::vector<Tensor>{call.inputs[0]};
  return kEvaluate(call);
}

template <Accepts kAccepts>
Result<std::vector<ValueType>> infer_unary(const InferCall& call) {
  BUDA_TRY(common_dtype(call.inputs, kAccepts));
  return like_first(call);
}

OpDef math(std::string name, std::string summary, decltype(OpDef::evaluate) evaluate, bool integers_too = false) {
  return tensor_level_op("eltwise_math", std::move(name), std::move(summary), {"x"}, {},
                         integers_too ? infer_unary<Accepts::numbers> : infer_unary<Accepts::floats>, evaluate, one_per_element);
}

}  // namespace

std::vector<OpDef> eltwise_math_ops() {
  return {math("acos", "arc cosine, in radians", evaluate_acos),
          math("acosh", "inverse hyperbolic cosine", evaluate_acosh),
          math("asin", "arc sine, in radians", evaluate_asin),
          math("asinh", "inverse hyperbolic sine", evaluate_asinh),
          math("atan", "arc tangent, in radians", evaluate_atan),
          math("atanh", "inverse hyperbolic tangent", evaluate_atanh),
          math("cosh", "hyperbolic cosine", evaluate_cosh),
          math("sinh", "hyperbolic sine", evaluate_sinh),
          math("tan", "tangent of x in radians", evaluate_tan),
          math("erf", "the error function, 2/√π times the integral of e^(-t²) from 0 to x", evaluate_erf),
          math("ceil", "the next integer upwards", unless_integer<evaluate_ceil>, true),
          math("floor", "the next integer downwards", unless_integer<evaluate_floor>, true),
          math("round", "the nearest integer, ties to the even one", unless_integer<evaluate_round>, true),
          math("sign", "1, 0 or -1, as x is positive, 0 or negative; NaN for NaN", evaluate_sign, true)};
}

}  // namespace buda::ops
