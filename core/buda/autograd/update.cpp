// SPDX-License-Identifier: Apache-2.0
// The built-in optimizers. Moments change by increments, so that they can be kept in pairs like parameters.
#include <buda/autograd/update.hpp>

#include <buda/autograd/spec.hpp>
#include <buda/base/text.hpp>

#include <algorithm>
#include <limits>
#include <vector>

namespace buda::autograd {
namespace {

constexpr std::string_view kOptimizerOption = "option --optimizer";
constexpr double kLargest = std::numeric_limits<double>::max();

StepScalar rate_of(const Optimizer& o) {
  StepScalar rate;
  rate.lr = o.lr;
  return rate;
}

Term with_momentum(const Optimizer& o, const Term& direction, const UpdateContext& context) {
  const Term before = context.state("momentum") * (1 - o.momentum);
  return context.add("momentum", direction - before);
}

// Sums of moving parts: mean += (1 - kept) (x - mean).
Term moving_mean(std::string_view state, const Term& x, double kept, const UpdateContext& context) {
  const Term off = x - context.state(state);
  return context.add(state, off * (1 - kept));
}

// The root of the sum of squares, as a number.
Term norm(const Term& x) {
  Dims all;
  for (std::size_t i = 0; i < x.shape().rank(); ++i) all.push_back(static_cast<std::int64_t>(i));
  const Term squares = x * x;
  return squares.sum(std::move(all), false).op("sqrt");
}

// Where one of two norms is 0, 1.
Term unless_zero(const Term& ratio, const Term& norm1, const Term& norm2) {
  const Term zero = ratio.number(0), one = ratio.number(1);
  const Term is_positive = (norm1 * norm2).above(zero);
  return where(is_positive, ratio, one);
}

// With momentum m: v += g - (1 - m) v, and the step is lr v; Nesterov's looks ahead: lr (g + m v).
Term sgd_step(const Optimizer& o, const Term& gradient, const UpdateContext& context) {
  Term direction = gradient;
  if (o.momentum != 0) {
    const Term velocity = with_momentum(o, gradient, context);
    direction = o.nesterov != 0 ? gradient + velocity * o.momentum : velocity;
  }
  return direction * context.scalar(rate_of(o));
}

// mean += (1 - beta1) (g - mean), square += (1 - beta2) (g^2 - square), and the step is rate mean / (sqrt(square) + epsilon).
Term adam_step(const Optimizer& o, const Term& parameter, const Term& gradient, const UpdateContext& context) {
  const Term mean = moving_mean("mean", gradient, o.beta1, context);
  const Term square = moving_mean("square", gradient * gradient, o.beta2, context);
  const Term root = square.op("sqrt");
  StepScalar epsilon{ScalarKind::adam_epsilon}, rate{ScalarKind::adam_rate, o.lr};
  epsilon.epsilon = o.epsilon;
  epsilon.beta2 = rate.beta2 = o.beta2;
  rate.beta1 = o.beta1;
  const Term size = root + context.scalar(epsilon);
  const Term direction = mean * size.op("reciprocal");
  const Term step = direction * context.scalar(rate);
  if (o.kind != OptimizerKind::adamw || o.decay == 0) return step;
  const Term decay = parameter * context.scalar({ScalarKind::decay, o.lr, o.decay});
  return step + decay;
}

// sum += g^2, and the step is rate g / (sqrt(sum) + epsilon).
Term adagrad_step(const Optimizer& o, const Term&, const Term& gradient, const UpdateContext& context) {
  const Term sum = context.add("sum", gradient * gradient);
  const Term root = o.initial == 0 ? sum.op("sqrt") : (sum + o.initial).op("sqrt");
  const Term size = root + o.epsilon;
  const Term direction = gradient * size.op("reciprocal");
  StepScalar rate{ScalarKind::falling_rate, o.lr};
  rate.lr_decay = o.lr_decay;
  return direction * context.scalar(rate);
}

// square += (1 - alpha) (g^2 - square), and the step is rate g / (sqrt(square) + epsilon); centered: of square - mean^2.
Term rmsprop_step(const Optimizer& o, const Term&, const Term& gradient, const UpdateContext& context) {
  const Term square = moving_mean("square", gradient * gradient, o.alpha, context);
  Term spread = square;
  if (o.centered != 0) {
    const Term mean = moving_mean("mean", gradient, o.alpha, context);
    // Rounding must not make a difference of squares negative.
    spread = (square - mean * mean).op("relu");
  }
  const Term size = spread.op("sqrt") + o.epsilon;
  Term direction = gradient * size.op("reciprocal");
  if (o.momentum != 0) direction = with_momentum(o, direction, context);
  return direction * context.scalar(rate_of(o));
}

// r = mean / (sqrt(square) + epsilon) + decay p, and the step is rate |p| / |r| r.
Term lamb_step(const Optimizer& o, const Term& parameter, const Term& gradient, const UpdateContext& context) {
  const Term mean = moving_mean("mean", gradient, o.beta1, context);
  const Term square = moving_mean("square", gradient * gradient, o.beta2, context);
  const Term root = square.op("sqrt");
  StepScalar epsilon{ScalarKind::adam_epsilon}, correction{ScalarKind::adam_correction};
  epsilon.epsilon = o.epsilon;
  epsilon.beta2 = correction.beta2 = o.beta2;
  correction.beta1 = o.beta1;
  const Term size = o.correction != 0 ? root + context.scalar(epsilon) : root + o.epsilon;
  Term direction = mean * size.op("reciprocal");
  if (o.correction != 0) direction = direction * context.scalar(correction);
  if (o.decay != 0) direction = direction + parameter * o.decay;
  const Term of_parameter = norm(parameter), of_step = norm(direction);
  // Where the step is 0, any divisor serves: the ratio is 1 then.
  const Term divisor = unless_zero(of_step, of_step, of_step);
  const Term ratio = (of_parameter / divisor).op("clip", {{"min", o.least_ratio}, {"max", o.most_ratio}});
  const Term scaled = direction * unless_zero(ratio, of_parameter, of_step);
  return scaled * context.scalar(rate_of(o));
}

// local = coefficient |p| / (|g| + decay |p| + epsilon), v = momentum v + rate local (g + decay p), which is the step.
Term lars_step(const Optimizer& o, const Term& parameter, const Term& gradient, const UpdateContext& context) {
  const Term of_parameter = norm(parameter), of_gradient = norm(gradient);
  const Term decayed = of_gradient + of_parameter * o.decay;
  const Term local = (of_parameter * o.coefficient) / (decayed + o.epsilon);
  const Term direction = o.decay == 0 ? gradient : gradient + parameter * o.decay;
  const Term scaled = direction * unless_zero(local, of_parameter, of_gradient);
  const Term step = scaled * context.scalar(rate_of(o));
  return o.momentum == 0 ? step : with_momentum(o, step, context);
}

Term plain_sgd(const Optimizer& o, const Term&, const Term& gradient, const UpdateContext& context) {
  return sgd_step(o, gradient, context);
}

struct NumberKey {
  std::string_view name;
  double Optimizer::*member;
  double most = kLargest;
};

constexpr double kBelowOne = 1 - 1e-12;
constexpr NumberKey kRate{"lr", &Optimizer::lr}, kDecay{"decay", &Optimizer::decay}, kMomentum{"momentum", &Optimizer::momentum, 1},
    kBeta1{"beta1", &Optimizer::beta1, kBelowOne}, kBeta2{"beta2", &Optimizer::beta2, kBelowOne}, kEpsilon{"epsilon", &Optimizer::epsilon};

struct OptimizerForm {
  std::string_view name;
  Optimizer standard;
  std::vector<NumberKey> keys;
  Term (*step)(const Optimizer&, const Term& parameter, const Term& gradient, const UpdateContext&);
  bool decays_gradient = true;  // decay times the parameter is added to the gradient first
};

// By kind.
const std::vector<OptimizerForm>& optimizer_forms() {
  static const std::vector<OptimizerForm> all = {
      {"sgd", {.kind = OptimizerKind::sgd}, {kRate, kDecay, kMomentum, {"nesterov", &Optimizer::nesterov, 1}}, plain_sgd},
      {"adam", {.kind = OptimizerKind::adam, .lr = 1e-3}, {kRate, kDecay, kBeta1, kBeta2, kEpsilon}, adam_step},
      {"adamw", {.kind = OptimizerKind::adamw, .lr = 1e-3, .decay = 0.01}, {kRate, kDecay, kBeta1, kBeta2, kEpsilon}, adam_step, false},
      {"adagrad",
       {.kind = OptimizerKind::adagrad, .epsilon = 1e-10},
       {kRate, kDecay, kEpsilon, {"lr_decay", &Optimizer::lr_decay}, {"initial", &Optimizer::initial}},
       adagrad_step},
      {"rmsprop",
       {.kind = OptimizerKind::rmsprop},
       {kRate, kDecay, kMomentum, kEpsilon, {"alpha", &Optimizer::alpha, 1}, {"centered", &Optimizer::centered, 1}},
       rmsprop_step},
      {"lamb",
       {.kind = OptimizerKind::lamb, .lr = 1e-3, .epsilon = 1e-6},
       {kRate,
        kDecay,
        kBeta1,
        kBeta2,
        kEpsilon,
        {"correction", &Optimizer::correction, 1},
        {"least_ratio", &Optimizer::least_ratio},
        {"most_ratio", &Optimizer::most_ratio}},
       lamb_step,
       false},
      {"lars",
       {.kind = OptimizerKind::lars},
       {kRate, kDecay, kMomentum, kEpsilon, {"coefficient", &Optimizer::coefficient}},
       lars_step,
       false}};
  return all;
}

}  // namespace

Result<Optimizer> parse_optimizer(std::string_view text) {
  std::vector<std::string> names;
  for (const OptimizerForm& form : optimizer_forms()) names.emplace_back(form.name);
  std::sort(names.begin(), names.end());
  const auto form =
      std::find_if(optimizer_forms().begin(), optimizer_forms().end(), [&](const OptimizerForm& f) { return f.name == spec_name(text); });
  if (form == optimizer_forms().end()) return unknown_name(text, kOptimizerOption, names);
  Optimizer out = form->standard;
  std::vector<SpecNumber> numbers;
  for (const NumberKey& key : form->keys) numbers.push_back({key.name, &(out.*key.member), 0, key.most});
  BUDA_TRY(read_numbers(text, kOptimizerOption, numbers));
  if (out.nesterov != 0 && out.momentum == 0)
    return usage_error("AG011", cat(kOptimizerOption, ": nesterov=1 needs a momentum, such as momentum=0.9"));
  return out;
}

Term step_of(const Optimizer& o, const Term& parameter, const Term& gradient, const UpdateContext& context) {
  const OptimizerForm& form = optimizer_forms()[static_cast<std::size_t>(o.kind)];
  const Term g = form.decays_gradient && o.decay != 0 ? gradient + parameter * o.decay : gradient;
  return form.step(o, parameter, g, context);
}

}  // namespace buda::autograd
