// SPDX-License-Identifier: Apache-2.0
// Operators on each element: arithmetic, functions, comparisons, selection, conversion.
//
// What was computed with channels first is used so: the elements are the same ones.
#include "node_import.hpp"
#include "quantized.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/arithmetic.hpp>
#include <buda/tensor/tensor.hpp>

#include <optional>

namespace buda::tflite_frontend {
namespace {

namespace format = tflite_format;
using Ref = NodeImport::Ref;
using format::Activation;

// ---- one input

// make(builder) applies the function; the last builder that it takes is n.result().
template <class F>
Result<void> output_each(NodeImport& n, F make) {
  Ref x = n.number(0);
  auto first = n.layouts().channels_first(x);
  Ref y = make(first ? *first : x);
  n.output_number(first ? n.channels_last(y) : y);
  return success();
}

Result<void> import_unary(NodeImport& n) {
  return output_each(n, [&](Ref x) { return n.result().op(n.importer().op, {x}); });
}

// In integers: scaled to the result's scale and clipped there.
Result<void> clip_integers(NodeImport& n, Activation activation) {
  float from = n.input_info(0).quantization->scales[0], to = n.output_info(0).quantization->scales[0];
  StoredRange range = stored_range(n.output_info(0), activation);
  Ref x = centred(n, 0, n.input(0), DType::i32, "x");
  Ref y = rescaled(n, "scaled", x, static_cast<double>(from / to), n.output_info(0));
  n.output(n.result().clip(y, range.least, range.most));
  return success();
}

bool input_is_exact(const NodeImport& n) { return n.is_exact() && n.input_info(0).is_quantized(); }

Result<void> import_relu6(NodeImport& n) {
  if (input_is_exact(n)) return clip_integers(n, Activation::RELU6);
  return output_each(n, [&](Ref x) { return n.result().clip(x, 0, 6); });
}

Result<void> import_relu_1(NodeImport& n) {
  if (input_is_exact(n)) return clip_integers(n, Activation::RELU_N1_TO_1);
  return output_each(n, [&](Ref x) { return n.result().clip(x, -1, 1); });
}

Result<void> import_relu(NodeImport& n) {
  if (input_is_exact(n)) return clip_integers(n, Activation::RELU);
  return output_each(n, [&](Ref x) { return n.result().relu(x); });
}

Result<void> import_relu_0_1(NodeImport& n) {
  return output_each(n, [&](Ref x) { return n.result().clip(x, 0, 1); });
}

Result<void> import_leaky_relu(NodeImport& n) {
  float alpha = n.options<format::LeakyReluOptions>().alpha();
  if (!input_is_exact(n) || alpha < 0)
    return output_each(n, [&](Ref x) { return n.result().leaky_relu(x, parse_double(to_text(alpha)).value_or(0)); });
  // Both branches are scaled on their own; the factors are those of the reference, in fp32.
  float in = n.input_info(0).quantization->scales[0], out = n.output_info(0).quantization->scales[0];
  Ref x = centred(n, 0, n.input(0), DType::i32, "x");
  Ref positive = rescaled(n, "positive", x, static_cast<double>(in / out), n.output_info(0));
  Ref negative = rescaled(n, "negative", x, static_cast<double>(in * alpha / out), n.output_info(0));
  Ref zero = n.step("zero").constant(Tensor::scalar<std::int32_t>(0));
  Ref is_positive = n.step("is_positive").op("greater_equal", {x, zero});
  n.output(n.result().op("where", {is_positive, positive, negative}));
  return success();
}

Result<void> import_rsqrt(NodeImport& n) {
  return output_each(n, [&](Ref x) {
    Ref root = n.step("root").sqrt(x);
    return n.result().reciprocal(root);
  });
}

Result<void> import_gelu(NodeImport& n) {
  bool tanh = n.options<format::GeluOptions>().approximate();
  return output_each(n, [&](Ref x) { return n.result().gelu(x, tanh ? "tanh" : "none"); });
}

Result<void> import_cast(NodeImport& n) {
  const auto& to = n.output_info(0);
  if (!to.dtype) return n.refuse(cat("it converts to ", to.type_name, ", which is not supported"));
  Ref x = n.input(0);
  n.output(n.result().op("cast", {x}, {{"dtype", std::string(dtype_name(*to.dtype))}}));
  return success();
}

Result<void> import_zeros_like(NodeImport& n) {
  BUDA_ASSIGN(auto type, n.type(0));
  constexpr std::int64_t kMost = std::int64_t{1} << 26;
  if (type.shape.volume().value_or(kMost + 1) > kMost) return n.refuse(cat("its input ", type.shape.text(), " is too large"));
  BUDA_ASSIGN(Tensor zeros, Tensor::zeros(type.dtype, type.shape));
  n.output_known(std::move(zeros));
  return success();
}

// ---- two inputs

frontend::ElementOperand operand(NodeImport& n, std::size_t i) {
  auto shape = n.shape(i);
  return {n.number(i), shape && n.is_known(i) ? std::optional<Shape>(*shape) : std::nullopt};
}

frontend::ElementOperands binary_operands(NodeImport& n) {
  auto a = operand(n, 0), b = operand(n, 1);
  return frontend::element_operands(n, n.layouts(), a, b);
}

// make(a, b), whose last builder is n.before(activation).
template <class F>
Result<void> output_binary(NodeImport& n, Activation activation, F make) {
  auto in = binary_operands(n);
  BUDA_ASSIGN(Ref y, n.activated(make(in.a, in.b), activation));
  n.output_number(in.channels_first ? n.channels_last(y) : y);
  return success();
}

Result<void> import_arithmetic(NodeImport& n, Activation activation) {
  return output_binary(n, activation, [&](Ref a, Ref b) { return n.before(activation).op(n.importer().op, {a, b}); });
}

bool both_quantized(const NodeImport& n) { return n.is_exact() && n.input_info(0).is_quantized() && n.input_info(1).is_quantized(); }

Result<void> import_add(NodeImport& n) {
  auto activation = n.options<format::AddOptions>().activation();
  return both_quantized(n) ? quantized_add(n, activation, false) : import_arithmetic(n, activation);
}

Result<void> import_sub(NodeImport& n) {
  auto activation = n.options<format::SubOptions>().activation();
  return both_quantized(n) ? quantized_add(n, activation, true) : import_arithmetic(n, activation);
}

Result<void> import_mul(NodeImport& n) {
  auto activation = n.options<format::MulOptions>().activation();
  return both_quantized(n) ? quantized_multiply(n, activation) : import_arithmetic(n, activation);
}

Result<void> import_div(NodeImport& n) { return import_arithmetic(n, n.options<format::DivOptions>().activation()); }

// Of one scale the larger integer is the larger number.
Result<void> import_extremum(NodeImport& n) {
  if (both_quantized(n) && n.input_info(0).quantization == n.output_info(0).quantization &&
      n.input_info(1).quantization == n.output_info(0).quantization) {
    Ref a = n.input(0), b = n.input(1);
    n.output(n.result().op(n.importer().op, {a, b}));
    return success();
  }
  return import_arithmetic(n, Activation::NONE);
}

Result<void> import_binary(NodeImport& n) { return import_arithmetic(n, Activation::NONE); }

Result<void> import_squared_difference(NodeImport& n) {
  return output_binary(n, Activation::NONE, [&](Ref a, Ref b) { return frontend::squared_difference(n, a, b); });
}

Result<void> import_floor_div(NodeImport& n) {
  BUDA_ASSIGN(auto type, n.type(0));
  return output_binary(n, Activation::NONE, [&](Ref a, Ref b) { return frontend::floor_quotient(n, a, b, type.dtype); });
}

Result<void> import_not_equal(NodeImport& n) {
  return output_binary(n, Activation::NONE, [&](Ref a, Ref b) { return frontend::not_equal(n, a, b); });
}

Result<void> import_add_n(NodeImport& n) {
  Ref sum = n.number(0);
  for (std::size_t i = 1; i < n.input_count(); ++i) {
    Ref next = n.number(i);
    sum = (i + 1 < n.input_count() ? n.step(cat("sum", i)) : n.result()).add(sum, next);
  }
  n.output_number(sum);
  return success();
}

// The slope has one number for each channel, or more axes of them.
Result<void> import_prelu(NodeImport& n) {
  auto in = binary_operands(n);
  Ref y = n.result().op("prelu", {in.a, in.b});
  n.output_number(in.channels_first ? n.channels_last(y) : y);
  return success();
}

// The older operator has a condition for each row where the newer one broadcasts.
Result<void> import_select(NodeImport& n) {
  BUDA_ASSIGN(Shape condition, n.shape(0));
  BUDA_ASSIGN(Shape x, n.shape(1));
  Ref choose = n.input(0);
  if (n.importer().code == Code::SELECT && condition.rank() == 1 && x.rank() > 1) {
    NodeImport::Dims sizes(x.rank(), 1);
    sizes[0] = condition[0];
    choose = n.step("rows").reshape(choose, Shape(std::move(sizes)));
  }
  bool one_scale =
      n.input_info(1).quantization == n.input_info(2).quantization && n.input_info(1).quantization == n.output_info(0).quantization;
  Ref a = one_scale ? n.moved(1) : n.number(1), b = one_scale ? n.moved(2) : n.number(2);
  n.output_number(n.result().op("where", {choose, a, b}));
  return success();
}

constexpr OpImporter kElementwiseOps[] = {
    {Code::ABS, import_unary, "abs"},
    {Code::ADD, import_add, "add", Exactness::exact},
    {Code::ADD_N, import_add_n},
    {Code::CAST, import_cast},
    {Code::CEIL, import_unary, "ceil"},
    {Code::COS, import_unary, "cosine"},
    {Code::DIV, import_div, "divide"},
    {Code::ELU, import_unary, "elu"},
    {Code::EQUAL, import_binary, "equal"},
    {Code::EXP, import_unary, "exp"},
    {Code::FLOOR, import_unary, "floor"},
    {Code::FLOOR_DIV, import_floor_div},
    {Code::FLOOR_MOD, import_binary, "modulo"},
    {Code::GELU, import_gelu},
    {Code::GREATER, import_binary, "greater"},
    {Code::GREATER_EQUAL, import_binary, "greater_equal"},
    {Code::HARD_SWISH, import_unary, "hard_swish"},
    {Code::LEAKY_RELU, import_leaky_relu, {}, Exactness::exact},
    {Code::LESS, import_binary, "less"},
    {Code::LESS_EQUAL, import_binary, "less_equal"},
    {Code::LOG, import_unary, "log"},
    {Code::LOGICAL_AND, import_binary, "logical_and"},
    {Code::LOGICAL_NOT, import_unary, "logical_not"},
    {Code::LOGICAL_OR, import_binary, "logical_or"},
    {Code::LOGISTIC, import_unary, "sigmoid"},
    {Code::MAXIMUM, import_extremum, "maximum", Exactness::exact, "quantised with one scale: exact"},
    {Code::MINIMUM, import_extremum, "minimum", Exactness::exact, "quantised with one scale: exact"},
    {Code::MUL, import_mul, "multiply", Exactness::exact},
    {Code::NEG, import_unary, "negative"},
    {Code::NOT_EQUAL, import_not_equal},
    {Code::POW, import_binary, "power"},
    {Code::PRELU, import_prelu},
    {Code::RELU, import_relu, {}, Exactness::exact},
    {Code::RELU6, import_relu6, {}, Exactness::exact},
    {Code::RELU_0_TO_1, import_relu_0_1},
    {Code::RELU_N1_TO_1, import_relu_1, {}, Exactness::exact},
    {Code::ROUND, import_unary, "round"},
    {Code::RSQRT, import_rsqrt},
    {Code::SELECT, import_select, {}, Exactness::exact, "quantised with one scale: exact"},
    {Code::SELECT_V2, import_select, {}, Exactness::exact, "quantised with one scale: exact"},
    {Code::SIGN, import_unary, "sign"},
    {Code::SIN, import_unary, "sine"},
    {Code::SQRT, import_unary, "sqrt"},
    {Code::SQUARE, import_unary, "square"},
    {Code::SQUARED_DIFFERENCE, import_squared_difference},
    {Code::SUB, import_sub, "subtract", Exactness::exact},
    {Code::TANH, import_unary, "tanh"},
    {Code::ZEROS_LIKE, import_zeros_like},
};

}  // namespace

std::span<const OpImporter> elementwise_ops() { return kElementwiseOps; }

}  // namespace buda::tflite_frontend
