// Gradients of activation functions, from results where those are known anyway.
#include <buda/autograd/rules/rules.hpp>

#include <numbers>

namespace buda::autograd {
namespace {

void relu(Backward& b) {
  const Term zero = b.g().number(0);
  const Term positive = b.result().above(zero);
  b.give(0, where(positive, b.g(), zero));
}

void leaky_relu(Backward& b) {
  const Term x = b.in(0), zero = x.number(0);
  const Term negative = zero.above(x);
  const Term alpha = x.number(b.attrs().real("alpha")), one = x.number(1);
  const Term slope = where(negative, alpha, one);
  b.give(0, b.g() * slope);
}

void prelu(Backward& b) {
  const Term x = b.in(0), zero = x.number(0), one = x.number(1);
  const Term negative = zero.above(x);
  if (b.wants(0)) b.give(0, b.g() * where(negative, b.in(1), one));
  if (b.wants(1)) b.give(1, b.g() * where(negative, x, zero));
}

void sigmoid(Backward& b) {
  const Term y = b.result();
  const Term slope = y * (1.0 - y);
  b.give(0, b.g() * slope);
}

void tanh(Backward& b) {
  const Term y = b.result();
  const Term squared = y * y;
  b.give(0, b.g() * (1.0 - squared));
}

// Of x F(x), F being the normal distribution function: F(x) + x f(x); with f(x) = e^(-x^2/2) / sqrt(2 pi).
Term exact_gelu_slope(const Term& x) {
  const Term whole = (x * (1 / std::numbers::sqrt2)).op("erf") + 1.0;
  const Term share = whole * 0.5;
  const Term squared = x * x;
  const Term bell = (squared * -0.5).op("exp") * (std::numbers::inv_sqrtpi / std::numbers::sqrt2);
  return share + x * bell;
}

// Of x (1 + tanh u) / 2 with u = sqrt(2/pi) (x + 0.044715 x^3).
Term tanh_gelu_slope(const Term& x) {
  constexpr double kScale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi, kCubic = 0.044715;
  const Term squared = x * x;
  const Term factor = squared * kCubic + 1.0;
  const Term inner = x * factor;
  const Term t = (inner * kScale).op("tanh");
  const Term inner_slope = squared * (3 * kCubic * kScale) + kScale;
  const Term flatness = 1.0 - t * t;
  const Term bend = x * flatness;
  const Term moved = bend * inner_slope;
  const Term whole = t + 1.0;
  return (whole + moved) * 0.5;
}

void gelu(Backward& b) {
  const bool by_tanh = b.attrs().text("approximate") == "tanh";
  b.give(0, b.g() * (by_tanh ? tanh_gelu_slope(b.in(0)) : exact_gelu_slope(b.in(0))));
}

void softplus(Backward& b) { b.give(0, b.g() * b.in(0).op("sigmoid")); }

constexpr GradientRule kActivationRules[] = {{"gelu", gelu},       {"leaky_relu", leaky_relu}, {"prelu", prelu}, {"relu", relu},
                                             {"sigmoid", sigmoid}, {"softplus", softplus},     {"tanh", tanh}};

}  // namespace

std::span<const GradientRule> activation_rules() { return kActivationRules; }

}  // namespace buda::autograd
