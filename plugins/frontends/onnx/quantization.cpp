// SPDX-License-Identifier: Apache-2.0
// Operators on quantised numbers.
//
// A scale (and zero point) for each block of elements, and 8-bit floats, become ordinary arithmetic; the rest has ops of its own.
// Products of integers are exact: both sides become I32, lose their zero points and go through the ops that serve other numbers too.
#include "channel_order.hpp"
#include "quantized_numbers.hpp"
#include "window.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>

namespace buda::onnx_frontend {
namespace {

using Ref = NodeImport::Ref;

// A scale or zero point as it broadcasts to x: one number, one for each slice along an axis, or one for each block of elements along it.
Result<Ref> spread(NodeImport& n, Ref value, const Shape& given, const Shape& x, std::string_view step) {
  std::int64_t block = n.integer("block_size", 0);
  if (block == 0) {
    if (given.rank() > 1) return n.refuse(cat("its ", step, " has shape ", given.text(), "; without a block_size it has at most one axis"));
    if (given.rank() == 0 || given[0] == 1) return n.step(step).reshape(value, Shape{});
    BUDA_ASSIGN(auto axis, n.axis(n.integer("axis", 1), x.rank()));
    NodeImport::Dims sizes(x.rank(), 1);
    sizes[static_cast<std::size_t>(axis)] = given[0];
    return n.step(step).reshape(value, Shape(std::move(sizes)));
  }
  BUDA_ASSIGN(auto axis, n.axis(n.integer("axis", 1), x.rank()));
  auto at = static_cast<std::size_t>(axis);
  Shape expected = x;
  if (block > 0) expected[at] = x[at] / block + (x[at] % block != 0 ? 1 : 0);
  if (block < 0 || given != expected)
    return n.refuse(cat("its ", step, " has shape ", given.text(), "; blocks of ", block, " along axis ", axis, " of ", x.text(), " need ",
                        expected.text()));
  block = std::min(block, x[at]);  // a single block may be longer than the axis
  NodeImport::Dims repeated(given.begin(), given.end());
  repeated.insert(repeated.begin() + axis + 1, block);
  Shape joined = given;
  joined[at] *= block;
  Ref column = n.step(cat(step, ".column")).unsqueeze(value, {axis + 1});
  Ref blocks = n.step(cat(step, ".blocks")).broadcast(column, Shape(std::move(repeated)));
  Ref line = n.step(cat(step, ".joined")).reshape(blocks, joined);
  return joined == x ? line : n.step(step).slice(line, axis, 0, x[at]);
}

// (x - zero point) * scale, step by step: integers exactly until they are scaled, which is done in fp32.
Result<void> dequantize_by_steps(NodeImport& n, const graph::ValueType& x) {
  BUDA_ASSIGN(auto scale_type, n.type(1));
  BUDA_ASSIGN(Ref scale, spread(n, n.input(1), scale_type.shape, x.shape, "scale"));
  DType exact = n.narrow(0) != nullptr && n.narrow(0)->float8 ? DType::f32 : DType::i32;
  Ref value = n.cast(n.input(0), exact, "x");
  if (n.has_input(2)) {
    BUDA_ASSIGN(Shape zero_shape, n.shape(2));
    BUDA_ASSIGN(Ref zero, spread(n, n.cast(n.input(2), exact, "zero_point.wide"), zero_shape, x.shape, "zero_point"));
    value = n.step("centred").subtract(value, zero);
  }
  Ref real = n.cast(value, DType::f32, "real"), factor = n.cast(scale, DType::f32, "scale.real");
  Ref y = n.step("scaled").multiply(real, factor);
  n.output(n.result().op("cast", {y}, {{"dtype", std::string(dtype_name(scale_type.dtype))}}));
  return success();
}

// What quantising gives: the type of the zero point, or what the node says, or U8.
struct QuantizedType {
  DType dtype = DType::u8;
  const NarrowType* narrow = nullptr;

  double min() const { return narrow != nullptr ? narrow->min : is_signed() ? -std::exp2(bits() - 1) : 0; }
  double max() const { return narrow != nullptr ? narrow->max : std::exp2(bits() - (is_signed() ? 1 : 0)) - 1; }

 private:
  bool is_signed() const { return dtype == DType::i8 || dtype == DType::i16 || dtype == DType::i32; }
  double bits() const { return static_cast<double>(dtype_size(dtype)) * 8; }
};

Result<QuantizedType> quantized_type(const NodeImport& n) {
  if (n.has_input(2)) {
    BUDA_ASSIGN(auto zero, n.type(2));
    return QuantizedType{zero.dtype, n.narrow(2)};
  }
  auto given = static_cast<int>(n.integer("output_dtype", 0));
  if (given == 0) return QuantizedType{};
  if (const NarrowType* narrow = narrow_type(given)) return QuantizedType{narrow->dtype, narrow};
  auto dtype = dtype_of(given);
  if (!dtype || is_float(*dtype) || *dtype == DType::boolean)
    return n.refuse(cat("it quantises to ", onnx_type_name(given), "; only small integers and 8-bit floats are supported"));
  return QuantizedType{*dtype, nullptr};
}

// x / scale, rounded, plus the zero point, within the limits of the type.
Result<void> quantize_by_steps(NodeImport& n, const QuantizedType& to) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Shape scale_shape, n.shape(1));
  BUDA_ASSIGN(Ref scale, spread(n, n.input(1), scale_shape, x, "scale"));
  Ref real = n.cast(n.input(0), DType::f32, "real"), divisor = n.cast(scale, DType::f32, "scale.real");
  Ref y = n.step("quotient").divide(real, divisor);
  bool to_float8 = to.narrow != nullptr && to.narrow->float8;
  if (!to_float8) y = n.step("rounded").op("round", {y});
  if (n.has_input(2)) {
    BUDA_ASSIGN(Shape zero_shape, n.shape(2));
    BUDA_ASSIGN(Ref zero, spread(n, n.cast(n.input(2), DType::f32, "zero_point.real"), zero_shape, x, "zero_point"));
    y = n.step("moved").add(y, zero);
  }
  if (to_float8) {
    n.output_narrow(n.result().op("round_float8", {y},
                                  {{"format", std::string(float8_name(*to.narrow->float8))}, {"saturate", n.integer("saturate", 1) != 0}}),
                    to.narrow);
    return success();
  }
  Ref inside = n.step("inside").op("clip", {y}, {{"min", to.min()}, {"max", to.max()}});
  n.output_narrow(n.result().op("cast", {inside}, {{"dtype", std::string(dtype_name(to.dtype))}}), to.narrow);
  return success();
}

}  // namespace

Result<Ref> zero_point(NodeImport& n, std::size_t i, DType dtype, std::size_t scale) {
  if (n.has_input(i)) return n.input(i);
  BUDA_ASSIGN(Shape shape, n.shape(scale));
  BUDA_ASSIGN(Tensor zeros, Tensor::zeros(dtype, shape));
  return n.step("zero_point").constant(std::move(zeros));
}

namespace {

ops::AttrMap slice_axis(const NodeImport& n) {
  ops::AttrMap attrs;
  if (n.integer("axis", 1) != 1) attrs["dim"] = n.integer("axis", 1);
  return attrs;
}

}  // namespace

Result<void> import_dequantize(NodeImport& n) {
  BUDA_ASSIGN(auto type, n.type(0));
  if (const auto wanted = static_cast<int>(n.integer("output_dtype", 0)); wanted != 0) {
    BUDA_ASSIGN(auto scale_type, n.type(1));
    if (dtype_of(wanted) != scale_type.dtype)
      return n.refuse(cat("its output_dtype is ", onnx_type_name(wanted), ", which its scale is not; this is not supported"));
  }
  if (n.integer("block_size", 0) != 0 || is_float(type.dtype)) return dequantize_by_steps(n, type);
  BUDA_ASSIGN(Ref zero, zero_point(n, 2, type.dtype, 1));
  Ref x = n.input(0), scale = n.input(1);
  n.output(n.result().op("dequantize", {x, scale, zero}, slice_axis(n)));
  return success();
}

Result<void> import_quantize(NodeImport& n) {
  BUDA_ASSIGN(QuantizedType to, quantized_type(n));
  if (n.integer("block_size", 0) != 0 || is_float(to.dtype)) return quantize_by_steps(n, to);
  BUDA_ASSIGN(Ref zero, zero_point(n, 2, to.dtype, 1));
  Ref x = n.input(0), scale = n.input(1);
  if (to.narrow == nullptr) {
    n.output(n.result().op("quantize", {x, scale, zero}, slice_axis(n)));
    return success();
  }
  Ref wide = n.step("wide").op("quantize", {x, scale, zero}, slice_axis(n));
  n.output_narrow(n.result().op("clip", {wide}, {{"min", to.min()}, {"max", to.max()}}), to.narrow);
  return success();
}

namespace {

Ref as_i32(NodeImport& n, std::string_view step, Ref value) { return n.step(step).op("cast", {value}, {{"dtype", std::string("I32")}}); }

// A vector with one number for each row (or output channel), as a column with `after` axes behind it; one number stays as it is.
Result<Ref> as_column(NodeImport& n, std::size_t i, std::string_view step, std::size_t after) {
  BUDA_ASSIGN(Shape shape, n.shape(i));
  Ref value = n.input(i);
  if (shape.rank() != 1 || shape[0] == 1) return value;
  NodeImport::Dims sizes(after + 1, 1);
  sizes[0] = shape[0];
  return n.step(step).reshape(value, Shape(std::move(sizes)));
}

}  // namespace

Result<Ref> centred(NodeImport& n, std::size_t i, std::size_t zero, std::string_view name, std::size_t after) {
  Ref value = as_i32(n, name, n.input(i));
  if (!n.has_input(zero)) return value;
  BUDA_ASSIGN(Ref column, as_column(n, zero, cat(name, ".zero_column"), after));
  Ref wide = as_i32(n, cat(name, ".zero_point"), column);
  return n.step(cat(name, ".centred")).subtract(value, wide);
}

namespace {

// A sum of products of quantised numbers, in I32, as the result's quantised number: times both scales, and then quantised with the scale
// and zero point at input `result`.
Ref requantised(NodeImport& n, ops::Builder& (*where)(NodeImport&), Ref sum, Ref first_scale, Ref second_scale, std::size_t result) {
  Ref scale = n.step("scale").multiply(first_scale, second_scale);
  Ref real = n.step("real").op("cast", {sum}, {{"dtype", std::string("F32")}});
  Ref scaled = n.step("scaled").multiply(real, scale);
  Ref y_scale = n.input(result), y_zero = n.input(result + 1);
  return where(n).op("quantize", {scaled, y_scale, y_zero});
}

ops::Builder& as_node(NodeImport& n) { return n.result(); }
ops::Builder& as_channels_first(NodeImport& n) { return n.step("quantized"); }

Result<void> import_matmul_integer(NodeImport& n) {
  BUDA_ASSIGN(Ref a, centred(n, 0, 2, "a", 1));
  BUDA_ASSIGN(Ref b, centred(n, 1, 3, "b", 0));
  n.output(n.result().matmul(a, b));
  return success();
}

// Inputs: a, its scale and zero point, b, its scale and zero point, the result's scale and zero point.
Result<void> import_qlinear_matmul(NodeImport& n) {
  BUDA_ASSIGN(Ref a, centred(n, 0, 2, "a", 1));
  BUDA_ASSIGN(Ref b, centred(n, 3, 5, "b", 0));
  Ref sum = n.step("product").matmul(a, b);
  BUDA_ASSIGN(Ref a_scale, as_column(n, 1, "a.scale_column", 1));
  n.output(requantised(n, as_node, sum, a_scale, n.input(4), 6));
  return success();
}

Result<Ref> integer_convolution(NodeImport& n, std::size_t weights, std::size_t x_zero, std::size_t w_zero, std::size_t bias,
                                bool is_result, bool channels_last = false) {
  BUDA_ASSIGN(Shape x_shape, n.shape(0));
  if (channels_last) x_shape = turned_shape(x_shape, channels_first(x_shape.rank()));
  BUDA_ASSIGN(Shape w_shape, n.shape(weights));
  BUDA_ASSIGN(auto window, window_arguments(n, x_shape, w_shape));
  BUDA_ASSIGN(Ref x, centred(n, 0, x_zero, "x", 0));
  if (channels_last) x = n.step("x.first").transpose(x, channels_first(x_shape.rank()));
  BUDA_ASSIGN(Ref w, centred(n, weights, w_zero, "w", window.rank() + 1));
  ops::AttrMap attrs = window.attrs();
  if (n.integer("group", 1) != 1) attrs["groups"] = n.integer("group", 1);
  std::vector<graph::Edge> inputs{x, w};
  if (n.has_input(bias)) inputs.emplace_back(n.input(bias));
  ops::Builder& builder = is_result ? n.result() : n.step("sum");
  return builder.op(cat("conv", window.rank(), "d"), std::move(inputs), std::move(attrs));
}

Result<void> import_conv_integer(NodeImport& n) {
  constexpr std::size_t kNoBias = 4;
  BUDA_ASSIGN(Ref sum, integer_convolution(n, 1, 2, 3, kNoBias, true));
  n.output(sum);
  return success();
}

// Inputs: x, its scale and zero point, the weights, their scale and zero point, the result's scale and zero point, the bias in I32.
}  // namespace

Result<void> import_qlinear_conv(NodeImport& n) {
  const bool last = n.integer("channels_last", 0) != 0;  // onnxruntime's only
  BUDA_ASSIGN(Ref sum, integer_convolution(n, 3, 2, 5, 8, false, last));
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Ref w_scale, as_column(n, 4, "w.scale_column", x.rank() - 2));
  Ref y = requantised(n, last ? as_channels_first : as_node, sum, n.input(1), w_scale, 6);
  n.output(last ? n.result().transpose(y, channels_last(x.rank())) : y);
  return success();
}

namespace {

constexpr OpImporter kQuantizationOps[] = {
    {"ConvInteger", 10, import_conv_integer},     {"DequantizeLinear", 10, import_dequantize, {}, Narrow::converts},
    {"MatMulInteger", 10, import_matmul_integer}, {"QLinearConv", 10, import_qlinear_conv},
    {"QLinearMatMul", 10, import_qlinear_matmul}, {"QuantizeLinear", 10, import_quantize, {}, Narrow::converts},
};

}  // namespace

std::span<const OpImporter> quantization_ops() { return kQuantizationOps; }

}  // namespace buda::onnx_frontend
