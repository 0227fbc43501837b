// SPDX-License-Identifier: Apache-2.0
// Losses and distances: how far a result is from what it should be.
#include "call.hpp"
#include "promotion.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <cmath>
#include <numeric>

namespace buda::torchscript {
namespace {

struct RealOperands {
  DType dtype = DType::f32;
  Ref a, b;
};

Result<RealOperands> real_pair(Call& n, std::string_view first, std::string_view second) {
  RealOperands out;
  BUDA_ASSIGN(out.dtype, promoted_type(n, {first, second}));
  if (!is_float(out.dtype)) out.dtype = DType::f32;
  BUDA_ASSIGN(out.a, operand(n, first, out.dtype));
  BUDA_ASSIGN(out.b, operand(n, second, out.dtype));
  return out;
}

Dims axes_of_all(const Shape& shape) {
  Dims out(shape.rank());
  std::iota(out.begin(), out.end(), 0);
  return out;
}

Ref over_all(ops::Builder& b, std::string_view op, Ref x, const Shape& shape) {
  return shape.rank() == 0 ? x : b.op(op, {x}, {{"dims", axes_of_all(shape)}, {"keep_dims", false}});
}

// As PyTorch numbers them: 0 leaves each element, 1 takes their mean, 2 their sum.
enum class Reduction : std::uint8_t { none, mean, sum };

Result<Reduction> reduction_of(Call& n) {
  BUDA_ASSIGN(const auto number, n.integer_or("reduction", 1));
  if (number < 0 || number > 2) return n.refuse(cat("its reduction is number ", number, "; 0, 1 and 2 are known"));
  return static_cast<Reduction>(number);
}

Result<Value> loss_reduced(Call& n, Ref each) {
  BUDA_ASSIGN(const Reduction reduction, reduction_of(n));
  if (reduction == Reduction::none) return n.tensor(each);
  BUDA_ASSIGN(const Shape shape, n.shape_of(each));
  return n.tensor(over_all(n.result(), reduction == Reduction::mean ? "reduce_avg" : "reduce_sum", each, shape));
}

Result<Value> loss_of_difference(Call& n) {
  BUDA_ASSIGN(auto p, real_pair(n, "self", "target"));
  Ref away = n.step("away").subtract(p.a, p.b);
  return loss_reduced(n, n.importer().op == "square" ? n.step("square").square(away) : n.step("abs").abs(away));
}

// Squares near zero, and the distance beyond `edge`: with c the distance cut at the edge, c (d - c / 2). The other form divides by the
// edge.
Result<Value> loss_with_edge(Call& n) {
  const bool huber = n.importer().name == "huber_loss";
  BUDA_ASSIGN(const double edge, n.real_or(huber ? "delta" : "beta", 1));
  BUDA_ASSIGN(auto p, real_pair(n, "self", "target"));
  Ref away = n.step("away").subtract(p.a, p.b);
  Ref distance = n.step("abs").abs(away);
  if (edge <= 0) return huber ? Result<Value>(n.refuse(cat("its delta is ", edge))) : loss_reduced(n, distance);
  Ref half = n.number(0.5, p.dtype);
  Ref near = n.step("near").clip(distance, 0, edge);
  Ref inner = n.step("inner").multiply(near, half);
  Ref outer = n.step("outer").subtract(distance, inner);
  Ref each = n.step("each").multiply(near, outer);
  if (!huber && edge != 1) {
    Ref scale = n.number(1 / edge, p.dtype);
    each = n.step("scaled").multiply(each, scale);
  }
  return loss_reduced(n, each);
}

Result<Ref> loss_weighted(Call& n, Ref each, DType dtype) {
  if (!n.has("weight")) return each;
  BUDA_ASSIGN(Ref weight, operand(n, "weight", dtype));
  return n.step("weighted").multiply(each, weight);
}

// -(t log x + (1 - t) log(1 - x)), no logarithm below -100.
Result<Value> loss_binary(Call& n) {
  BUDA_ASSIGN(auto p, real_pair(n, "self", "target"));
  constexpr double kLeast = -100, kMost = 100;
  Ref one = n.number(1, p.dtype);
  Ref other = n.step("other").subtract(one, p.a), other_target = n.step("other_target").subtract(one, p.b);
  Ref log = n.step("log").log(p.a), other_log = n.step("other_log").log(other);
  log = n.step("log.least").clip(log, kLeast, kMost);
  other_log = n.step("other_log.least").clip(other_log, kLeast, kMost);
  Ref term = n.step("term").multiply(p.b, log), other_term = n.step("other_term").multiply(other_target, other_log);
  Ref sum = n.step("sum").add(term, other_term);
  BUDA_ASSIGN(Ref each, loss_weighted(n, n.step("each").negative(sum), p.dtype));
  return loss_reduced(n, each);
}

// (1 - t) x + (1 + (w - 1) t) (log(1 + e^-|x|) + max(-x, 0))
Result<Value> loss_binary_of_logits(Call& n) {
  BUDA_ASSIGN(auto p, real_pair(n, "self", "target"));
  Ref one = n.number(1, p.dtype);
  Ref size = n.step("abs").abs(p.a);
  Ref minus_size = n.step("minus_abs").negative(size);
  Ref power = n.step("exp").exp(minus_size);
  Ref above_one = n.step("above_one").add(power, one);
  Ref log = n.step("log").log(above_one);
  Ref minus = n.step("minus").negative(p.a);
  Ref below = n.step("below").relu(minus);
  Ref soft = n.step("soft").add(log, below);
  if (n.has("pos_weight")) {
    BUDA_ASSIGN(Ref weight, operand(n, "pos_weight", p.dtype));
    Ref more = n.step("more").subtract(weight, one);
    Ref part = n.step("part").multiply(more, p.b);
    Ref factor = n.step("factor").add(part, one);
    soft = n.step("soft.weighted").multiply(soft, factor);
  }
  Ref other_target = n.step("other_target").subtract(one, p.b);
  Ref term = n.step("term").multiply(other_target, p.a);
  BUDA_ASSIGN(Ref each, loss_weighted(n, n.step("each").add(term, soft), p.dtype));
  return loss_reduced(n, each);
}

// log(1 + e^(-t x)) = log(1 + e^-|t x|) + max(-t x, 0)
Result<Value> loss_soft_margin(Call& n) {
  BUDA_ASSIGN(auto p, real_pair(n, "self", "target"));
  Ref product = n.step("product").multiply(p.a, p.b);
  Ref size = n.step("abs").abs(product);
  Ref minus_size = n.step("minus_abs").negative(size);
  Ref power = n.step("exp").exp(minus_size);
  Ref one = n.number(1, p.dtype);
  Ref above_one = n.step("above_one").add(power, one);
  Ref log = n.step("log").log(above_one);
  Ref minus = n.step("minus").negative(product);
  Ref below = n.step("below").relu(minus);
  return loss_reduced(n, n.step("each").add(log, below));
}

// t (log t - x), which is 0 where t is 0; or e^t (t - x).
Result<Value> loss_divergence(Call& n) {
  BUDA_ASSIGN(const bool of_logs, n.flag_or("log_target", false));
  BUDA_ASSIGN(auto p, real_pair(n, "self", "target"));
  if (of_logs) {
    Ref away = n.step("away").subtract(p.b, p.a);
    Ref target = n.step("exp").exp(p.b);
    return loss_reduced(n, n.step("each").multiply(target, away));
  }
  Ref zero = n.number(0, p.dtype), one = n.number(1, p.dtype);
  Ref positive = n.step("positive").op("greater", {p.b, zero});
  Ref taken = n.step("taken").op("where", {positive, p.b, one});
  Ref log = n.step("log").log(taken);
  Ref away = n.step("away").subtract(log, p.a);
  Ref term = n.step("term").multiply(p.b, away);
  return loss_reduced(n, n.step("each").op("where", {positive, term, zero}));
}

// ---- classes

// Logarithms of probabilities, and for each sample the weight of its class at that class: those that are ignored have none.
struct OfClasses {
  DType dtype = DType::f32;
  Ref logs, weights;
  std::int64_t axis = 0, classes = 0;
  Shape shape;
};

Result<OfClasses> of_classes(Call& n, Ref logs, DType dtype) {
  OfClasses out;
  out.dtype = dtype;
  out.logs = logs;
  BUDA_ASSIGN(out.shape, n.shape_of(logs));
  if (out.shape.rank() == 0) return n.refuse("its input has no axis of classes");
  out.axis = out.shape.rank() == 1 ? 0 : 1;
  out.classes = out.shape[static_cast<std::size_t>(out.axis)];
  BUDA_ASSIGN(const auto ignored, n.integer_or("ignore_index", -100));
  BUDA_ASSIGN(const Shape targets, n.shape("target"));
  if (targets.rank() + 1 != out.shape.rank()) return n.refuse(cat("its input is ", out.shape.text(), " and its target ", targets.text()));
  Ref target = n.cast(n.ref("target"), DType::i64, "classes");
  Ref wide = n.step("target").unsqueeze(target, {out.axis});
  Dims column(out.shape.rank(), 1);
  column[static_cast<std::size_t>(out.axis)] = out.classes;
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(out.classes));
  std::iota(numbers.begin(), numbers.end(), 0);
  // No target is equal to the number of a class that is ignored.
  if (ignored >= 0 && ignored < out.classes) numbers[static_cast<std::size_t>(ignored)] = -1;
  Ref known = n.constant(Tensor(Shape(column), std::move(numbers)));
  Ref hit = n.step("hit").op("equal", {wide, known});
  if (!n.has("weight")) {
    out.weights = n.cast(hit, dtype, "weights");
    return out;
  }
  BUDA_ASSIGN(Ref weight, operand(n, "weight", dtype));
  Ref spread = n.step("weight").reshape(weight, Shape(column));
  Ref zero = n.number(0, dtype);
  out.weights = n.step("weights").op("where", {hit, spread, zero});
  return out;
}

Result<Value> negative_log_likelihood(Call& n, const OfClasses& c) {
  BUDA_ASSIGN(const Reduction reduction, reduction_of(n));
  Ref zero = n.number(0, c.dtype);
  // An infinite logarithm of a class that does not count is no NaN.
  Ref counts = n.step("counts").op("greater", {c.weights, zero});
  Ref term = n.step("term").multiply(c.weights, c.logs);
  Ref picked = n.step("picked").op("where", {counts, term, zero});
  if (reduction == Reduction::none) {
    Ref each = n.step("each").op("reduce_sum", {picked}, {{"dims", Dims{c.axis}}, {"keep_dims", false}});
    return n.tensor(n.result().negative(each));
  }
  Ref sum = over_all(n.step("sum"), "reduce_sum", picked, c.shape);
  if (reduction == Reduction::sum) return n.tensor(n.result().negative(sum));
  Ref all = over_all(n.step("weight.sum"), "reduce_sum", c.weights, c.shape);
  Ref mean = n.step("mean").divide(sum, all);
  return n.tensor(n.result().negative(mean));
}

Result<Value> loss_of_logs(Call& n) {
  BUDA_ASSIGN(Ref logs, real_operand(n, "self"));
  BUDA_ASSIGN(const auto dtype, n.dtype("self"));
  BUDA_ASSIGN(const OfClasses c, of_classes(n, logs, is_float(dtype) ? dtype : DType::f32));
  return negative_log_likelihood(n, c);
}

Result<Value> loss_cross_entropy(Call& n) {
  BUDA_ASSIGN(const double smoothing, n.real_or("label_smoothing", 0));
  if (smoothing != 0) return n.refuse("smooths labels, which is not supported: give it probabilities of classes as targets");
  BUDA_ASSIGN(Ref x, real_operand(n, "self"));
  BUDA_ASSIGN(const Shape shape, n.shape("self"));
  BUDA_ASSIGN(const auto given, n.dtype("self"));
  const DType dtype = is_float(given) ? given : DType::f32;
  const std::int64_t axis = shape.rank() <= 1 ? 0 : 1;
  Ref logs = n.step("logs").log_softmax(x, axis);
  BUDA_ASSIGN(const auto target_dtype, n.dtype("target"));
  if (!is_float(target_dtype)) {
    BUDA_ASSIGN(const OfClasses c, of_classes(n, logs, dtype));
    return negative_log_likelihood(n, c);
  }
  if (n.has("weight")) return n.refuse("has weights of classes, and its targets are probabilities, which is not supported");
  BUDA_ASSIGN(const Reduction reduction, reduction_of(n));
  BUDA_ASSIGN(Ref target, operand(n, "target", dtype));
  Ref term = n.step("term").multiply(target, logs);
  Ref sum = n.step("sum").op("reduce_sum", {term}, {{"dims", Dims{axis}}, {"keep_dims", false}});
  Ref each = n.step("each").negative(sum);
  if (reduction == Reduction::none) return n.tensor(each);
  BUDA_ASSIGN(const Shape rest, n.shape_of(each));
  return n.tensor(over_all(n.result(), reduction == Reduction::mean ? "reduce_avg" : "reduce_sum", each, rest));
}

// ---- distances

// Both in the shape that they have together.
Result<RealOperands> same_shapes(Call& n, std::string_view first, std::string_view second) {
  BUDA_ASSIGN(RealOperands p, real_pair(n, first, second));
  BUDA_ASSIGN(const Shape a, n.shape_of(p.a));
  BUDA_ASSIGN(const Shape b, n.shape_of(p.b));
  const auto all = broadcast(a, b);
  if (!all) return n.refuse(cat("has shapes ", a.text(), " and ", b.text(), ", which are incompatible"));
  if (a != *all) p.a = n.step("first").broadcast(p.a, *all);
  if (b != *all) p.b = n.step("second").broadcast(p.b, *all);
  return p;
}

Result<Value> distance_cosine(Call& n) {
  BUDA_ASSIGN(const double least, n.real_or("eps", 1e-8));
  BUDA_ASSIGN(RealOperands p, same_shapes(n, "x1", "x2"));
  BUDA_ASSIGN(const Shape shape, n.shape_of(p.a));
  if (shape.rank() == 0) return n.refuse("compares numbers, which have no direction");
  BUDA_ASSIGN(const auto axis, n.axis_or("dim", 1, shape.rank()));
  const auto sum_of = [&](std::string_view name, Ref x) {
    return n.step(name).op("reduce_sum", {x}, {{"dims", Dims{axis}}, {"keep_dims", false}});
  };
  Ref floor = n.number(least, p.dtype);
  const auto length_of = [&](const std::string& name, Ref x) {
    Ref squares = n.step(name + ".squares").square(x);
    Ref sum = sum_of(name + ".sum", squares);
    Ref length = n.step(name + ".length").sqrt(sum);
    return n.step(name + ".least").maximum(length, floor);
  };
  Ref product = sum_of("product.sum", n.step("product").multiply(p.a, p.b));
  Ref first = length_of("first", p.a), second = length_of("second", p.b);
  Ref lengths = n.step("lengths").multiply(first, second);
  return n.tensor(n.result().divide(product, lengths));
}

Result<Value> distance_pairwise(Call& n) {
  BUDA_ASSIGN(const double p, n.real_or("p", 2));
  BUDA_ASSIGN(const double eps, n.real_or("eps", 1e-6));
  BUDA_ASSIGN(const bool keep, n.flag_or("keepdim", false));
  if (!(p > 0) || std::isinf(p)) return n.refuse(cat("its p is ", p, "; positive and finite ones are supported"));
  BUDA_ASSIGN(RealOperands pair, same_shapes(n, "x1", "x2"));
  BUDA_ASSIGN(const Shape shape, n.shape_of(pair.a));
  const Dims last{static_cast<std::int64_t>(shape.rank()) - 1};
  if (shape.rank() == 0) return n.refuse("measures the distance of numbers");
  Ref away = n.step("away").subtract(pair.a, pair.b);
  Ref little = n.number(eps, pair.dtype);
  Ref moved = n.step("moved").add(away, little);
  Ref powers = p == 2 ? n.step("squares").square(moved) : n.step("abs").abs(moved);
  if (p != 1 && p != 2) {
    Ref exponent = n.number(p, pair.dtype), root = n.number(1 / p, pair.dtype);
    powers = n.step("powers").power(powers, exponent);
    Ref sum = n.step("sum").op("reduce_sum", {powers}, {{"dims", last}, {"keep_dims", keep}});
    return n.tensor(n.result().power(sum, root));
  }
  if (p == 1) return n.tensor(n.result().op("reduce_sum", {powers}, {{"dims", last}, {"keep_dims", keep}}));
  Ref sum = n.step("sum").op("reduce_sum", {powers}, {{"dims", last}, {"keep_dims", keep}});
  return n.tensor(n.result().sqrt(sum));
}

constexpr OpImporter kLossOps[] = {
    {"binary_cross_entropy", "self target weight reduction", loss_binary},
    {"binary_cross_entropy_with_logits", "self target weight pos_weight reduction", loss_binary_of_logits},
    {"cosine_similarity", "x1 x2 dim eps", distance_cosine},
    {"cross_entropy_loss", "self target weight reduction ignore_index label_smoothing", loss_cross_entropy, "", "without label_smoothing"},
    {"huber_loss", "self target reduction delta", loss_with_edge},
    {"kl_div", "self target reduction log_target", loss_divergence},
    {"l1_loss", "self target reduction", loss_of_difference, "abs"},
    {"mse_loss", "self target reduction", loss_of_difference, "square"},
    {"nll_loss", "self target weight reduction ignore_index", loss_of_logs},
    {"nll_loss2d", "self target weight reduction ignore_index", loss_of_logs},
    {"nll_loss_nd", "self target weight reduction ignore_index", loss_of_logs},
    {"pairwise_distance", "x1 x2 p eps keepdim", distance_pairwise, "", "p positive and finite"},
    {"smooth_l1_loss", "self target reduction beta", loss_with_edge},
    {"soft_margin_loss", "self target reduction", loss_soft_margin},
};

}  // namespace

std::span<const OpImporter> loss_ops() { return kLossOps; }

}  // namespace buda::torchscript
