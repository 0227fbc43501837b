// SPDX-License-Identifier: Apache-2.0
// Gradients of softmax, its logarithm, and normalisations.
#include <buda/autograd/rules/axis_map.hpp>
#include <buda/autograd/rules/rules.hpp>

#include <algorithm>

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

// With h = (x - mean) r and r = 1 / sqrt(variance + epsilon), statistics being numbers like others: g w r for x, its negative for the mean,
// -h g w r^2 / 2 for the variance.
void batchnorm(Backward& b) {
  const Shape shape = b.in(0).shape();
  Dims beside(shape.rank() - 1, 1), summed{0};
  beside[0] = shape[1];
  for (std::size_t i = 2; i < shape.rank(); ++i) summed.push_back(static_cast<std::int64_t>(i));
  const auto channels = [&](std::size_t input) { return b.in(input).reshape(Shape(beside)); };
  const auto by_channel = [&](const Term& x) { return x.sum(summed, false).reshape(Shape{shape[1]}); };
  if (b.wants(2)) b.give(2, by_channel(b.g()));
  if (!b.wants(0) && !b.wants(1) && !b.wants(3) && !b.wants(4)) return;
  const Term spread = channels(4) + b.attrs().real("epsilon");
  const Term r = spread.op("sqrt").op("reciprocal");
  const Term factor = r * channels(1);
  const Term through = b.g() * factor;
  b.give(0, through);
  if (b.wants(3)) b.give(3, -by_channel(through));
  if (!b.wants(1) && !b.wants(4)) return;
  const Term centred = b.in(0) - channels(3);
  const Term h = centred * r;
  if (b.wants(1)) b.give(1, by_channel(b.g() * h));
  if (!b.wants(4)) return;
  const Term tilt = by_channel(through * h);
  const Term flat = r.reshape(Shape{shape[1]}) * -0.5;
  b.give(4, tilt * flat);
}

// y = x d^-beta with d = bias + a S, a = alpha / size, S the sum of squares of neighbours: g d^-beta, and -2 a beta x times the sum over
// those whose neighbour x is of g y / d.
void lrn(Backward& b) {
  const Term x = b.in(0);
  const std::int64_t channels = x.shape()[1], size = std::min(b.attrs().integer("size"), 2 * channels + 1), before = (size - 1) / 2;
  const double beta = b.attrs().real("beta"), a = b.attrs().real("alpha") / static_cast<double>(b.attrs().integer("size"));
  AxisMap neighbours{channels, channels, static_cast<std::size_t>(size), {}, {}};
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t k = c - before; k < c - before + size; ++k) {
      neighbours.places.push_back(std::clamp<std::int64_t>(k, 0, channels - 1));
      neighbours.weights.push_back(k >= 0 && k < channels ? 1 : 0);
    }
  const Term squares = mapped(x * x, 1, neighbours);
  const Term d = squares * a + b.attrs().real("bias");
  const Term straight = b.g() * d.op("power", d.number(-beta));
  const Term weighted = b.g() * b.result();
  const Term around = mapped(weighted / d, 1, transposed(neighbours));
  const Term bend = x * (2 * a * beta);
  b.give(0, straight - bend * around);
}

constexpr GradientRule kNormalizationRules[] = {
    {"batchnorm", batchnorm}, {"layernorm", layernorm}, {"log_softmax", log_softmax}, {"lrn", lrn}, {"softmax", softmax}};

}  // namespace

std::span<const GradientRule> normalization_rules() { return kNormalizationRules; }

}  // namespace buda::autograd
