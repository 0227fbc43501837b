// SPDX-License-Identifier: Apache-2.0
// Activations in terms of relu, exponentials and their like.
//
//   elu, celu, selu      relu(x) + a (e^(m / c) - 1), m = min(x, 0) = -relu(-x)
//   softplus, mish       relu(x) + ln(1 + e^-|x|), which does not overflow; x tanh(softplus(x))
//   hard_sigmoid, -swish clip(a x + b, 0, 1); x clip(x / 6 + 1/2, 0, 1)
//   prelu, softsign      relu(x) - slope relu(-x); x / (1 + |x|)
//   shrink, thresholded  x (moved by the bias) times comparisons of 0 and 1
//
// e^m - 1 and ln(1 + e) lose what is small beside 1: near 0 elu and softplus have the absolute error of the format at 1 (2^-24 in fp32,
// 2^-9 in bf16), and not a relative one.
#include "rules.hpp"

namespace buda::nn {
namespace {

using namespace plugin;

// alpha (e^(min(x, 0) / width) - 1) beside relu(x).
Term exponential(const Term& x, double alpha, double width) {
  Term below = -relu(-x);
  Term e = exp(width == 1 ? below : below * (1 / width));
  Term negative = (e - 1) * alpha;
  return relu(x) + negative;
}

Term elu(Rewrite& r) { return exponential(r.in(0), r.real("alpha"), 1); }
Term celu(Rewrite& r) { return exponential(r.in(0), r.real("alpha"), r.real("alpha")); }
Term selu(Rewrite& r) {
  Term y = exponential(r.in(0), r.real("alpha"), 1);
  return y * r.real("gamma");
}

Term soft_plus(const Term& x) {
  Term above_zero = relu(x);
  Term small = log(1 + exp(-abs(x)));
  return above_zero + small;
}
Term softplus(Rewrite& r) { return soft_plus(r.in(0)); }
Term mish(Rewrite& r) {
  Term x = r.in(0);
  return x * tanh(soft_plus(x));
}
Term softsign(Rewrite& r) {
  Term x = r.in(0);
  return x * reciprocal(1 + abs(x));
}
Term hard_sigmoid(Rewrite& r) { return clip(r.in(0) * r.real("alpha") + r.real("beta"), 0, 1); }
Term hard_swish(Rewrite& r) {
  Term x = r.in(0);
  return x * clip(x * (1.0 / 6) + 0.5, 0, 1);
}
Term prelu(Rewrite& r) {
  Term x = r.in(0);
  Term slope = r.in(1);
  Term positive = relu(x);
  Term negative = slope * relu(-x);
  return positive - negative;
}
Term thresholded_relu(Rewrite& r) {
  Term x = r.in(0);
  return masked(x, above(x, r.real("alpha")));
}
Term shrink(Rewrite& r) {
  Term x = r.in(0);
  double lambda = r.real("lambda"), bias = r.real("bias");
  Term below = above(-lambda, x);
  Term low = masked(bias == 0 ? x : x + bias, below);
  Term beyond = above(x, lambda);
  Term high = masked(bias == 0 ? x : x - bias, beyond);
  return low + high;
}

RuleSpec spec(std::string op, std::string summary, std::vector<std::string> produces, Term (*build)(Rewrite&)) {
  return {.name = op, .summary = std::move(summary), .consumes = {op}, .produces = std::move(produces), .build = build};
}

}  // namespace

std::vector<RuleSpec> activation_rules() {
  const std::vector<std::string> exponential_ops = {"relu", "negative", "exp", "subtract", "multiply", "add"};
  return {
      spec("elu", "elu through relu and exp", exponential_ops, elu),
      spec("celu", "celu likewise", exponential_ops, celu),
      spec("selu", "selu likewise", exponential_ops, selu),
      spec("softplus", "softplus through exp and log without overflow", {"relu", "negative", "abs", "exp", "add", "log"}, softplus),
      spec("mish", "mish through softplus and tanh", {"relu", "negative", "abs", "exp", "add", "log", "tanh", "multiply"}, mish),
      spec("softsign", "x / (1 + |x|) through a reciprocal", {"abs", "add", "reciprocal", "multiply"}, softsign),
      spec("hard_sigmoid", "a line, clipped", {"multiply", "add", "clip"}, hard_sigmoid),
      spec("hard_swish", "x times a line, clipped", {"multiply", "add", "clip"}, hard_swish),
      spec("prelu", "relu of x and of -x", {"relu", "negative", "multiply", "subtract"}, prelu),
      spec("thresholded_relu", "x times a comparison", {"subtract", "multiply", "clip"}, thresholded_relu),
      spec("shrink", "x moved, times comparisons", {"subtract", "multiply", "clip", "add"}, shrink),
  };
}

}  // namespace buda::nn
