// Operators on quantised numbers.
//
// Products of integers are exact: both sides become I32, lose their zero points and go through the ops that serve other numbers too.
#include "window.hpp"

#include <buda/base/text.hpp>

namespace buda::onnx_frontend {
namespace {

using Ref = NodeImport::Ref;

// A zero point that is left out is 0; quantising without one gives U8.
Result<Ref> zero_point(NodeImport& n, std::size_t i, DType dtype, std::size_t scale) {
  if (n.has_input(i)) return n.input(i);
  BUDA_ASSIGN(Shape shape, n.shape(scale));
  BUDA_ASSIGN(Tensor zeros, Tensor::zeros(dtype, shape));
  return n.step("zero_point").constant(std::move(zeros));
}

Result<void> import_linear(NodeImport& n) {
  DType dtype = DType::u8;
  if (n.importer().op == "dequantize") {
    BUDA_ASSIGN(auto type, n.type(0));
    dtype = type.dtype;
  }
  BUDA_ASSIGN(Ref zero, zero_point(n, 2, dtype, 1));
  Ref x = n.input(0), scale = n.input(1);
  ops::AttrMap attrs;
  if (n.integer("axis", 1) != 1) attrs["dim"] = n.integer("axis", 1);
  n.output(n.result().op(n.importer().op, {x, scale, zero}, std::move(attrs)));
  return success();
}

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

// Input i as I32, less its zero point (if there is one), which is a column with `after` axes behind it.
Result<Ref> centred(NodeImport& n, std::size_t i, std::size_t zero, std::string_view name, std::size_t after) {
  Ref value = as_i32(n, name, n.input(i));
  if (!n.has_input(zero)) return value;
  BUDA_ASSIGN(Ref column, as_column(n, zero, cat(name, ".zero_column"), after));
  Ref wide = as_i32(n, cat(name, ".zero_point"), column);
  return n.step(cat(name, ".centred")).subtract(value, wide);
}

// A sum of products of quantised numbers, in I32, as the result's quantised number: times both scales, and then quantised with the scale
// and zero point at input `result`.
void requantised(NodeImport& n, Ref sum, Ref first_scale, Ref second_scale, std::size_t result) {
  Ref scale = n.step("scale").multiply(first_scale, second_scale);
  Ref real = n.step("real").op("cast", {sum}, {{"dtype", std::string("F32")}});
  Ref scaled = n.step("scaled").multiply(real, scale);
  Ref y_scale = n.input(result), y_zero = n.input(result + 1);
  n.output(n.result().op("quantize", {scaled, y_scale, y_zero}));
}

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
  requantised(n, sum, a_scale, n.input(4), 6);
  return success();
}

Result<Ref> integer_convolution(NodeImport& n, std::size_t weights, std::size_t x_zero, std::size_t w_zero, std::size_t bias,
                                bool is_result) {
  BUDA_ASSIGN(Shape x_shape, n.shape(0));
  BUDA_ASSIGN(Shape w_shape, n.shape(weights));
  BUDA_ASSIGN(auto window, window_arguments(n, x_shape, w_shape));
  BUDA_ASSIGN(Ref x, centred(n, 0, x_zero, "x", 0));
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
Result<void> import_qlinear_conv(NodeImport& n) {
  BUDA_ASSIGN(Ref sum, integer_convolution(n, 3, 2, 5, 8, false));
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Ref w_scale, as_column(n, 4, "w.scale_column", x.rank() - 2));
  requantised(n, sum, n.input(1), w_scale, 6);
  return success();
}

constexpr OpImporter kQuantizationOps[] = {
    {"ConvInteger", 10, import_conv_integer},     {"DequantizeLinear", 10, import_linear, "dequantize"},
    {"MatMulInteger", 10, import_matmul_integer}, {"QLinearConv", 10, import_qlinear_conv},
    {"QLinearMatMul", 10, import_qlinear_matmul}, {"QuantizeLinear", 10, import_linear, "quantize"},
};

}  // namespace

std::span<const OpImporter> quantization_ops() { return kQuantizationOps; }

}  // namespace buda::onnx_frontend
