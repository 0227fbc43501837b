// SPDX-License-Identifier: Apache-2.0
// onnxruntime's operators on quantised numbers.
//
// Most take numbers of integers with a scale and a zero point, compute with the numbers that these stand for, and quantise the result,
// which is what happens here, too. Products of integers stay products of integers (centred integers in I32), which are exact.
#include "channel_order.hpp"
#include "quantized_numbers.hpp"
#include "window.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::onnx_frontend {
namespace {

using Ref = NodeImport::Ref;
using Dims = NodeImport::Dims;

// The numbers that input `i` stands for; its scale and zero point follow it.
Result<Ref> numbers_of(NodeImport& n, std::size_t i, std::string_view step) {
  BUDA_ASSIGN(auto type, n.type(i));
  BUDA_ASSIGN(Shape scale, n.shape(i + 1));
  if (scale.volume() != 1) return n.refuse(cat("its scale (input ", i + 1, ") is ", scale.text(), "; a single number is needed"));
  Ref value = n.input(i), factor = n.step(cat(step, ".scale")).reshape(n.input(i + 1), Shape{});
  BUDA_ASSIGN(Ref zero, zero_point(n, i + 2, type.dtype, i + 1));
  zero = n.step(cat(step, ".zero")).reshape(zero, Shape{});
  return n.step(step).op("dequantize", {value, factor, zero});
}

// The result, quantised with the scale of input `scale` and the zero point that follows; in the type of input `like`.
Result<void> output_quantized(NodeImport& n, Ref value, std::size_t scale, std::size_t like) {
  BUDA_ASSIGN(auto type, n.type(like));
  BUDA_ASSIGN(Ref zero, zero_point(n, scale + 1, type.dtype, scale));
  Ref factor = n.input(scale);
  factor = n.step("result.scale").reshape(factor, Shape{});
  zero = n.step("result.zero").reshape(zero, Shape{});
  n.output(n.result().op("quantize", {value, factor, zero}));
  return success();
}

// ---- of two values

Result<void> import_binary_of_quantized(NodeImport& n) {
  BUDA_ASSIGN(Ref a, numbers_of(n, 0, "a"));
  BUDA_ASSIGN(Ref b, numbers_of(n, 3, "b"));
  return output_quantized(n, n.step("real").op(n.importer().op, {a, b}), 6, 0);
}

// Inputs: the condition, x, its scale and zero point, y, its scale and zero point, those of the result.
Result<void> import_where(NodeImport& n) {
  BUDA_ASSIGN(Ref x, numbers_of(n, 1, "x"));
  BUDA_ASSIGN(Ref y, numbers_of(n, 4, "y"));
  Ref condition = n.input(0);
  return output_quantized(n, n.step("real").op("where", {condition, x, y}), 7, 1);
}

// ---- of one value; inputs: x, its scale and zero point, those of the result

Result<void> import_unary_of_quantized(NodeImport& n) {
  BUDA_ASSIGN(Ref x, numbers_of(n, 0, "x"));
  ops::AttrMap attrs;
  if (n.importer().op == "leaky_relu") attrs["alpha"] = n.real("alpha", 0.01);
  return output_quantized(n, n.step("real").op(n.importer().op, {x}, std::move(attrs)), 3, 0);
}

// Before opset 13 over all axes from `axis` on together.
Result<void> import_softmax_of_quantized(NodeImport& n) {
  BUDA_ASSIGN(Shape shape, n.shape(0));
  const bool one_axis = n.integer("opset", 13) >= 13;
  BUDA_ASSIGN(auto axis, n.axis(n.integer("axis", one_axis ? -1 : 1), shape.rank()));
  BUDA_ASSIGN(Ref x, numbers_of(n, 0, "x"));
  if (one_axis) return output_quantized(n, n.step("real").softmax(x, axis), 3, 0);
  BUDA_ASSIGN(Shape matrix, n.as_matrix(shape, axis));
  Ref rows = n.step("flatten").reshape(x, matrix);
  Ref y = n.step("rows").softmax(rows, 1);
  return output_quantized(n, n.step("real").reshape(y, shape), 3, 0);
}

// Pools of images with channels first or last.
Result<void> import_pool_of_quantized(NodeImport& n) {
  BUDA_ASSIGN(Shape given, n.shape(0));
  const bool last = n.integer("channels_last", 0) != 0;
  if (given.rank() < 3) return n.refuse(cat("its input is ", given.text(), "; it needs samples, channels and at least one more axis"));
  const Dims order = channels_first(given.rank()), back = channels_last(given.rank());
  BUDA_ASSIGN(Ref x, numbers_of(n, 0, "x"));
  Shape shape = given;
  if (last) {
    x = n.step("first").transpose(x, order);
    shape = turned_shape(given, order);
  }
  Ref y;
  if (n.importer().op == "reduce_avg") {
    Dims axes;
    for (std::size_t i = 2; i < shape.rank(); ++i) axes.push_back(static_cast<std::int64_t>(i));
    y = n.step("real").reduce_avg(x, axes);
  } else {
    BUDA_ASSIGN(auto window, window_arguments(n, shape));
    ops::AttrMap attrs = window.attrs();
    attrs["kernel"] = window.kernel;
    if (n.integer("ceil_mode", 0) != 0) attrs["ceil_mode"] = true;
    if (n.integer("count_include_pad", 0) == 0) attrs["count_include_pad"] = false;
    y = n.step("real").op(cat("avg_pool", window.rank(), "d"), {x}, std::move(attrs));
  }
  if (last) y = n.step("last").transpose(y, back);
  return output_quantized(n, y, 3, 0);
}

Result<void> import_mean_of_quantized(NodeImport& n) {
  BUDA_ASSIGN(Shape shape, n.shape(0));
  BUDA_ASSIGN(Dims axes, n.axes(n.integers("axes"), shape.rank()));
  BUDA_ASSIGN(Ref x, numbers_of(n, 0, "x"));
  return output_quantized(n, n.step("real").reduce_avg(x, axes, n.integer("keepdims", 1) != 0), 3, 0);
}

// ---- of many; inputs: scale and zero point of the result, then each value with its scale and zero point

Result<void> import_concat_of_quantized(NodeImport& n) {
  if (n.input_count() < 5 || (n.input_count() - 2) % 3 != 0)
    return n.refuse(cat("it has ", n.input_count(), " inputs; two, and three for each value, are needed"));
  BUDA_ASSIGN(Shape shape, n.shape(2));
  BUDA_ASSIGN(auto axis, n.axis(n.integer("axis", 1), shape.rank()));
  std::vector<graph::Edge> parts;
  for (std::size_t i = 2; i < n.input_count(); i += 3) {
    BUDA_ASSIGN(Ref part, numbers_of(n, i, cat("part.", (i - 2) / 3)));
    parts.emplace_back(part);
  }
  return output_quantized(n, n.step("real").concatenate(std::move(parts), axis), 0, 2);
}

// ---- products

// The sum of products as real numbers: times the scales of both sides, which are single numbers or one for each column.
Ref scaled_sum(NodeImport& n, Ref sum, Ref first_scale, Ref second_scale, bool is_result) {
  Ref scale = n.step("scale").multiply(first_scale, second_scale);
  Ref real = n.cast(sum, DType::f32, "real");
  return (is_result ? n.result() : n.step("scaled")).multiply(real, scale);
}

// Inputs: a, b, their scales, their zero points, a bias.
Result<void> import_matmul_integer_to_float(NodeImport& n) {
  BUDA_ASSIGN(Ref a, centred(n, 0, 4, "a", 1));
  BUDA_ASSIGN(Ref b, centred(n, 1, 5, "b", 0));
  Ref sum = n.step("product").matmul(a, b);
  Ref y = scaled_sum(n, sum, n.input(2), n.input(3), !n.has_input(6));
  if (n.has_input(6)) {
    Ref bias = n.input(6);
    y = n.result().add(y, bias);
  }
  n.output(y);
  return success();
}

// Inputs: a, which is quantised by its own range, b, its scale and zero point, a bias.
Result<void> import_dynamic_quantize_matmul(NodeImport& n) {
  Ref a = n.input(0);
  Ref zero = n.step("zero").constant(0.0, DType::f32), steps = n.step("steps").constant(255.0, DType::f32);
  Ref least = n.step("least").op("reduce_min", {a}, {{"keep_dims", false}}),
      most = n.step("most").op("reduce_max", {a}, {{"keep_dims", false}});
  least = n.step("least.limit").minimum(least, zero);
  most = n.step("most.limit").maximum(most, zero);
  Ref range = n.step("range").subtract(most, least);
  Ref a_scale = n.step("a.scale").divide(range, steps);
  Ref places = n.step("a.zero.real").divide(least, a_scale);
  Ref a_zero = n.step("a.zero.negative").negative(places);
  a_zero = n.step("a.zero.rounded").op("round", {a_zero});
  Ref quotient = n.step("a.quotient").divide(a, a_scale);
  Ref whole = n.step("a.rounded").op("round", {quotient});
  Ref moved = n.step("a.moved").add(whole, a_zero);
  Ref inside = n.step("a.inside").clip(moved, 0, 255);
  Ref integers = n.step("a.centred").subtract(inside, a_zero);
  integers = n.cast(integers, DType::i32, "a.integers");
  BUDA_ASSIGN(Ref b, centred(n, 1, 3, "b", 0));
  Ref sum = n.step("product").matmul(integers, b);
  Ref y = scaled_sum(n, sum, a_scale, n.input(2), !n.has_input(4));
  if (n.has_input(4)) {
    Ref bias = n.input(4);
    y = n.result().add(y, bias);
  }
  n.output(y);
  return success();
}

// Inputs: a, its scale and zero point, b, its scale and zero point (one, or one for each column), c in I32, scale and zero point of the
// result; without these the result is of real numbers.
Result<void> import_qgemm(NodeImport& n) {
  if (n.integer("transA", 0) != 0 && n.input_count() > 0) {
    BUDA_ASSIGN(Shape zero, n.has_input(2) ? n.shape(2) : Result<Shape>(Shape{}));
    if (zero.volume() != 1) return n.refuse("its a is transposed and has several zero points, which is not supported");
  }
  BUDA_ASSIGN(Shape a_shape, n.shape(0));
  BUDA_ASSIGN(Shape b_shape, n.shape(3));
  if (a_shape.rank() != 2 || b_shape.rank() != 2) return n.refuse("its a or b is no matrix");
  BUDA_ASSIGN(Ref a, centred(n, 0, 2, "a", 1));
  const bool turned = n.integer("transB", 0) != 0;
  BUDA_ASSIGN(Ref b, centred(n, 3, 5, "b", turned ? 1 : 0));
  if (n.integer("transA", 0) != 0) a = n.step("a.transposed").transpose(a, {1, 0});
  if (turned) b = n.step("b.transposed").transpose(b, {1, 0});
  Ref sum = n.step("product").matmul(a, b);
  if (n.has_input(6)) {
    Ref c = n.input(6);
    sum = n.step("sum").add(sum, c);
  }
  const bool quantized = n.has_input(7);
  const double alpha = n.real("alpha", 1);
  Ref y = scaled_sum(n, sum, n.input(1), n.input(4), !quantized && alpha == 1);
  if (alpha != 1) {
    Ref factor = n.step("alpha").constant(alpha, DType::f32);
    y = (quantized ? n.step("scaled.alpha") : n.result()).multiply(y, factor);
  }
  if (quantized) return output_quantized(n, y, 7, 0);
  n.output(y);
  return success();
}

constexpr OpImporter kContribQuantizationOps[] = {
    {"DequantizeLinear", 1, import_dequantize, {}, Narrow::converts},
    {"DynamicQuantizeMatMul", 1, import_dynamic_quantize_matmul},
    {"MatMulIntegerToFloat", 1, import_matmul_integer_to_float},
    {"QGemm", 1, import_qgemm},
    {"QLinearAdd", 1, import_binary_of_quantized, "add"},
    {"QLinearAveragePool", 1, import_pool_of_quantized},
    {"QLinearConcat", 1, import_concat_of_quantized},
    {"QLinearConv", 1, import_qlinear_conv},
    {"QLinearGlobalAveragePool", 1, import_pool_of_quantized, "reduce_avg"},
    {"QLinearLeakyRelu", 1, import_unary_of_quantized, "leaky_relu"},
    {"QLinearReduceMean", 1, import_mean_of_quantized},
    {"QLinearMul", 1, import_binary_of_quantized, "multiply"},
    {"QLinearSigmoid", 1, import_unary_of_quantized, "sigmoid"},
    {"QLinearSoftmax", 1, import_softmax_of_quantized},
    {"QLinearWhere", 1, import_where},
    {"QuantizeLinear", 1, import_quantize, {}, Narrow::converts},
};

}  // namespace

std::span<const OpImporter> contrib_quantization_ops() { return kContribQuantizationOps; }

}  // namespace buda::onnx_frontend
