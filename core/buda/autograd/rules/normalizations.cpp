// Gradients of softmax, its logarithm, and layer normalisation.
#include <buda/autograd/rules/rules.hpp>

namespace buda::autograd {
namespace {

// y (g - sum of g y).
void softmax(Backward& b) {
  const Term y = b.result();
  const Term weighted = b.g() * y;
  const Term total = weighted.sum({b.axis("dim")});
  b.give(0, y * (b.g() - total));
}

// g - e^y sum of g.
void log_softmax(Backward& b) {
  const Term total = b.g().sum({b.axis("dim")});
  const Term share = b.result().op("exp") * total;
  b.give(0, b.g() - share);
}

// With h = (x - mean) r, r = 1 / sqrt(variance + epsilon), n elements, and k = g w: r (k - mean of k - h mean of (k h)); weights: sum of
// g h, bias: sum of g.
void layernorm(Backward& b) {
  const Term x = b.in(0);
  const auto rank = static_cast<std::int64_t>(x.shape().rank());
  Dims dims;
  for (std::int64_t axis = b.axis("dim"); axis < rank; ++axis) dims.push_back(axis);
  const auto mean = [&](const Term& v) { return v.op("reduce_avg", {{"dims", dims}}); };
  b.give(2, b.g());
  if (!b.wants(0) && !b.wants(1)) return;
  const Term centred = x - mean(x);
  const Term squares = centred * centred;
  const Term spread = (mean(squares) + b.attrs().real("epsilon")).op("sqrt");
  const Term r = spread.op("reciprocal");
  const Term h = centred * r;
  if (b.wants(1)) b.give(1, b.g() * h);
  if (!b.wants(0)) return;
  const Term k = b.count() > 1 ? b.g() * b.in(1) : b.g();
  const Term level = k - mean(k);
  const Term together = k * h;
  const Term tilt = h * mean(together);
  b.give(0, (level - tilt) * r);
}

constexpr GradientRule kNormalizationRules[] = {{"layernorm", layernorm}, {"log_softmax", log_softmax}, {"softmax", softmax}};

}  // namespace

std::span<const GradientRule> normalization_rules() { return kNormalizationRules; }

}  // namespace buda::autograd
