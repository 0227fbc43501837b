// SPDX-License-Identifier: Apache-2.0
// Activation functions that frameworks have and a device's vector unit does not: each is one formula, written so that nothing overflows
// where the result does not.
#include <buda/base/text.hpp>
#include <buda/ops/elements/arithmetic.hpp>
#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/families.hpp>
#include <buda/ops/table/rules.hpp>

namespace buda::ops {
namespace {

// f(x, alpha, beta) in the compute type; names of the two attributes, empty where there is none.
template <class F>
Result<std::vector<Tensor>> activated(const EvaluateCall& call, std::string_view first, std::string_view second, F f) {
  double a = first.empty() ? 0 : call.attrs.real(first), b = second.empty() ? 0 : call.attrs.real(second);
  return one_tensor(visit_compute<false>(compute_dtype(call.inputs[0].dtype()), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return mapped<T>(call.inputs[0], call.threads, [f, a = static_cast<T>(a), b = static_cast<T>(b)](T x) -> T { return f(x, a, b); });
  }));
}

// ln(1 + e^x) without overflow, and without losing a small e^x beside 1.
template <class T>
T softplus(T x) {
  return std::max(x, T{0}) + std::log1p(std::exp(-std::abs(x)));
}

Result<std::vector<Tensor>> evaluate_elu(const EvaluateCall& call) {
  return activated(call, "alpha", "", [](auto x, auto alpha, auto) { return x < 0 ? alpha * std::expm1(x) : x; });
}
Result<std::vector<Tensor>> evaluate_celu(const EvaluateCall& call) {
  return activated(call, "alpha", "", [](auto x, auto alpha, auto) { return x < 0 ? alpha * std::expm1(x / alpha) : x; });
}
Result<std::vector<Tensor>> evaluate_selu(const EvaluateCall& call) {
  return activated(call, "alpha", "gamma", [](auto x, auto alpha, auto gamma) { return gamma * (x <= 0 ? alpha * std::expm1(x) : x); });
}
Result<std::vector<Tensor>> evaluate_softplus(const EvaluateCall& call) {
  return activated(call, "", "", [](auto x, auto, auto) { return softplus(x); });
}
Result<std::vector<Tensor>> evaluate_softsign(const EvaluateCall& call) {
  return activated(call, "", "", [](auto x, auto, auto) { return x / (1 + std::abs(x)); });
}
Result<std::vector<Tensor>> evaluate_thresholded_relu(const EvaluateCall& call) {
  return activated(call, "alpha", "", [](auto x, auto alpha, auto) { return x > alpha || is_nan(x) ? x : 0; });
}
Result<std::vector<Tensor>> evaluate_hard_sigmoid(const EvaluateCall& call) {
  return activated(call, "alpha", "beta", [](auto x, auto alpha, auto beta) {
    auto y = alpha * x + beta;
    return y < 0 ? 0 : y > 1 ? 1 : y;
  });
}
Result<std::vector<Tensor>> evaluate_hard_swish(const EvaluateCall& call) {
  return activated(call, "", "", [](auto x, auto, auto) {
    auto y = x / 6 + static_cast<decltype(x)>(0.5);
    return x * (y < 0 ? 0 : y > 1 ? 1 : y);
  });
}
Result<std::vector<Tensor>> evaluate_mish(const EvaluateCall& call) {
  return activated(call, "", "", [](auto x, auto, auto) { return x * std::tanh(softplus(x)); });
}

Result<std::vector<Tensor>> evaluate_shrink(const EvaluateCall& call) {
  double lambda = call.attrs.real("lambda"), bias = call.attrs.real("bias");
  return one_tensor(visit_compute<true>(compute_dtype(call.inputs[0].dtype()), [&](auto tag) {
    using T = typename decltype(tag)::type;
    // Integers are compared and moved as reals: lambda may have a fraction.
    return mapped<T>(call.inputs[0], call.threads, [lambda, bias](T x) -> T {
      using Real = std::conditional_t<std::is_integral_v<T>, double, T>;
      auto v = static_cast<Real>(x);
      if (v < -static_cast<Real>(lambda)) return static_cast<T>(v + static_cast<Real>(bias));
      if (v > static_cast<Real>(lambda)) return static_cast<T>(v - static_cast<Real>(bias));
      return is_nan(v) ? x : T{0};
    });
  }));
}

Result<std::vector<Tensor>> evaluate_prelu(const EvaluateCall& call) {
  return one_tensor(visit_compute<true>(compute_dtype(call.inputs[0].dtype()), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return combined<T>(call.inputs[0], call.inputs[1], call.outputs[0].shape, call.threads,
                       [](T x, T slope) -> T { return x < 0 ? wrapping_multiply(slope, x) : x; });
  }));
}

template <Accepts kAccepts>
Result<std::vector<ValueType>> infer_like(const InferCall& call) {
  BUDA_TRY(common_dtype(call.inputs, kAccepts));
  return like_first(call);
}

Result<std::vector<ValueType>> infer_prelu(const InferCall& call) {
  BUDA_ASSIGN(DType dtype, common_dtype(call.inputs, Accepts::numbers));
  BUDA_ASSIGN(Shape shape, broadcast_all(call.inputs));
  if (shape != call.inputs[0].shape)
    return shape_error(
        cat("the slope of shape ", call.inputs[1].shape.text(), " does not broadcast to x of ", call.inputs[0].shape.text()));
  return one(dtype, std::move(shape));
}

OpDef activation(std::string name, std::string summary, decltype(OpDef::evaluate) evaluate, std::vector<AttrDef> attrs = {}) {
  return tensor_level_op("activation", std::move(name), std::move(summary), {"x"}, std::move(attrs), infer_like<Accepts::floats>, evaluate,
                         one_per_element);
}

AttrDef real(std::string name, double standard, std::string doc) { return {std::move(name), AttrType::real, standard, std::move(doc), {}}; }

}  // namespace

std::vector<OpDef> activation_ops() {
  OpDef shrink = activation("shrink", "x + bias below -lambda, x - bias above lambda, else 0", evaluate_shrink,
                            {real("lambda", 0.5, "half the width of what becomes 0"), real("bias", 0, "how far the rest moves towards 0")});
  shrink.infer = infer_like<Accepts::numbers>;
  OpDef prelu = activation("prelu", "slope * x where x is negative, else x; the slope broadcasts to x", evaluate_prelu);
  prelu.inputs = {"x", "slope"};
  prelu.least_inputs = prelu.most_inputs = 2;
  prelu.infer = infer_prelu;
  return {
      activation("elu", "alpha (e^x - 1) where x is negative, else x", evaluate_elu, {real("alpha", 1, "factor on the negative side")}),
      activation("celu", "alpha (e^(x/alpha) - 1) where x is negative, else x", evaluate_celu,
                 {real("alpha", 1, "factor on the negative side; not 0")}),
      // The constants of Klambauer et al. (2017), for which means and variances keep to 0 and 1.
      activation("selu", "gamma * elu(x)", evaluate_selu,
                 {real("alpha", 1.6732632423543772, "factor on the negative side"), real("gamma", 1.0507009873554805, "factor of all")}),
      activation("softplus", "ln(1 + e^x)", evaluate_softplus), activation("softsign", "x / (1 + |x|)", evaluate_softsign),
      activation("thresholded_relu", "x where it is above alpha, else 0", evaluate_thresholded_relu, {real("alpha", 1, "the threshold")}),
      activation("hard_sigmoid", "alpha x + beta, but at least 0 and at most 1", evaluate_hard_sigmoid,
                 {real("alpha", 0.2, "slope"), real("beta", 0.5, "value at 0")}),
      activation("hard_swish", "x (x/6 + 1/2), the second factor being at least 0 and at most 1", evaluate_hard_swish),
      activation("mish", "x tanh(softplus(x))", evaluate_mish), std::move(shrink), std::move(prelu)};
}

}  // namespace buda::ops
