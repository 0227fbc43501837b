// SPDX-License-Identifier: Apache-2.0
// Elementwise operations of one value: activations and mathematics.
//
// gelu is x Φ(x) with Φ(x) = erfc(-x/√2)/2, which keeps its digits for negative x where (1 + erf(x/√2))/2 loses them; with
// approximate = tanh it is the formula of Hendrycks and Gimpel (2016). sigmoid never raises e to a positive power, so it cannot overflow.
#include <buda/ops/elements/arithmetic.hpp>
#include <buda/ops/elementwise/unary_evaluation.hpp>
#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/families.hpp>
#include <buda/ops/table/rules.hpp>

#include <numbers>

namespace buda::ops {
namespace {

template <class T>
T sigmoid(T x) {
  T e = std::exp(-std::abs(x));
  return x >= 0 ? 1 / (1 + e) : e / (1 + e);
}

// Φ, the distribution function of the standard normal distribution.
template <class T>
T normal_cdf(T x) {
  return static_cast<T>(0.5) * std::erfc(-x * static_cast<T>(1 / std::numbers::sqrt2));
}

template <class T>
T gelu(T x) {
  return x * normal_cdf(x);
}

template <class T>
T gelu_tanh(T x) {
  constexpr T kScale = static_cast<T>(0.7978845608028654);  // √(2/π)
  return static_cast<T>(0.5) * x * (1 + std::tanh(kScale * (x + static_cast<T>(0.044715) * x * x * x)));
}

template <class T>
T gelu_derivative(T x) {
  constexpr T kDensity = static_cast<T>(0.3989422804014327);  // 1/√(2π)
  return normal_cdf(x) + x * kDensity * std::exp(static_cast<T>(-0.5) * x * x);
}

BUDA_UNARY(exp, false, std::exp(x))
BUDA_UNARY(log, false, std::log(x))
BUDA_UNARY(sqrt, false, std::sqrt(x))
BUDA_UNARY(reciprocal, false, 1 / x)
BUDA_UNARY(sine, false, std::sin(x))
BUDA_UNARY(cosine, false, std::cos(x))
BUDA_UNARY(tanh, false, std::tanh(x))
BUDA_UNARY(sigmoid, false, sigmoid(x))
BUDA_UNARY(exact_gelu, false, gelu(x))
BUDA_UNARY(tanh_gelu, false, gelu_tanh(x))
BUDA_UNARY(relu, true, is_nan(x) || x > 0 ? x : T{0})
BUDA_UNARY(square, true, wrapping_multiply(x, x))
BUDA_UNARY(negative, true, wrapping_subtract(T{0}, x))

template <class T>
T absolute(T x) {
  if constexpr (std::is_integral_v<T>) {
    if constexpr (std::is_signed_v<T>) return x < 0 ? wrapping_subtract(T{0}, x) : x;
    return x;
  } else {
    return std::abs(x);
  }
}

Result<std::vector<Tensor>> evaluate_abs(const EvaluateCall& call) {
  return evaluate_with<true>(call, [](auto tag) { return [](typename decltype(tag)::type x) { return absolute(x); }; });
}

// 0 - x would turn 0 into 0 where IEEE negation gives -0.
Result<std::vector<Tensor>> evaluate_negation(const EvaluateCall& call) {
  if (!is_float(call.inputs[0].dtype())) return evaluate_negative(call);
  return evaluate_with<false>(call, [](auto tag) { return [](typename decltype(tag)::type x) { return -x; }; });
}

Result<std::vector<Tensor>> evaluate_copy(const EvaluateCall& call) { return std::vector<Tensor>{call.inputs[0]}; }

Result<std::vector<Tensor>> evaluate_gelu(const EvaluateCall& call) {
  return call.attrs.text("approximate") == "tanh" ? evaluate_tanh_gelu(call) : evaluate_exact_gelu(call);
}

Result<std::vector<Tensor>> evaluate_leaky_relu(const EvaluateCall& call) {
  double slope = call.attrs.real("alpha");
  return evaluate_with<false>(call, [slope](auto tag) {
    using T = typename decltype(tag)::type;
    return [k = static_cast<T>(slope)](T x) { return x < 0 ? k * x : x; };
  });
}

// Bounds that an integer type does not reach do not bind; those between two integers are moved inwards.
template <class T>
std::pair<T, T> clip_bounds(double least, double most) {
  if constexpr (std::is_integral_v<T>) {
    auto bound = [](double v) { return Tensor::scalar(v).cast(kDTypeOf<T>).template as<T>()[0]; };
    return {bound(std::ceil(least)), bound(std::floor(most))};
  } else {
    return {static_cast<T>(least), static_cast<T>(most)};
  }
}

Result<std::vector<Tensor>> evaluate_clip(const EvaluateCall& call) {
  double least = call.attrs.real("min"), most = call.attrs.real("max");
  return evaluate_with<true>(call, [=](auto tag) {
    using T = typename decltype(tag)::type;
    auto bounds = clip_bounds<T>(least, most);
    // As ONNX: min(max(x, lo), hi), so that hi wins where the bounds cross.
    return [lo = bounds.first, hi = bounds.second](T x) { return is_nan(x) ? x : std::min(std::max(x, lo), hi); };
  });
}

template <Accepts kAccepts>
Result<std::vector<ValueType>> infer_accepted(const InferCall& call) {
  BUDA_TRY(common_dtype(call.inputs, kAccepts));
  return like_first(call);
}

OpDef unary_op(std::string name, std::string summary, decltype(OpDef::evaluate) evaluate, Accepts accepts = Accepts::floats,
               std::vector<AttrDef> attrs = {}) {
  return tensor_level_op("eltwise_unary", std::move(name), std::move(summary), {"x"}, std::move(attrs),
                         accepts == Accepts::floats    ? infer_accepted<Accepts::floats>
                         : accepts == Accepts::numbers ? infer_accepted<Accepts::numbers>
                                                       : infer_accepted<Accepts::anything>,
                         evaluate, one_per_element);
}

OpDef without_cost(OpDef def) {
  def.flops = nullptr;
  return def;
}

}  // namespace

BUDA_UNARY(gelu_derivative, false, gelu_derivative(x))

Result<std::vector<Tensor>> evaluate_integer_power(const EvaluateCall& call) {
  std::int64_t exponent = call.attrs.integer("exp");
  return evaluate_with<false>(call, [exponent](auto tag) {
    using T = typename decltype(tag)::type;
    return [exponent](T x) { return static_cast<T>(std::pow(x, static_cast<double>(exponent))); };
  });
}

std::vector<OpDef> eltwise_unary_ops() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  AttrDef approximate{"approximate", AttrType::text, std::string("none"), "none: x Φ(x); tanh: the usual approximation", {"none", "tanh"}};
  return {without_cost(unary_op("nop", "x; also called identity", evaluate_copy, Accepts::anything)),
          without_cost(unary_op("buffer", "x; unlike a nop it is kept, and becomes an op of the device", evaluate_copy, Accepts::anything)),
          unary_op("exp", "e to the power of x", evaluate_exp),
          unary_op("log", "natural logarithm", evaluate_log),
          unary_op("sqrt", "square root", evaluate_sqrt),
          unary_op("square", "x * x", evaluate_square, Accepts::numbers),
          unary_op("reciprocal", "1 / x", evaluate_reciprocal),
          unary_op("abs", "|x|", evaluate_abs, Accepts::numbers),
          unary_op("negative", "-x", evaluate_negation, Accepts::numbers),
          unary_op("sine", "sine of x in radians", evaluate_sine),
          unary_op("cosine", "cosine of x in radians", evaluate_cosine),
          unary_op("tanh", "hyperbolic tangent", evaluate_tanh),
          unary_op("sigmoid", "1 / (1 + e^-x)", evaluate_sigmoid),
          unary_op("relu", "x where it is positive, else 0", evaluate_relu, Accepts::numbers),
          unary_op("leaky_relu", "alpha * x where x is negative, else x", evaluate_leaky_relu, Accepts::floats,
                   {{"alpha", AttrType::real, 0.01, "slope on the negative side", {}}}),
          unary_op("gelu", "x Φ(x), Φ being the normal distribution function", evaluate_gelu, Accepts::floats, {approximate}),
          unary_op("clip", "x, but at least min and at most max", evaluate_clip, Accepts::numbers,
                   {{"min", AttrType::real, -kInfinity, "lower bound", {}}, {"max", AttrType::real, kInfinity, "upper bound", {}}})};
}

}  // namespace buda::ops
