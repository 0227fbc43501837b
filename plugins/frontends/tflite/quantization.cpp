// SPDX-License-Identifier: Apache-2.0
// Quantised operators computed in integers.
//
// The reference multiplies sums of products with a factor that is a 31-bit integer and a shift, and rounds twice (op requantize). Which
// factors, and in which order they are computed in fp32 or fp64, decides about single bits: that is followed here.
#include "quantized.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>

namespace buda::tflite_frontend {

namespace format = tflite_format;
using format::Activation;

namespace {

using Ref = NodeImport::Ref;

StoredRange limits_of(DType t) {
  double bits = static_cast<double>(dtype_size(t)) * 8;
  return is_signed(t) ? StoredRange{-std::exp2(bits - 1), std::exp2(bits - 1) - 1} : StoredRange{0, std::exp2(bits) - 1};
}

double scale_of(const TensorInfo& info) { return static_cast<double>(info.quantization->scales[0]); }

Tensor zero_point_of(const TensorInfo& info, DType as) {
  return Tensor(Shape{}, std::vector<std::int64_t>{info.quantization->zero_points[0]}).cast(as);
}

ops::Builder& as_result(NodeImport& n) { return n.result(); }

}  // namespace

// The builder is asked for last: it gives its name to the next node.
graph::ValueRef requantize(NodeImport& n, std::string_view step, graph::ValueRef value, const std::vector<FixedFactor>& factors,
                           std::int64_t axis, Tensor zero_point, ops::Builder& (*last)(NodeImport&)) {
  std::vector<std::int32_t> multipliers, shifts;
  for (const auto& f : factors) {
    multipliers.push_back(f.multiplier);
    shifts.push_back(f.shift);
  }
  auto count = static_cast<std::int64_t>(factors.size());
  Shape shape = count > 1 ? Shape{count} : Shape{};
  Ref multiplier = n.step(cat(step, ".multiplier")).constant(Tensor(shape, std::move(multipliers)));
  Ref shift = n.step(cat(step, ".shift")).constant(Tensor(shape, std::move(shifts)));
  Ref zero = n.step(cat(step, ".zero_point")).constant(std::move(zero_point));
  ops::AttrMap attrs;
  if (count > 1) attrs["dim"] = axis;
  return (last != nullptr ? last(n) : n.step(step)).op("requantize", {value, multiplier, shift, zero}, std::move(attrs));
}

StoredRange stored_range(const TensorInfo& result, Activation activation) {
  StoredRange out = limits_of(*result.dtype);
  auto stored = [&](float number) {
    return static_cast<double>(result.quantization->zero_points[0]) +
           static_cast<double>(std::round(number / result.quantization->scales[0]));
  };
  if (activation == Activation::RELU || activation == Activation::RELU6) out.least = std::max(out.least, stored(0));
  if (activation == Activation::RELU6) out.most = std::min(out.most, stored(6));
  if (activation == Activation::RELU_N1_TO_1) out = {std::max(out.least, stored(-1)), std::min(out.most, stored(1))};
  return out;
}

bool has_integer_products(const NodeImport& n) {
  std::size_t x = n.importer().code == Code::TRANSPOSE_CONV ? 2 : 0;
  const auto &data = n.input_info(x), &weights = n.input_info(1), &result = n.output_info(0);
  return data.is_quantized() && weights.is_quantized() && !data.quantization->per_slice() && !result.quantization->per_slice() &&
         dtype_size(*weights.dtype) <= 2 && dtype_size(*data.dtype) <= 2;
}

// The reference sums in 32 bits unless a 16-bit operator has no bias of 32 bits.
DType sum_type(const NodeImport& n) {
  bool transposed = n.importer().code == Code::TRANSPOSE_CONV;
  if (dtype_size(*n.input_info(transposed ? 2 : 0).dtype) == 1) return DType::i32;
  std::size_t bias = transposed ? 3 : 2;
  bool narrow = n.has_input(bias) && n.input_info(bias).dtype == DType::i32 && !transposed;
  return narrow ? DType::i32 : DType::i64;
}

graph::ValueRef centred(NodeImport& n, std::size_t i, graph::ValueRef value, DType to, std::string_view name) {
  Ref wide = n.cast(value, to, cat(name, ".wide"));
  const Quantization& q = *n.input_info(i).quantization;
  // Numbers with a scale for each slice are symmetric.
  if (std::all_of(q.zero_points.begin(), q.zero_points.end(), [](auto z) { return z == 0; })) return wide;
  Ref zero = n.step(cat(name, ".zero_point")).constant(zero_point_of(n.input_info(i), to));
  return n.step(cat(name, ".centred")).subtract(wide, zero);
}

graph::ValueRef rescaled_products(NodeImport& n, graph::ValueRef sum, std::int64_t axis, Activation activation,
                                  ops::Builder& (*last)(NodeImport&)) {
  const auto &data = n.input_info(n.importer().code == Code::TRANSPOSE_CONV ? 2 : 0), &result = n.output_info(0);
  // Of weights with one scale, products of matrices (but not convolutions) multiply it in fp32.
  const auto& scales = n.input_info(1).quantization->scales;
  bool of_matrices = n.importer().code == Code::FULLY_CONNECTED || n.importer().code == Code::BATCH_MATMUL;
  std::vector<FixedFactor> factors;
  for (float scale : scales) {
    double product = of_matrices && scales.size() == 1 ? static_cast<double>(data.quantization->scales[0] * scale)
                                                       : scale_of(data) * static_cast<double>(scale);
    factors.push_back(fixed_factor(product / scale_of(result)));
  }
  Tensor zero = zero_point_of(result, *result.dtype);
  if (activation == Activation::NONE) return requantize(n, "scaled", sum, factors, axis, std::move(zero), last);
  Ref scaled = requantize(n, "scaled", sum, factors, axis, std::move(zero), nullptr);
  StoredRange range = stored_range(result, activation);
  return last(n).clip(scaled, range.least, range.most);
}

graph::ValueRef rescaled(NodeImport& n, std::string_view step, graph::ValueRef value, double factor, const TensorInfo& result) {
  return requantize(n, step, value, {fixed_factor(factor)}, 0, zero_point_of(result, *result.dtype), nullptr);
}

graph::ValueRef rescaled_by(NodeImport& n, graph::ValueRef value, const FixedFactor& factor) {
  return requantize(n, "scaled", value, {factor}, 0, zero_point_of(n.output_info(0), *n.output_info(0).dtype), as_result);
}

namespace {

// An operand on the scale that both have, with more bits behind the point.
Ref on_common_scale(NodeImport& n, std::size_t i, double common_scale, int more_bits, std::string_view name) {
  Ref x = centred(n, i, n.input(i), DType::i32, name);
  Ref factor = n.step(cat(name, ".factor")).constant(Tensor::scalar<std::int32_t>(1 << more_bits));
  Ref fine = n.step(cat(name, ".fine")).multiply(x, factor);
  return requantize(n, cat(name, ".scaled"), fine, {fixed_factor(scale_of(n.input_info(i)) / common_scale)}, 0,
                    Tensor::scalar<std::int32_t>(0), nullptr);
}

Result<void> clipped(NodeImport& n, Ref value, const FixedFactor& factor, Activation activation) {
  const TensorInfo& result = n.output_info(0);
  StoredRange range = stored_range(result, activation);
  Ref scaled = requantize(n, "scaled", value, {factor}, 0, zero_point_of(result, *result.dtype),
                          activation == Activation::NONE ? as_result : nullptr);
  n.output(activation == Activation::NONE ? scaled : n.result().clip(scaled, range.least, range.most));
  return success();
}

}  // namespace

// Both operands on twice the larger scale, with 20 (of 16-bit numbers 15) more bits; then the sum on the result's scale.
Result<void> quantized_add(NodeImport& n, Activation activation, bool subtract) {
  int more_bits = dtype_size(*n.output_info(0).dtype) == 2 ? 15 : 20;
  double common = 2 * std::max(scale_of(n.input_info(0)), scale_of(n.input_info(1)));
  Ref a = on_common_scale(n, 0, common, more_bits, "a"), b = on_common_scale(n, 1, common, more_bits, "b");
  ops::Builder& builder = n.step("sum");
  Ref sum = subtract ? builder.subtract(a, b) : builder.add(a, b);
  return clipped(n, sum, fixed_factor(common / (std::exp2(more_bits) * scale_of(n.output_info(0)))), activation);
}

Result<void> quantized_multiply(NodeImport& n, Activation activation) {
  Ref a = centred(n, 0, n.input(0), DType::i32, "a");
  Ref b = centred(n, 1, n.input(1), DType::i32, "b");
  Ref product = n.step("product").multiply(a, b);
  double factor = scale_of(n.input_info(0)) * scale_of(n.input_info(1)) / scale_of(n.output_info(0));
  return clipped(n, product, fixed_factor(factor), activation);
}

namespace {

// From one scale to another, or from real numbers.
Result<void> import_quantize(NodeImport& n) {
  const auto &from = n.input_info(0), &to = n.output_info(0);
  if (!to.is_quantized()) return n.refuse("its result has no scale");
  if (n.is_exact() && from.is_quantized() && !from.quantization->per_slice() && !to.quantization->per_slice()) {
    Ref x = centred(n, 0, n.input(0), DType::i32, "x");
    return clipped(n, x, fixed_factor(scale_of(from) / scale_of(to)), Activation::NONE);
  }
  n.output_number(n.number(0));
  return success();
}

Result<void> import_dequantize(NodeImport& n) {
  BUDA_ASSIGN(auto type, n.type(0));
  if (is_float(type.dtype) && type.dtype != DType::f32) {
    Ref narrow = n.input(0);
    n.output(n.result().op("cast", {narrow}, {{"dtype", std::string("F32")}}));
    return success();
  }
  if (!is_float(type.dtype) && !n.input_info(0).is_quantized()) return n.refuse("its input has no scale");
  n.output(n.number(0));
  return success();
}

// The numbers that quantising and dequantising would leave: the range is moved so that 0 is one of them.
Result<void> import_fake_quant(NodeImport& n) {
  const auto& o = n.options<format::FakeQuantOptions>();
  if (o.num_bits() < 2 || o.num_bits() > 16 || !(o.min() <= 0 && o.max() >= 0 && o.min() < o.max()))
    return n.refuse(cat("its range ", to_text(o.min()), " to ", to_text(o.max()), " in ", o.num_bits(), " bits is not supported"));
  auto least = o.narrow_range() ? 1.0f : 0.0f, most = static_cast<float>((1 << o.num_bits()) - 1);
  float scale = (o.max() - o.min()) / (most - least);
  float zero = std::clamp(std::round(least - o.min() / scale), least, most);
  Ref x = n.number(0);
  Ref inside = n.step("inside").clip(x, static_cast<double>((least - zero) * scale), static_cast<double>((most - zero) * scale));
  Ref size = n.step("scale").constant(scale);
  Ref steps = n.step("steps").divide(inside, size);
  Ref whole = n.step("whole").op("round", {steps});
  n.output_number(n.result().multiply(whole, size));
  return success();
}

constexpr OpImporter kQuantizationOps[] = {
    {Code::DEQUANTIZE, import_dequantize, {}, Exactness::exact},
    {Code::FAKE_QUANT, import_fake_quant},
    {Code::QUANTIZE, import_quantize, {}, Exactness::exact},
};

}  // namespace

std::span<const OpImporter> quantization_ops() { return kQuantizationOps; }

}  // namespace buda::tflite_frontend
