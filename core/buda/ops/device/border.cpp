// SPDX-License-Identifier: Apache-2.0
// to_device and to_host: what the host does at the border of a device graph, in its middle.
#include <buda/ops/device/border.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/tags/placement.hpp>
#include <buda/ops/device/device_layout.hpp>
#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/rules.hpp>

namespace buda::ops {
namespace {

constexpr DType kDeviceType = DType::f32;

std::vector<AttrDef> border_attrs() {
  const Attr none = std::vector<std::int64_t>{};
  return {{std::string(kModelShape), AttrType::integers, std::nullopt, "shape on the host", {}},
          {std::string(kViewShape), AttrType::integers, none, "shape under which it is padded; empty: model_shape", {}},
          {std::string(kViewSplit), AttrType::integers, none, "shape in which it is transposed between the two; empty: it is not", {}},
          {std::string(kViewOrder), AttrType::integers, none, "axis i of the transposed value is axis view_order[i]", {}},
          {std::string(kModelType), AttrType::text, std::string(), "element type on the host; empty: F32", {}}};
}

BorderShapes shapes_of(const Attrs& attrs) {
  auto shape = [&](std::string_view name, const Shape& otherwise) { return attrs.has(name) ? Shape(attrs.integers(name)) : otherwise; };
  Shape model(attrs.integers(kModelShape));
  return {model, shape(kViewShape, model), shape(kViewSplit, {}), attrs.integers(kViewOrder)};
}

Result<DType> host_type(const Attrs& attrs) {
  const std::string& name = attrs.text(kModelType);
  if (name.empty()) return kDeviceType;
  auto dtype = dtype_from_name(name);
  if (!dtype) return dtype_error(cat("'", kModelType, "' must name an element type, not '", name, '\''));
  return *dtype;
}

Result<std::vector<ValueType>> infer_to_device(const InferCall& call) {
  BorderShapes shapes = shapes_of(call.attrs);
  BUDA_TRY(check_border(shapes));
  BUDA_ASSIGN(DType dtype, host_type(call.attrs));
  if (call.inputs[0].shape != shapes.model || call.inputs[0].dtype != dtype)
    return shape_error(
        cat("its input is ", call.inputs[0].text(), ", and it is declared as ", dtype_name(dtype), ' ', shapes.model.text()));
  BUDA_ASSIGN(Shape device, tiled_shape(shapes.view));
  return one(kDeviceType, std::move(device));
}

Result<std::vector<Tensor>> evaluate_to_device(const EvaluateCall& call) {
  BUDA_ASSIGN(Tensor seen, into_view(call.inputs[0].cast(kDeviceType), shapes_of(call.attrs)));
  return one_tensor(to_device(seen, call.outputs[0].shape));
}

Result<std::vector<ValueType>> infer_to_host(const InferCall& call) {
  BorderShapes shapes = shapes_of(call.attrs);
  BUDA_TRY(check_border(shapes));
  BUDA_ASSIGN(DType dtype, host_type(call.attrs));
  BUDA_ASSIGN(Shape device, tiled_shape(shapes.view));
  if (call.inputs[0].shape != device)
    return shape_error(cat("its input has the shape ", call.inputs[0].shape.text(), ", and ", shapes.view.text(), " takes ", device.text(),
                           " on a device"));
  return one(dtype, shapes.model);
}

Result<std::vector<Tensor>> evaluate_to_host(const EvaluateCall& call) {
  BorderShapes shapes = shapes_of(call.attrs);
  BUDA_ASSIGN(Tensor cut, from_device(call.inputs[0], shapes.view));
  BUDA_ASSIGN(cut, out_of_view(cut, shapes));
  return std::vector<Tensor>{in_model_type(cut, call.outputs[0].dtype)};
}

}  // namespace

std::vector<OpDef> border_ops() {
  OpDef in{.name = std::string(graph::kToDevice),
           .level = Level::device,
           .family = "border",
           .summary = "a value of the host, padded to whole tiles, as an input of a device graph is",
           .inputs = {"input"},
           .attrs = border_attrs(),
           .infer = infer_to_device,
           .evaluate = evaluate_to_device};
  OpDef out{.name = std::string(graph::kToHost),
            .level = Level::tensor,
            .family = "border",
            .summary = "a value of the device cut out of its tiles, as an output of a device graph is",
            .inputs = {"input"},
            .attrs = border_attrs(),
            .infer = infer_to_host,
            .evaluate = evaluate_to_host};
  return {std::move(in), std::move(out)};
}

}  // namespace buda::ops
