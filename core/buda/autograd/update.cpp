// The built-in optimizers. Moments change by increments, so that they can be kept in pairs like parameters.
#include <buda/autograd/update.hpp>

#include <buda/autograd/spec.hpp>
#include <buda/base/text.hpp>

#include <limits>

namespace buda::autograd {
namespace {

constexpr std::string_view kOptimizerOption = "option --optimizer";
constexpr double kLargest = std::numeric_limits<double>::max();

// With momentum m: v += g - (1 - m) v, and the step is lr v; Nesterov's looks ahead: lr (g + m v).
Term sgd_step(const Optimizer& o, const Term& gradient, const UpdateContext& context) {
  const StepScalar rate{ScalarKind::rate, o.lr, 0, 0, 0, 0};
  Term direction = gradient;
  if (o.momentum != 0) {
    const Term before = context.state("momentum") * (1 - o.momentum);
    const Term velocity = context.add("momentum", gradient - before);
    direction = o.nesterov != 0 ? gradient + velocity * o.momentum : velocity;
  }
  return direction * context.scalar(rate);
}

// mean += (1 - beta1) (g - mean), square += (1 - beta2) (g^2 - square), and the step is rate mean / (sqrt(square) + epsilon).
Term adam_step(const Optimizer& o, const Term& parameter, const Term& gradient, const UpdateContext& context) {
  const Term off = gradient - context.state("mean");
  const Term mean = context.add("mean", off * (1 - o.beta1));
  const Term squared = gradient * gradient;
  const Term growth = squared - context.state("square");
  const Term square = context.add("square", growth * (1 - o.beta2));
  const Term root = square.op("sqrt");
  const Term size = root + context.scalar({ScalarKind::adam_epsilon, 0, 0, 0, o.beta2, o.epsilon});
  const Term direction = mean * size.op("reciprocal");
  const Term step = direction * context.scalar({ScalarKind::adam_rate, o.lr, 0, o.beta1, o.beta2, 0});
  if (o.kind != OptimizerKind::adamw || o.decay == 0) return step;
  const Term decay = parameter * context.scalar({ScalarKind::decay, o.lr, o.decay, 0, 0, 0});
  return step + decay;
}

}  // namespace

Result<Optimizer> parse_optimizer(std::string_view text) {
  Optimizer out;
  const std::string_view name = spec_name(text);
  std::vector<SpecNumber> numbers{{"lr", &out.lr, 0, kLargest}, {"decay", &out.decay, 0, kLargest}};
  if (name == "sgd") {
    numbers.push_back({"momentum", &out.momentum, 0, 1});
    numbers.push_back({"nesterov", &out.nesterov, 0, 1});
  } else if (name == "adam" || name == "adamw") {
    out.kind = name == "adam" ? OptimizerKind::adam : OptimizerKind::adamw;
    out.lr = 1e-3;
    if (name == "adamw") out.decay = 0.01;
    numbers.push_back({"beta1", &out.beta1, 0, 1 - 1e-12});
    numbers.push_back({"beta2", &out.beta2, 0, 1 - 1e-12});
    numbers.push_back({"epsilon", &out.epsilon, 0, kLargest});
  } else {
    return unknown_name(text, kOptimizerOption, {"adam", "adamw", "sgd"});
  }
  BUDA_TRY(read_numbers(text, kOptimizerOption, numbers));
  if (out.nesterov != 0 && out.momentum == 0)
    return usage_error("AG011", cat(kOptimizerOption, ": nesterov=1 needs a momentum, such as momentum=0.9"));
  return out;
}

Term step_of(const Optimizer& o, const Term& parameter, const Term& gradient, const UpdateContext& context) {
  const bool added = o.decay != 0 && o.kind != OptimizerKind::adamw;
  const Term g = added ? gradient + parameter * o.decay : gradient;
  return o.kind == OptimizerKind::sgd ? sgd_step(o, g, context) : adam_step(o, parameter, g, context);
}

}  // namespace buda::autograd
