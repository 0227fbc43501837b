// SPDX-License-Identifier: Apache-2.0
// ONNX's operators of training: Gradient, and the updates Adagrad, Adam and Momentum, of several tensors at once. T, the number of
// the step, and R, the learning rate, are inputs.
#include "node_import.hpp"

#include <buda/autograd/gradients.hpp>
#include <buda/base/text.hpp>

#include <cmath>

namespace buda::onnx_frontend {
namespace {

using Ref = graph::ValueRef;

constexpr std::size_t kFirstTensor = 2;  // after R and T

// Arithmetic in the element type of a tensor, in nodes whose names end in its number.
class Update {
 public:
  // Of tensor `at` of `count`; the inputs are R, T, and groups of `count` tensors each: X, G, and the states.
  Update(NodeImport& n, std::size_t at, std::size_t count, DType dtype) : n_(n), at_(at), count_(count), dtype_(dtype) {}

  Ref in(std::size_t group) { return n_.input(kFirstTensor + group * count_ + at_); }
  Ref rate() { return n_.cast(n_.input(0), dtype_, name("rate")); }
  Ref step() { return n_.cast(n_.input(1), dtype_, name("step")); }
  Ref number(double value) { return n_.step(name("number")).constant(value, dtype_); }
  Ref op(std::string_view op, std::string_view what, Ref a, Ref b) { return n_.step(name(what)).op(op, {a, b}); }
  Ref op(std::string_view op, std::string_view what, Ref a) { return n_.step(name(what)).op(op, {a}); }
  Ref add(std::string_view what, Ref a, Ref b) { return op("add", what, a, b); }
  Ref subtract(std::string_view what, Ref a, Ref b) { return op("subtract", what, a, b); }
  Ref multiply(std::string_view what, Ref a, Ref b) { return op("multiply", what, a, b); }
  Ref divide(std::string_view what, Ref a, Ref b) { return op("divide", what, a, b); }
  Ref scaled(std::string_view what, Ref a, double factor) {
    if (factor == 1) return a;
    const Ref constant = number(factor);
    return multiply(what, a, constant);
  }
  // a where the step is not the first, 0, else b.
  Ref after_first(std::string_view what, Ref a, Ref b) {
    const Ref zero = number(0), t = step();
    const Ref later = op("greater", "later", t, zero);
    return n_.step(name(what)).op("where", {later, a, b});
  }
  // G + norm_coefficient X.
  Ref gradient() {
    const double coefficient = n_.real("norm_coefficient", 0);
    if (coefficient == 0) return in(1);
    const Ref decay = scaled("decay", in(0), coefficient);
    return add("gradient", decay, in(1));
  }
  void output(std::size_t group, Ref value) { n_.output(value, group * count_ + at_); }

 private:
  std::string name(std::string_view what) { return cat(what, at_ == 0 ? "" : cat(".", at_), used_++ == 0 ? "" : cat(".", used_)); }

  NodeImport& n_;
  std::size_t at_, count_;
  DType dtype_;
  std::size_t used_ = 0;
};

// For each of the tensors, of which there are `states` groups beside X and G.
Result<void> for_each_tensor(NodeImport& n, std::size_t states, void (*update)(NodeImport&, Update&)) {
  const std::size_t tensors = n.input_count() - std::min(n.input_count(), kFirstTensor), groups = states + 2;
  if (tensors == 0 || tensors % groups != 0)
    return n.refuse(cat("has ", tensors, " tensors after R and T; they come in ", groups, " groups of the same number"));
  for (std::size_t i = 0; i < tensors / groups; ++i) {
    BUDA_ASSIGN(const auto type, n.type(kFirstTensor + i));
    if (!is_float(type.dtype))
      return n.refuse(cat("updates a tensor of ", dtype_name(type.dtype), "; numbers of a floating-point type can learn"));
    Update u(n, i, tensors / groups, type.dtype);
    update(n, u);
  }
  return success();
}

// r = R / (1 + T decay_factor), H' = H + G^2, X' = X - r G / (sqrt(H') + epsilon).
void adagrad(NodeImport& n, Update& u) {
  const Ref slowed = u.scaled("slowed", u.step(), n.real("decay_factor", 0));
  const Ref one = u.number(1);
  const Ref divisor = u.add("divisor", slowed, one);
  const Ref rate = u.divide("rate", u.rate(), divisor);
  const Ref g = u.gradient();
  const Ref square = u.multiply("square", g, g);
  const Ref sum = u.add("sum", u.in(2), square);
  const Ref epsilon = u.number(n.real("epsilon", 1e-6)), root = u.op("sqrt", "root", sum);
  const Ref size = u.add("size", root, epsilon);
  const Ref moved = u.multiply("moved", rate, g);
  const Ref change = u.divide("change", moved, size);
  u.output(0, u.subtract("result", u.in(0), change));
  u.output(1, sum);
}

// V' = alpha V + (1 - alpha) G, H' = beta H + (1 - beta) G^2, r = R sqrt(1 - beta^T) / (1 - alpha^T) after the first step,
// X' = (X - r V' / (sqrt(H') + epsilon)) (1 - norm_coefficient_post).
void adam(NodeImport& n, Update& u) {
  const double alpha = n.real("alpha", 0.9), beta = n.real("beta", 0.999);
  const Ref g = u.gradient();
  const auto mean = [&](std::size_t state, Ref x, double kept) {
    const Ref before = u.scaled("kept", u.in(state), kept);
    const Ref part = u.scaled("part", x, 1 - kept);
    return u.add("mean", before, part);
  };
  const Ref velocity = mean(2, g, alpha);
  const Ref square = u.multiply("square", g, g);
  const Ref spread = mean(3, square, beta);
  const auto corrected = [&](double base) {
    const Ref of = u.number(base), t = u.step();
    const Ref power = u.op("power", "power", of, t), one = u.number(1);
    return u.subtract("corrected", one, power);
  };
  const Ref above = corrected(beta);
  const Ref root_above = u.op("sqrt", "root", above), below = corrected(alpha);
  const Ref ratio = u.divide("ratio", root_above, below), rate = u.rate();
  const Ref raised = u.multiply("raised", rate, ratio);
  const Ref adjusted = u.after_first("adjusted", raised, rate);
  const Ref root = u.op("sqrt", "deviation", spread), epsilon = u.number(n.real("epsilon", 1e-6));
  const Ref size = u.add("size", root, epsilon);
  const Ref moved = u.multiply("moved", adjusted, velocity);
  const Ref change = u.divide("change", moved, size);
  const Ref next = u.subtract("result", u.in(0), change);
  u.output(0, u.scaled("shrunk", next, 1 - n.real("norm_coefficient_post", 0)));
  u.output(1, velocity);
  u.output(2, spread);
}

// V' = alpha V + beta G, beta being 1 in the first step; X' = X - R V', or with Nesterov's X - R (G + alpha V').
void momentum(NodeImport& n, Update& u) {
  const double alpha = n.real("alpha", 0);
  const Ref g = u.gradient();
  const Ref beta = u.number(n.real("beta", 0)), one = u.number(1);
  const Ref share = u.after_first("share", beta, one);
  const Ref part = u.multiply("part", share, g), kept = u.scaled("kept", u.in(2), alpha);
  const Ref velocity = u.add("velocity", kept, part);
  Ref direction = velocity;
  if (n.text("mode", "") == "nesterov") {
    const Ref ahead = u.scaled("ahead", velocity, alpha);
    direction = u.add("direction", g, ahead);
  }
  const Ref change = u.multiply("change", u.rate(), direction);
  u.output(0, u.subtract("result", u.in(0), change));
  u.output(1, velocity);
}

Result<void> import_adagrad(NodeImport& n) { return for_each_tensor(n, 1, adagrad); }
Result<void> import_adam(NodeImport& n) { return for_each_tensor(n, 2, adam); }
Result<void> import_momentum(NodeImport& n) { return for_each_tensor(n, 1, momentum); }

// Of the tensor that `y` names, by those of `xs`, whose values are the inputs; zs are others that y depends on.
Result<void> import_gradient(NodeImport& n) {
  const std::vector<std::string> xs = n.texts("xs"), zs = n.texts("zs");
  const std::string y_name = n.text("y", "");
  const Operand y = n.named(y_name);
  if (y == nullptr) return n.refuse(cat("y names '", y_name, "', which no node before it computes"));
  if (n.input_count() != xs.size() + zs.size())
    return n.refuse(cat("has ", n.input_count(), " inputs for ", xs.size() + zs.size(), " names"));
  std::vector<Ref> wanted;
  for (std::size_t i = 0; i < n.input_count(); ++i) {
    const std::string& name = i < xs.size() ? xs[i] : zs[i - xs.size()];
    if (n.named(name) != n.operand(i))
      return n.refuse(cat("has another value than '", name, "' as input ", i, "; gradients are computed where the model computes y"));
    if (i < xs.size()) wanted.push_back(n.input(i));
  }
  BUDA_ASSIGN(const auto gradients, autograd::gradients_of(*n.store().graph, n.ref(y), wanted));
  for (std::size_t i = 0; i < gradients.size(); ++i) n.output(gradients[i], i);
  return success();
}

constexpr OpImporter kOps[] = {
    {"Adagrad", 1, import_adagrad}, {"Adam", 1, import_adam}, {"Gradient", 1, import_gradient}, {"Momentum", 1, import_momentum}};

}  // namespace

std::span<const OpImporter> training_ops() { return kOps; }

}  // namespace buda::onnx_frontend
