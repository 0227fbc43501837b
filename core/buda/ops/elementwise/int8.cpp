// SPDX-License-Identifier: Apache-2.0
// Between floating-point numbers and the Int8 of a device.
#include <buda/ops/elementwise/int8.hpp>

#include <buda/ops/elements/arithmetic.hpp>
#include <buda/ops/table/device_attribute.hpp>
#include <buda/ops/table/families.hpp>
#include <buda/ops/table/rules.hpp>

namespace buda::ops {
namespace {

double scale_flops(std::span<const ValueType>, std::span<const ValueType> outputs, const Attrs&) { return 2 * volume(outputs[0].shape); }

Result<std::vector<ValueType>> infer_to_and_from(const InferCall& call) {
  BUDA_ASSIGN(DType dtype, common_dtype(call.inputs, Accepts::floats));
  return one(dtype, call.inputs[0].shape);
}

Result<std::vector<Tensor>> evaluate_to_int8(const EvaluateCall& call) {
  const auto scale = static_cast<float>(call.attrs.real("scale")), zero = static_cast<float>(call.attrs.real("zero_point"));
  return one_tensor(mapped<float>(call.inputs[0], call.threads, [=](float x) { return as_int8(x * scale + zero); }));
}

Result<std::vector<Tensor>> evaluate_from_int8(const EvaluateCall& call) {
  const auto scale = static_cast<float>(call.attrs.real("scale")), zero = static_cast<float>(call.attrs.real("zero_point"));
  return one_tensor(mapped<float>(call.inputs[0], call.threads, [=](float x) { return (x - zero) * scale; }));
}

// ---- device level

Result<std::vector<ValueType>> infer_scaled(const InferCall& call) {
  BUDA_ASSIGN(DType dtype, common_dtype(call.inputs, Accepts::floats));
  BUDA_ASSIGN(Shape shape, common_device_shape(call.inputs));
  return one(dtype, std::move(shape));
}

Result<std::vector<Tensor>> evaluate_quantization(const EvaluateCall& call) {
  const auto zero = static_cast<float>(call.attrs.real("zero_point"));
  return one_tensor(combined<float>(call.inputs[0], call.inputs[1], call.outputs[0].shape, call.threads,
                                    [zero](float x, float scale) { return as_int8(x * scale + zero); }));
}

Result<std::vector<Tensor>> evaluate_dequantization(const EvaluateCall& call) {
  const auto zero = static_cast<float>(call.attrs.real("zero_point"));
  return one_tensor(combined<float>(call.inputs[0], call.inputs[1], call.outputs[0].shape, call.threads,
                                    [zero](float x, float scale) { return (x - zero) * scale; }));
}

OpDef int8_tensor_op(std::string name, std::string summary, decltype(OpDef::evaluate) evaluate) {
  return {.name = std::move(name),
          .level = Level::tensor,
          .family = "int8",
          .summary = std::move(summary),
          .inputs = {"x"},
          .least_inputs = 1,
          .most_inputs = 1,
          .attrs = {{"scale", AttrType::real, 1.0, "factor", {}}, {"zero_point", AttrType::real, 0.0, "the integer that stands for 0", {}}},
          .infer = infer_to_and_from,
          .evaluate = evaluate,
          .flops = scale_flops};
}

OpDef int8_device_op(std::string name, std::string summary, decltype(OpDef::evaluate) evaluate) {
  return {.name = std::move(name),
          .level = Level::device,
          .family = "int8",
          .summary = std::move(summary),
          .inputs = {"in0", "scales"},
          .least_inputs = 2,
          .most_inputs = 2,
          .attrs = with_packer_attrs({device_attr("zero_point")}),
          .infer = infer_scaled,
          .evaluate = evaluate,
          .flops = scale_flops};
}

}  // namespace

std::vector<AttrDef> int8_product_attrs() {
  return {{"zero_point", AttrType::real, 0.0, "added to the scaled sums; with `dequantize` taken away from the sums", {}},
          {"dequantize", AttrType::boolean, false, "the result is a floating-point number, not rounded", {}}};
}

Result<Tensor> scaled_sums(const EvaluateCall& call, const Tensor& sums, const Tensor& bias, const Tensor& scale, bool dequantize) {
  const auto zero = static_cast<float>(call.attrs.real("zero_point"));
  const Shape& shape = call.outputs[0].shape;
  BUDA_ASSIGN(Tensor out, combined<float>(sums, bias.cast(DType::f32), shape, call.threads, [](float x, float y) { return x + y; }));
  if (dequantize)
    return combined<float>(out, scale.cast(DType::f32), shape, call.threads, [zero](float x, float s) { return (x - zero) * s; });
  return combined<float>(out, scale.cast(DType::f32), shape, call.threads, [zero](float x, float s) { return as_int8(x * s + zero); });
}

std::vector<OpDef> int8_ops() {
  return {int8_tensor_op("to_int8", "x * scale + zero_point, rounded and limited as the device's Int8 is", evaluate_to_int8),
          int8_tensor_op("from_int8", "(x - zero_point) * scale of x, which a device holds in Int8", evaluate_from_int8),
          int8_device_op("quantization", "in0 * scale + zero_point, rounded and limited as Int8 is", evaluate_quantization),
          int8_device_op("dequantization", "(in0 - zero_point) * scale", evaluate_dequantization)};
}

}  // namespace buda::ops
