// SPDX-License-Identifier: Apache-2.0
// Reductions over axes, and the largest elements.
#include "call.hpp"
#include "load.hpp"
#include "promotion.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/running_product.hpp>
#include <buda/tensor/tensor.hpp>

#include <cmath>
#include <numeric>

namespace buda::torchscript {
namespace {

struct Axes {
  Dims dims;
  bool keep = false;
};

// None, or an empty list, are all.
Result<Axes> axes_of(Call& n, std::size_t rank) {
  Axes out;
  BUDA_ASSIGN(out.keep, n.flag_or("keepdim", false));
  BUDA_ASSIGN(Dims given, n.integers_or("dim", {}));
  if (given.empty()) {
    out.dims.resize(rank);
    std::iota(out.dims.begin(), out.dims.end(), 0);
    return out;
  }
  BUDA_ASSIGN(out.dims, frontend::axes_of(n, given, std::max<std::size_t>(rank, 1)));
  if (rank == 0) out.dims.clear();
  return out;
}

Ref reduced(ops::Builder& b, std::string_view op, Ref x, const Axes& axes) {
  return b.op(op, {x}, {{"dims", axes.dims}, {"keep_dims", axes.keep}});
}

// Of one element: an op of no axes would mean all.
Ref reduced_or_same(Call& n, ops::Builder& (*where)(Call&), std::string_view op, Ref x, const Axes& axes) {
  return axes.dims.empty() ? x : reduced(where(n), op, x, axes);
}

ops::Builder& as_result(Call& n) { return n.result(); }

// The type that is asked for, or that integers are summed in.
Result<Ref> summand(Call& n) {
  BUDA_ASSIGN(auto dtype, n.dtype("self"));
  Ref x = n.ref("self");
  if (n.has("dtype")) {
    BUDA_ASSIGN(auto code, n.integer("dtype"));
    auto to = dtype_of_code(code);
    if (!to) return n.refuse(cat("its dtype is number ", code, ", which is not supported"));
    return n.cast(x, *to);
  }
  return is_float(dtype) ? x : n.cast(x, DType::i64);
}

Result<Value> reduce_sum(Call& n) {
  BUDA_ASSIGN(Shape shape, n.shape("self"));
  BUDA_ASSIGN(Axes axes, axes_of(n, shape.rank()));
  BUDA_ASSIGN(Ref x, summand(n));
  return n.tensor(reduced_or_same(n, as_result, n.importer().op, x, axes));
}

Result<Value> reduce_plain(Call& n) {
  BUDA_ASSIGN(Shape shape, n.shape("self"));
  BUDA_ASSIGN(Axes axes, axes_of(n, shape.rank()));
  return n.tensor(reduced_or_same(n, as_result, n.importer().op, n.ref("self"), axes));
}

// Mean of squared distances from the mean, divided by one less (or by `correction` less) than there are elements.
Result<Ref> variance(Call& n, const Axes& axes, const Shape& shape, Ref x, Ref mean, bool last) {
  double correction = 1;
  if (const auto* flag = n["unbiased"].as<bool>()) correction = *flag ? 1 : 0;
  if (n.has("correction")) {
    BUDA_ASSIGN(correction, n.real_or("correction", 1));
  }
  double count = 1;
  for (auto d : axes.dims) count *= static_cast<double>(shape[static_cast<std::size_t>(d)]);
  BUDA_ASSIGN(auto dtype, n.dtype("self"));
  Ref centred = n.step("centred").subtract(x, mean);
  Ref squares = n.step("squares").square(centred);
  if (correction == 0) return reduced(last ? n.result() : n.step("variance"), "reduce_avg", squares, axes);
  if (count <= correction) return n.refuse(cat("takes the variance of ", count, " elements with a correction of ", correction));
  Ref average = reduced(n.step("average"), "reduce_avg", squares, axes);
  Ref factor = n.number(count / (count - correction), dtype);
  return (last ? n.result() : n.step("variance")).multiply(average, factor);
}

Result<Value> reduce_variance(Call& n) {
  BUDA_ASSIGN(Shape shape, n.shape("self"));
  // var(self, unbiased): the second argument is a flag.
  if (const auto* flag = n["dim"].as<bool>()) {
    const Value unbiased = *flag;
    n.argument(1) = Value(Nothing{});
    n.argument(2) = unbiased;
  }
  BUDA_ASSIGN(Axes axes, axes_of(n, shape.rank()));
  if (axes.dims.empty()) return n.refuse("takes the variance of one element");
  Ref x = n.ref("self");
  Ref mean = reduced(n.step("mean"), "reduce_avg", x, {axes.dims, true});
  const std::string_view name = n.importer().name;
  const bool root = name == "std" || name == "std_mean";
  BUDA_ASSIGN(Ref y, variance(n, axes, shape, x, mean, !root));
  if (root) y = n.result().sqrt(y);
  if (name != "var_mean" && name != "std_mean") return n.tensor(y);
  if (!axes.keep) mean = n.step("mean.squeezed").squeeze(mean, axes.dims);
  return tuple_of({n.tensor(y), n.tensor(mean)});
}

// ---- largest and smallest

// max(a), max(a, b), max(a, dim, keepdim), whose results are values and places.
Result<Value> reduce_extreme(Call& n) {
  const bool largest = n.importer().name == "max";
  BUDA_ASSIGN(Shape shape, n.shape("self"));
  if (n.is_tensor("dim")) {
    BUDA_ASSIGN(auto dtype, promoted_type(n, {"self", "dim"}));
    BUDA_ASSIGN(Ref a, operand(n, "self", dtype));
    BUDA_ASSIGN(Ref b, operand(n, "dim", dtype));
    return n.tensor(largest ? n.result().maximum(a, b) : n.result().minimum(a, b));
  }
  Ref x = n.ref("self");
  const std::string op = largest ? "reduce_max" : "reduce_min";
  if (!n.has("dim")) {
    BUDA_ASSIGN(Axes axes, axes_of(n, shape.rank()));
    return n.tensor(reduced_or_same(n, as_result, op, x, axes));
  }
  BUDA_ASSIGN(auto axis, n.axis_or("dim", -1, shape.rank()));
  BUDA_ASSIGN(bool keep, n.flag_or("keepdim", false));
  if (shape.rank() == 0) return n.refuse("takes the largest of one number along an axis");
  Ref places = n.step("places").op(largest ? "argmax" : "argmin", {x}, {{"dim", axis}, {"keep_dims", keep}});
  Ref most = n.result().op(op, {x}, {{"dims", Dims{axis}}, {"keep_dims", keep}});
  return tuple_of({n.tensor(most), n.tensor(places)});
}

Result<Value> reduce_place(Call& n) {
  BUDA_ASSIGN(Shape shape, n.shape("self"));
  BUDA_ASSIGN(bool keep, n.flag_or("keepdim", false));
  Ref x = n.ref("self");
  if (n.has("dim")) {
    BUDA_ASSIGN(auto axis, n.axis_or("dim", -1, shape.rank()));
    return n.tensor(n.result().op(n.importer().op, {x}, {{"dim", axis}, {"keep_dims", keep}}));
  }
  Ref flat = n.step("flat").reshape(x, Shape{shape.volume().value_or(0)});
  return n.tensor(n.result().op(n.importer().op, {flat}, {{"dim", std::int64_t{0}}, {"keep_dims", false}}));
}

Result<Value> reduce_topk(Call& n) {
  BUDA_ASSIGN(Shape shape, n.shape("self"));
  BUDA_ASSIGN(auto axis, n.axis_or("dim", -1, shape.rank()));
  if (shape.rank() == 0) return n.refuse("sorts one number");
  BUDA_ASSIGN(auto k, n.integer_or("k", shape[static_cast<std::size_t>(axis)]));
  BUDA_ASSIGN(bool largest, n.flag_or(n.importer().name == "topk" ? "largest" : "descending", n.importer().name == "topk"));
  Ref x = n.ref("self");
  Ref y = n.result().op("topk", {x}, {{"dim", axis}, {"k", k}, {"largest", largest}});
  if (n.importer().name != "argsort") return n.results(y, 2);
  return y.valid() ? n.tensor(Ref(y.node, 1)) : Value(Failed{});
}

// Does it hold for any element, or for all?
Result<Value> reduce_truth(Call& n) {
  BUDA_ASSIGN(Shape shape, n.shape("self"));
  BUDA_ASSIGN(Axes axes, axes_of(n, shape.rank()));
  Ref x = n.ref("self");
  Ref truth = n.cast(x, DType::boolean, "truth");
  Ref number = n.cast(truth, DType::u8, "number");
  if (!axes.dims.empty()) number = reduced(n.step("reduced"), n.importer().op, number, axes);
  return n.tensor(n.cast(number, DType::boolean, "result"));
}

// ---- sums of powers

Result<Value> reduce_norm(Call& n) {
  BUDA_ASSIGN(Shape shape, n.shape("self"));
  BUDA_ASSIGN(Axes axes, axes_of(n, shape.rank()));
  double p = 2;
  if (const auto* text = n["p"].as<std::string>()) {
    if (*text != "fro") return n.refuse(cat("its p is '", *text, "'; 'fro' and numbers are supported"));
  } else {
    BUDA_ASSIGN(p, n.real_or("p", 2));
  }
  BUDA_ASSIGN(Ref x, real_operand(n, "self"));
  if (std::isinf(p)) {
    Ref size = n.step("abs").abs(x);
    return n.tensor(reduced_or_same(n, as_result, p > 0 ? "reduce_max" : "reduce_min", size, axes));
  }
  if (p == 1) {
    Ref size = n.step("abs").abs(x);
    return n.tensor(reduced_or_same(n, as_result, "reduce_sum", size, axes));
  }
  if (p <= 0) return n.refuse(cat("its p is ", p, "; positive ones and infinity are supported"));
  if (p != 2) {
    Ref size = n.step("abs").abs(x);
    Ref exponent = n.number(p, DType::f32), root = n.number(1 / p, DType::f32);
    Ref powers = n.step("powers").power(size, exponent);
    Ref sum = axes.dims.empty() ? powers : reduced(n.step("sum"), "reduce_sum", powers, axes);
    return n.tensor(n.result().power(sum, root));
  }
  Ref squares = n.step("squares").square(x);
  Ref sum = axes.dims.empty() ? squares : reduced(n.step("sum"), "reduce_sum", squares, axes);
  return n.tensor(n.result().sqrt(sum));
}

// log(sum(e^(x - m))) + m with the maximum m, so that nothing overflows.
Result<Value> reduce_logsumexp(Call& n) {
  BUDA_ASSIGN(Shape shape, n.shape("self"));
  BUDA_ASSIGN(Axes axes, axes_of(n, shape.rank()));
  BUDA_ASSIGN(Ref x, real_operand(n, "self"));
  if (axes.dims.empty()) return n.tensor(x);
  Ref most = reduced(n.step("max"), "reduce_max", x, {axes.dims, true});
  Ref shifted = n.step("shifted").subtract(x, most);
  Ref powers = n.step("exp").exp(shifted);
  Ref sum = reduced(n.step("sum"), "reduce_sum", powers, axes);
  Ref log = n.step("log").log(sum);
  if (!axes.keep) most = n.step("max.squeezed").squeeze(most, axes.dims);
  return n.tensor(n.result().add(log, most));
}

Result<Value> reduce_cumsum(Call& n) {
  BUDA_ASSIGN(Shape shape, n.shape("self"));
  BUDA_ASSIGN(auto axis, n.axis_or("dim", 0, shape.rank()));
  BUDA_ASSIGN(Ref x, summand(n));
  if (shape.rank() == 0) return n.tensor(x);
  return n.tensor(n.result().op("cumsum", {x}, {{"dim", axis}}));
}

Result<Value> reduce_cumprod(Call& n) {
  BUDA_ASSIGN(Shape shape, n.shape("self"));
  BUDA_ASSIGN(auto axis, n.axis_or("dim", 0, shape.rank()));
  BUDA_ASSIGN(Ref x, summand(n));
  return n.tensor(shape.rank() == 0 ? x : frontend::running_product(n, x, shape, axis));
}

Result<Value> reduce_count(Call& n) {
  BUDA_ASSIGN(Shape shape, n.shape("self"));
  BUDA_ASSIGN(Axes axes, axes_of(n, shape.rank()));
  Ref x = n.ref("self");
  Ref truth = n.cast(x, DType::boolean, "truth");
  return n.tensor(reduced_or_same(n, as_result, "reduce_sum", n.cast(truth, DType::i64, "number"), axes));
}

// The quantile q of sorted elements lies at place q (n - 1), between two of them.
Result<Ref> quantile_of(Call& n, ops::Builder& (*where)(Call&), Ref sorted, std::int64_t axis, std::int64_t size, double q, DType dtype) {
  BUDA_ASSIGN(const std::string how, n.text_or("interpolation", "linear"));
  if (!(q >= 0 && q <= 1)) return n.refuse(cat("takes quantile ", q, "; they lie between 0 and 1"));
  const double place = q * static_cast<double>(size - 1);
  const auto low = static_cast<std::int64_t>(std::floor(place)), high = static_cast<std::int64_t>(std::ceil(place));
  const double way = place - static_cast<double>(low);
  const auto one = [&](ops::Builder& b, std::int64_t i) { return b.slice(sorted, axis, i, i + 1); };
  if (low == high || how == "lower") return one(where(n), low);
  if (how == "higher") return one(where(n), high);
  if (how == "nearest") return one(where(n), static_cast<std::int64_t>(std::nearbyint(place)));
  if (how != "linear" && how != "midpoint") return n.refuse(cat("its interpolation is '", how, '\''));
  Ref below = one(n.step("below"), low), above = one(n.step("above"), high);
  Ref distance = n.step("distance").subtract(above, below), factor = n.number(how == "midpoint" ? 0.5 : way, dtype);
  Ref part = n.step("part").multiply(distance, factor);
  return where(n).add(below, part);
}

ops::Builder& as_quantile(Call& n) { return n.step("quantile"); }

Result<Value> reduce_quantile(Call& n) {
  BUDA_ASSIGN(Shape shape, n.shape("self"));
  BUDA_ASSIGN(const auto dtype, n.dtype("self"));
  BUDA_ASSIGN(const bool keep, n.flag_or("keepdim", false));
  const bool flat = !n.has("dim");
  if (flat && keep) return n.refuse("keeps all axes, which is not supported: give it a dim");
  Ref x = n.ref("self");
  if (flat) {
    shape = Shape{shape.volume().value_or(0)};
    x = n.step("flat").reshape(x, shape);
  }
  BUDA_ASSIGN(const auto axis, n.axis_or("dim", 0, shape.rank()));
  const auto size = shape[static_cast<std::size_t>(axis)];
  if (size < 1) return n.refuse("takes a quantile of no elements");
  const Ref sorted = n.step("sorted").op("topk", {x}, {{"dim", axis}, {"k", size}, {"largest", false}});
  if (!n.is_tensor("q")) {
    BUDA_ASSIGN(const double q, n.real_or("q", 0));
    BUDA_ASSIGN(Ref y, quantile_of(n, keep ? as_result : as_quantile, sorted, axis, size, q, dtype));
    return n.tensor(keep ? y : n.result().squeeze(y, {axis}));
  }
  BUDA_ASSIGN(const Tensor q, n.known("q"));
  if (q.shape().rank() > 1) return n.refuse(cat("its q is ", q.shape().text()));
  std::vector<graph::Edge> parts;
  for (const float each : q.to_f32()) {
    BUDA_ASSIGN(Ref y, quantile_of(n, as_quantile, sorted, axis, size, each, dtype));
    if (!keep) y = n.step("squeezed").squeeze(y, {axis});
    if (q.shape().rank() == 0) return n.tensor(y);
    parts.emplace_back(n.step("row").unsqueeze(y, {0}));
  }
  if (parts.empty()) return n.refuse("its q is empty");
  return n.tensor(parts.size() == 1 ? parts[0].source : n.result().concatenate(std::move(parts), 0));
}

constexpr OpImporter kReductionOps[] = {
    {"all", "self dim keepdim", reduce_truth, "reduce_min"},
    {"amax", "self dim keepdim", reduce_plain, "reduce_max"},
    {"amin", "self dim keepdim", reduce_plain, "reduce_min"},
    {"any", "self dim keepdim", reduce_truth, "reduce_max"},
    {"argmax", "self dim keepdim", reduce_place, "argmax"},
    {"argmin", "self dim keepdim", reduce_place, "argmin"},
    {"argsort", "self dim descending stable", reduce_topk},
    {"count_nonzero", "self dim", reduce_count},
    {"cumprod", "self dim dtype", reduce_cumprod},
    {"cumsum", "self dim dtype", reduce_cumsum},
    {"frobenius_norm", "self dim keepdim p", reduce_norm},
    {"linalg_vector_norm", "self p dim keepdim dtype", reduce_norm},
    {"logsumexp", "self dim keepdim", reduce_logsumexp},
    {"max", "self dim keepdim", reduce_extreme},
    {"mean", "self dim keepdim dtype", reduce_sum, "reduce_avg"},
    {"min", "self dim keepdim", reduce_extreme},
    {"norm", "self p dim keepdim dtype", reduce_norm, "", "p positive or infinite"},
    {"prod", "self dim keepdim dtype", reduce_sum, "reduce_prod"},
    {"quantile", "self q dim keepdim interpolation", reduce_quantile},
    {"sort", "self dim descending stable", reduce_topk},
    {"std", "self dim unbiased keepdim correction", reduce_variance},
    {"std_mean", "self dim unbiased keepdim correction", reduce_variance},
    {"sum", "self dim keepdim dtype", reduce_sum, "reduce_sum"},
    {"topk", "self k dim largest sorted", reduce_topk},
    {"var", "self dim unbiased keepdim correction", reduce_variance},
    {"var_mean", "self dim unbiased keepdim correction", reduce_variance},
};

}  // namespace

std::span<const OpImporter> reduction_ops() { return kReductionOps; }

}  // namespace buda::torchscript
