// SPDX-License-Identifier: Apache-2.0
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

// gamma alpha (e^(x / width) - 1) where x is negative, else gamma x.
void exponential_below_zero(Backward& b, double slope, double width, double gamma) {
  const Term x = b.in(0), zero = x.number(0);
  const Term negative = zero.above(x);
  const Term low = where(negative, x, zero) * (1 / width);
  const Term grown = low.op("exp") * (gamma * slope), straight = x.number(gamma);
  b.give(0, b.g() * where(negative, grown, straight));
}
void elu(Backward& b) { exponential_below_zero(b, b.attrs().real("alpha"), 1, 1); }
void celu(Backward& b) { exponential_below_zero(b, 1, b.attrs().real("alpha"), 1); }
void selu(Backward& b) { exponential_below_zero(b, b.attrs().real("alpha"), 1, b.attrs().real("gamma")); }

// 1 where u is between 0 and 1, without these limits, as PyTorch's; else 0.
Term between_0_and_1(const Term& u) {
  const Term zero = u.number(0), one = u.number(1);
  const Term positive = u.above(zero);
  const Term small = where(one.above(u), one, zero);
  return where(positive, small, zero);
}

void hard_sigmoid(Backward& b) {
  const double alpha = b.attrs().real("alpha");
  const Term u = b.in(0) * alpha + b.attrs().real("beta");
  b.give(0, b.g() * (between_0_and_1(u) * alpha));
}

// Of x c(u), u = x/6 + 1/2: c(u) + x/6 between the limits.
void hard_swish(Backward& b) {
  const Term x = b.in(0);
  const Term u = x * (1.0 / 6) + 0.5;
  const Term inside = between_0_and_1(u);
  const Term bend = inside * (x * (1.0 / 6));
  const Term limited = u.op("clip", {{"min", 0.0}, {"max", 1.0}});
  b.give(0, b.g() * (limited + bend));
}

// Of x t, t = tanh(softplus(x)): t + x (1 - t^2) sigmoid(x).
void mish(Backward& b) {
  const Term x = b.in(0);
  const Term t = x.op("softplus").op("tanh");
  const Term flatness = 1.0 - t * t;
  const Term bend = x * flatness;
  const Term moved = bend * x.op("sigmoid");
  b.give(0, b.g() * (t + moved));
}

void shrink(Backward& b) {
  const Term x = b.in(0), zero = b.g().number(0);
  const Term far = x.op("abs").above(x.number(b.attrs().real("lambda")));
  b.give(0, where(far, b.g(), zero));
}

// 1 / (1 + |x|)^2.
void softsign(Backward& b) {
  const Term width = b.in(0).op("abs") + 1.0;
  b.give(0, b.g() / (width * width));
}

void thresholded_relu(Backward& b) {
  const Term x = b.in(0), zero = b.g().number(0);
  const Term high = x.above(x.number(b.attrs().real("alpha")));
  b.give(0, where(high, b.g(), zero));
}

constexpr GradientRule kActivationRules[] = {{"celu", celu},
                                             {"elu", elu},
                                             {"gelu", gelu},
                                             {"hard_sigmoid", hard_sigmoid},
                                             {"hard_swish", hard_swish},
                                             {"leaky_relu", leaky_relu},
                                             {"mish", mish},
                                             {"prelu", prelu},
                                             {"relu", relu},
                                             {"selu", selu},
                                             {"shrink", shrink},
                                             {"sigmoid", sigmoid},
                                             {"softplus", softplus},
                                             {"softsign", softsign},
                                             {"tanh", tanh},
                                             {"thresholded_relu", thresholded_relu}};

}  // namespace

std::span<const GradientRule> activation_rules() { return kActivationRules; }

}  // namespace buda::autograd
