// SPDX-License-Identifier: Apache-2.0
// Functions of each element.
#include "call.hpp"
#include "promotion.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/training_mode.hpp>

#include <cmath>
#include <limits>
#include <numbers>

namespace buda::torchscript {
namespace {

Result<Value> unary_real(Call& n) {
  BUDA_ASSIGN(Ref x, real_operand(n, "self"));
  return n.tensor(n.result().op(n.importer().op, {x}));
}

// Those that give an element of the type they take.
Result<Value> unary_same(Call& n) {
  Ref x = n.ref("self");
  BUDA_ASSIGN(auto dtype, n.dtype("self"));
  // Rounding leaves integers as they are.
  const bool rounds = n.importer().op == "floor" || n.importer().op == "ceil" || n.importer().op == "round";
  if (rounds && !is_float(dtype)) return n["self"];
  return n.tensor(n.result().op(n.importer().op, {x}));
}

// With attributes of the op that are arguments of the same names, in this order: name of ours, of theirs, standard.
struct Setting {
  const char *attribute, *argument;
  double standard;
};

Result<Value> unary_with(Call& n, std::initializer_list<Setting> settings) {
  BUDA_ASSIGN(Ref x, real_operand(n, "self"));
  ops::AttrMap attrs;
  for (const Setting& s : settings) {
    BUDA_ASSIGN(double value, n.real_or(s.argument, s.standard));
    attrs[s.attribute] = value;
  }
  return n.tensor(n.result().op(n.importer().op, {x}, std::move(attrs)));
}

Result<Value> unary_leaky_relu(Call& n) { return unary_with(n, {{"alpha", "negative_slope", 0.01}}); }
Result<Value> unary_celu(Call& n) { return unary_with(n, {{"alpha", "alpha", 1}}); }
Result<Value> unary_softshrink(Call& n) { return unary_with(n, {{"lambda", "lambd", 0.5}, {"bias", "lambd", 0.5}}); }
Result<Value> unary_hardshrink(Call& n) { return unary_with(n, {{"lambda", "lambd", 0.5}}); }

Result<Value> unary_hard_sigmoid(Call& n) {
  BUDA_ASSIGN(Ref x, real_operand(n, "self"));
  return n.tensor(n.result().op("hard_sigmoid", {x}, {{"alpha", 1.0 / 6}, {"beta", 0.5}}));
}

Result<Value> unary_elu(Call& n) {
  BUDA_ASSIGN(double scale, n.real_or("scale", 1));
  BUDA_ASSIGN(double input_scale, n.real_or("input_scale", 1));
  if (scale != 1 || input_scale != 1) return n.refuse("has scales, which are not supported");
  return unary_with(n, {{"alpha", "alpha", 1}});
}

Result<Value> unary_gelu(Call& n) {
  BUDA_ASSIGN(std::string approximate, n.text_or("approximate", "none"));
  BUDA_ASSIGN(Ref x, real_operand(n, "self"));
  if (approximate == "none") return n.tensor(n.result().op("gelu", {x}));
  return n.tensor(n.result().op("gelu", {x}, {{"approximate", approximate}}));
}

Result<Value> unary_silu(Call& n) {
  BUDA_ASSIGN(Ref x, real_operand(n, "self"));
  Ref gate = n.step("gate").sigmoid(x);
  return n.tensor(n.result().multiply(x, gate));
}

Result<Value> unary_clip(Call& n, double least, double most) {
  Ref x = n.ref("self");
  BUDA_ASSIGN(auto dtype, n.dtype("self"));
  if (is_float(dtype)) return n.tensor(n.result().clip(x, least, most));
  if (std::isfinite(least)) {
    Ref bound = n.number(least, dtype);
    x = (std::isfinite(most) ? n.step("least") : n.result()).maximum(x, bound);
  }
  if (std::isfinite(most)) {
    Ref bound = n.number(most, dtype);
    x = n.result().minimum(x, bound);
  }
  return n.tensor(x);
}

Result<Value> unary_relu6(Call& n) { return unary_clip(n, 0, 6); }

Result<Value> unary_hardtanh(Call& n) {
  BUDA_ASSIGN(double least, n.real_or("min_val", -1));
  BUDA_ASSIGN(double most, n.real_or("max_val", 1));
  return unary_clip(n, least, most);
}

// Bounds may be tensors, too.
Result<Value> unary_clamp(Call& n) {
  constexpr double kUnbound = std::numeric_limits<double>::infinity();
  if (!n.is_tensor("min") && !n.is_tensor("max")) {
    BUDA_ASSIGN(double least, n.real_or("min", -kUnbound));
    BUDA_ASSIGN(double most, n.real_or("max", kUnbound));
    return unary_clip(n, least, most);
  }
  std::vector<Value> operands{n["self"]};
  for (const char* name : {"min", "max"})
    if (n.has(name)) operands.push_back(n[name]);
  BUDA_ASSIGN(auto dtype, promoted_type(n, operands));
  BUDA_ASSIGN(Ref x, operand(n, "self", dtype));
  if (n.has("min")) {
    BUDA_ASSIGN(Ref least, operand(n, "min", dtype));
    x = (n.has("max") ? n.step("least") : n.result()).maximum(x, least);
  }
  if (n.has("max")) {
    BUDA_ASSIGN(Ref most, operand(n, "max", dtype));
    x = n.result().minimum(x, most);
  }
  return n.tensor(x);
}

// A function of ours, and a number that its argument, result or both are multiplied with or added to.
Result<Value> unary_composed(Call& n) {
  const std::string_view name = n.importer().name;
  BUDA_ASSIGN(Ref x, real_operand(n, "self"));
  const auto* type = n.state().builder.graph().type(x);
  if (type == nullptr) return Value(Failed{});
  const DType dtype = type->dtype;
  if (name == "expm1") {
    Ref e = n.step("exp").exp(x), one = n.number(1, dtype);
    return n.tensor(n.result().subtract(e, one));
  }
  if (name == "exp2") {
    Ref two = n.number(2, dtype);
    return n.tensor(n.result().power(two, x));
  }
  if (name == "log1p") {
    Ref one = n.number(1, dtype);
    Ref sum = n.step("sum").add(x, one);
    return n.tensor(n.result().log(sum));
  }
  if (name == "log2" || name == "log10") {
    Ref log = n.step("log").log(x), factor = n.number(name == "log2" ? std::numbers::log2e : std::numbers::log10e, dtype);
    return n.tensor(n.result().multiply(log, factor));
  }
  if (name == "rsqrt") {
    Ref root = n.step("root").sqrt(x);
    return n.tensor(n.result().reciprocal(root));
  }
  if (name == "erfc") {
    Ref e = n.step("erf").op("erf", {x}), one = n.number(1, dtype);
    return n.tensor(n.result().subtract(one, e));
  }
  // log_sigmoid: -softplus(-x)
  Ref negative = n.step("negative").negative(x);
  Ref soft = n.step("softplus").op("softplus", {negative});
  return n.tensor(n.result().negative(soft));
}

// ln(1 + e^(beta x)) / beta, and x where beta x is above the threshold, where both are the same to fp32.
Result<Value> unary_softplus(Call& n) {
  BUDA_ASSIGN(double beta, n.real_or("beta", 1));
  BUDA_ASSIGN(double threshold, n.real_or("threshold", 20));
  if (threshold < 15) return n.refuse(cat("its threshold is ", threshold, "; 15 and more is supported, where it makes no difference"));
  BUDA_ASSIGN(Ref x, real_operand(n, "self"));
  if (beta == 1) return n.tensor(n.result().op("softplus", {x}));
  Ref factor = n.number(beta, DType::f32);
  Ref scaled = n.step("scaled").multiply(x, factor);
  Ref soft = n.step("softplus").op("softplus", {scaled});
  return n.tensor(n.result().divide(soft, factor));
}

// x where it is above the threshold, else a value.
Result<Value> unary_threshold(Call& n) {
  BUDA_ASSIGN(auto dtype, n.dtype("self"));
  BUDA_ASSIGN(Ref threshold, operand(n, "threshold", dtype));
  BUDA_ASSIGN(Ref value, operand(n, "value", dtype));
  Ref x = n.ref("self");
  Ref above = n.step("above").op("greater", {x, threshold});
  return n.tensor(n.result().op("where", {above, x, value}));
}

Result<Value> unary_prelu(Call& n) {
  BUDA_ASSIGN(Shape x, n.shape("self"));
  BUDA_ASSIGN(Shape w, n.shape("weight"));
  Ref value = n.ref("self"), slope = n.ref("weight");
  if (w.rank() == 1 && w[0] != 1 && x.rank() > 2) slope = n.step("slope").reshape(slope, frontend::channel_shape(w[0], x.rank()));
  return n.tensor(n.result().op("prelu", {value, slope}));
}

// Halves of an axis: the first times the sigmoid of the second.
Result<Value> unary_glu(Call& n) {
  BUDA_ASSIGN(Shape shape, n.shape("self"));
  BUDA_ASSIGN(auto axis, n.axis_or("dim", -1, shape.rank()));
  const auto half = shape.rank() == 0 ? 0 : shape[static_cast<std::size_t>(axis)] / 2;
  Ref x = n.ref("self");
  Ref a = n.step("a").slice(x, axis, 0, half), b = n.step("b").slice(x, axis, half, 2 * half);
  Ref gate = n.step("gate").sigmoid(b);
  return n.tensor(n.result().multiply(a, gate));
}

Result<Value> unary_trunc(Call& n) {
  BUDA_ASSIGN(auto dtype, n.dtype("self"));
  if (!is_float(dtype)) return n["self"];
  Ref x = n.ref("self");
  Ref sign = n.step("sign").op("sign", {x}), size = n.step("abs").abs(x);
  Ref whole = n.step("floor").op("floor", {size});
  Ref cut = n.importer().name == "trunc" ? n.result().multiply(sign, whole) : n.step("trunc").multiply(sign, whole);
  return n.tensor(n.importer().name == "trunc" ? cut : n.result().subtract(x, cut));
}

Result<Value> unary_not(Call& n) {
  BUDA_ASSIGN(auto dtype, n.dtype("self"));
  Ref x = n.ref("self");
  if (dtype == DType::boolean) return n.tensor(n.result().op("logical_not", {x}));
  if (n.importer().name == "bitwise_not") return n.tensor(n.result().op("bitwise_not", {x}));
  Ref truth = n.cast(x, DType::boolean, "truth");
  return n.tensor(n.result().op("logical_not", {truth}));
}

Result<Value> unary_isfinite(Call& n) {
  BUDA_ASSIGN(Ref x, real_operand(n, "self"));
  Ref infinite = n.step("infinite").op("is_inf", {x}), nan = n.step("nan").op("is_nan", {x});
  Ref either = n.step("either").op("logical_or", {infinite, nan});
  return n.tensor(n.result().op("logical_not", {either}));
}

// No effect once a model is trained. Of its relatives, which drop whole channels or keep the variance, only the effect of none is read.
Result<Value> unary_dropout(Call& n) {
  BUDA_ASSIGN(bool train, n.flag_or("train", false));
  BUDA_ASSIGN(double p, n.real_or("p", 0.5));
  const bool is_kept = n.state().training && n.importer().name.starts_with("dropout");
  if (train && p != 0 && is_kept) {
    Ref x = n.ref("self");
    BUDA_ASSIGN(const auto dropped, frontend::dropout_in_training(n, n.name(), x, p));
    return n.tensor(dropped.y);
  }
  if (train && p != 0) {
    Diagnostic d = n.refuse("is in training mode, where results are random");
    d.hint = "call model.eval() before the model is traced or scripted; to train the model, run the importer with --training";
    return d;
  }
  return n["self"];
}

Result<Value> unary_nothing(Call& n) { return n["self"]; }

constexpr OpImporter kUnaryOps[] = {
    {"abs", "self", unary_same, "abs"},
    {"acos", "self", unary_real, "acos"},
    {"acosh", "self", unary_real, "acosh"},
    {"alpha_dropout", "self p train", unary_dropout},
    {"asin", "self", unary_real, "asin"},
    {"asinh", "self", unary_real, "asinh"},
    {"atan", "self", unary_real, "atan"},
    {"atanh", "self", unary_real, "atanh"},
    {"bitwise_not", "self", unary_not},
    {"ceil", "self", unary_same, "ceil"},
    {"celu", "self alpha", unary_celu, "celu"},
    {"clamp", "self min max", unary_clamp},
    {"clamp_max", "self max min", unary_clamp},
    {"clamp_min", "self min max", unary_clamp},
    {"clip", "self min max", unary_clamp},
    {"cos", "self", unary_real, "cosine"},
    {"cosh", "self", unary_real, "cosh"},
    {"dropout", "self p train", unary_dropout, "", "in training mode with `importer --training`"},
    {"elu", "self alpha scale input_scale", unary_elu, "elu"},
    {"erf", "self", unary_real, "erf"},
    {"erfc", "self", unary_composed},
    {"exp", "self", unary_real, "exp"},
    {"exp2", "self", unary_composed},
    {"expm1", "self", unary_composed},
    {"feature_alpha_dropout", "self p train", unary_dropout},
    {"feature_dropout", "self p train", unary_dropout, "", "not in training mode"},
    {"floor", "self", unary_same, "floor"},
    {"frac", "self", unary_trunc},
    {"gelu", "self approximate", unary_gelu},
    {"glu", "self dim", unary_glu},
    {"hardshrink", "self lambd", unary_hardshrink, "shrink"},
    {"hardsigmoid", "self", unary_hard_sigmoid},
    {"hardswish", "self", unary_real, "hard_swish"},
    {"hardtanh", "self min_val max_val", unary_hardtanh},
    {"isfinite", "self", unary_isfinite},
    {"isinf", "self", unary_real, "is_inf"},
    {"isnan", "self", unary_real, "is_nan"},
    {"leaky_relu", "self negative_slope", unary_leaky_relu, "leaky_relu"},
    {"log", "self", unary_real, "log"},
    {"log10", "self", unary_composed},
    {"log1p", "self", unary_composed},
    {"log2", "self", unary_composed},
    {"log_sigmoid", "self", unary_composed},
    {"logical_not", "self", unary_not},
    {"mish", "self", unary_real, "mish"},
    {"neg", "self", unary_same, "negative"},
    {"prelu", "self weight", unary_prelu},
    {"reciprocal", "self", unary_real, "reciprocal"},
    {"relu", "self", unary_same, "relu"},
    {"relu6", "self", unary_relu6},
    {"resolve_conj", "self", unary_nothing},
    {"resolve_neg", "self", unary_nothing},
    {"round", "self", unary_same, "round"},
    {"rsqrt", "self", unary_composed},
    {"selu", "self", unary_real, "selu"},
    {"sgn", "self", unary_same, "sign"},
    {"sigmoid", "self", unary_real, "sigmoid"},
    {"sign", "self", unary_same, "sign"},
    {"silu", "self", unary_silu},
    {"sin", "self", unary_real, "sine"},
    {"sinh", "self", unary_real, "sinh"},
    {"softplus", "self beta threshold", unary_softplus},
    {"softshrink", "self lambd", unary_softshrink, "shrink"},
    {"sqrt", "self", unary_real, "sqrt"},
    {"square", "self", unary_same, "square"},
    {"tan", "self", unary_real, "tan"},
    {"tanh", "self", unary_real, "tanh"},
    {"threshold", "self threshold value", unary_threshold},
    {"trunc", "self", unary_trunc},
};

}  // namespace

std::span<const OpImporter> unary_ops() { return kUnaryOps; }

}  // namespace buda::torchscript
