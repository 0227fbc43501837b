// SPDX-License-Identifier: Apache-2.0
// Conditions and results that many rules share.
#include <buda/ops/table/rules.hpp>

#include <buda/base/text.hpp>
#include <buda/ops/elements/arithmetic.hpp>
#include <buda/ops/table/device_attribute.hpp>

#include <algorithm>

namespace buda::ops {

Diagnostic shape_error(std::string message) { return input_error("OP003", {}, std::move(message)); }
Diagnostic dtype_error(std::string message) { return input_error("OP004", {}, std::move(message)); }

Result<DType> common_dtype(std::span<const ValueType> inputs, Accepts accepts) {
  DType dtype = inputs.front().dtype;
  for (std::size_t i = 1; i < inputs.size(); ++i)
    if (inputs[i].dtype != dtype)
      return dtype_error(
          cat("inputs must have one element type; input 0 is ", dtype_name(dtype), ", input ", i, " is ", dtype_name(inputs[i].dtype)));
  if (accepts == Accepts::floats && !is_float(dtype)) return dtype_error(cat("a floating-point type is needed, not ", dtype_name(dtype)));
  if (accepts == Accepts::numbers && dtype == DType::boolean) return dtype_error("numbers are needed, not BOOL");
  return dtype;
}

Result<Shape> broadcast_all(std::span<const ValueType> inputs) {
  Shape shape = inputs.front().shape;
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    auto wider = broadcast(shape, inputs[i].shape);
    if (!wider)
      return shape_error(cat("the shapes ", shape.text(), " and ", inputs[i].shape.text(),
                             " cannot be broadcast together: aligned at the right, sizes must be equal or 1"));
    shape = std::move(*wider);
  }
  return shape;
}

Result<Shape> common_device_shape(std::span<const ValueType> inputs) {
  Shape shape = inputs.front().shape;
  for (const auto& input : inputs) {
    if (input.shape.rank() != 4) return shape_error(cat("a device op takes values of four axes, not ", input.shape.text()));
    shape[0] = std::max(shape[0], input.shape[0]);
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Shape wanted = shape;
    if (inputs[i].shape[0] == 1) wanted[0] = 1;
    if (inputs[i].shape != wanted)
      return shape_error(cat("input ", i, " arrives as ", inputs[i].shape.text(), " where ", shape.text(),
                             " is needed; on a device nothing broadcasts by itself, but edges can"));
  }
  return shape;
}

Result<std::size_t> resolved_axis(const Shape& shape, std::int64_t dim) {
  if (auto axis = shape.axis(dim)) return *axis;
  auto rank = static_cast<std::int64_t>(shape.rank());
  return shape_error(cat("there is no axis ", dim, " in a value of shape ", shape.text(), "; it has ",
                         rank == 0 ? std::string("none") : cat("axes ", -rank, " to ", rank - 1)));
}

Result<std::vector<std::size_t>> resolved_axes(const Shape& shape, const std::vector<std::int64_t>& dims) {
  std::vector<std::size_t> axes;
  if (dims.empty())
    for (std::size_t i = 0; i < shape.rank(); ++i) axes.push_back(i);
  for (std::int64_t dim : dims) {
    BUDA_ASSIGN(std::size_t axis, resolved_axis(shape, dim));
    axes.push_back(axis);
  }
  std::sort(axes.begin(), axes.end());
  if (auto twice = std::adjacent_find(axes.begin(), axes.end()); twice != axes.end())
    return shape_error(cat("axis ", *twice, " is named twice in ", list_text(dims)));
  return axes;
}

std::vector<ValueType> one(DType dtype, Shape shape) { return {ValueType{dtype, std::move(shape), std::nullopt}}; }

Result<std::vector<ValueType>> like_first(const InferCall& call) { return one(call.inputs[0].dtype, call.inputs[0].shape); }

double volume(const Shape& shape) {
  double v = 1;
  for (std::int64_t d : shape) v *= static_cast<double>(d);
  return v;
}

double one_per_element(std::span<const ValueType>, std::span<const ValueType> outputs, const Attrs&) { return volume(outputs[0].shape); }

Result<std::vector<Tensor>> one_tensor(Result<Tensor> tensor) {
  if (!tensor) return std::move(tensor).failure();
  return std::vector<Tensor>{std::move(*tensor)};
}

std::vector<AttrDef> with_packer_attrs(std::vector<AttrDef> attrs) {
  attrs.push_back(device_attr("relu_en"));
  attrs.push_back(device_attr("relu_mode", "min"));
  attrs.push_back(device_attr("relu_threshold"));
  return attrs;
}

Result<Tensor> after_packer(const Attrs& attrs, Tensor value, unsigned threads) {
  if (!attrs.boolean("relu_en") || attrs.text("relu_mode") == "none") return value;
  auto threshold = static_cast<float>(attrs.real("relu_threshold"));
  if (attrs.text("relu_mode") == "min") return mapped<float>(value, threads, [threshold](float v) { return v <= threshold ? 0.0f : v; });
  return mapped<float>(value, threads, [threshold](float v) { return v < 0.0f ? 0.0f : v > threshold ? threshold : v; });
}

}  // namespace buda::ops
