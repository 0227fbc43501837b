// SPDX-License-Identifier: Apache-2.0
// Padding into tiles and back, and the data movement of TMs.
#include <buda/ops/device/device_layout.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/node.hpp>
#include <buda/graph/values/tile_count.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/ops/elements/copy.hpp>
#include <buda/ops/table/rules.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace buda::ops {
namespace {

using graph::Tm;
using graph::TmDim;
using graph::TmKind;

// `view` lies in the corner of `device`.
bool lies_in(const Shape& view, const Shape& device) {
  return device.rank() == 4 && view[0] == device[0] && view[1] == device[1] && view[2] <= device[2] && view[3] <= device[3];
}

Diagnostic does_not_lie_in(const Shape& model, const Shape& view, const Shape& device) {
  return shape_error(cat("the model's shape ", model.text(), ", which is ", view.text(), " in four axes, does not fit in the device's ",
                         device.text(), ": w and z must be equal, r and c not larger"));
}

// One TM as a copy: more axes than four, the copied elements' distances along them, and nothing else. Slices cut an axis in two, stacks and
// broadcasts join two.
Result<Tensor> moved(const Tensor& in, const Tm& tm, const Shape& out) {
  const Shape& s = in.shape();
  const std::int64_t w = s[0], z = s[1], r = s[2], c = s[3], n = tm.factor;
  auto copied = [&](const Shape& axes, const std::vector<std::int64_t>& strides) -> Result<Tensor> {
    BUDA_ASSIGN(Tensor moved_axes, gathered(in, axes, 0, strides));
    return moved_axes.reshaped(out);
  };
  switch (tm.kind) {
    case TmKind::broadcast:
      if (tm.dim == TmDim::z) return copied({w, n, z, r, c}, {z * r * c, 0, r * c, c, 1});
      if (tm.dim == TmDim::r) return copied({w, z, n, r, c}, {z * r * c, r * c, 0, c, 1});
      return copied({w, z, r, n, c}, {z * r * c, r * c, c, 0, 1});
    case TmKind::transpose:
      return copied({w, z, c, r}, {z * r * c, r * c, 1, c});
    case TmKind::hslice:
      return copied({w, z, n, r, c / n}, {z * r * c, r * c, c / n, c, 1});
    case TmKind::hstack:
      return copied({w, z / n, r, n, c}, {z * r * c, n * r * c, c, r * c, 1});
    case TmKind::vslice:
    case TmKind::vstack:
      return in.reshaped(out);
    case TmKind::unpad:
      return copied(out, {z * r * c, r * c, c, 1});
    case TmKind::pad:
      break;
  }
  BUDA_ASSIGN(Buffer padded, Buffer::make(in.dtype(), out));
  fill(padded, in.dtype(), tm.value);
  put(in, padded, out, {0, 0, 0, 0});
  return std::move(padded).take();
}

}  // namespace

BorderShapes border_shapes(const graph::Node& node, const Shape& device) {
  auto shape = [&](std::string_view name, const Shape& otherwise) {
    auto it = node.attrs.find(name);
    const auto* dims = it == node.attrs.end() ? nullptr : std::get_if<std::vector<std::int64_t>>(&it->second);
    return dims == nullptr ? otherwise : Shape(*dims);
  };
  Shape model = shape(kModelShape, device);
  BorderShapes shapes{model, shape(kViewShape, model), shape(kViewSplit, {}), {}};
  shapes.order = shape(kViewOrder, {}).dims();
  return shapes;
}

Result<void> check_border(const BorderShapes& s) {
  if (s.model.volume() != s.view.volume())
    return shape_error(cat("the model's shape ", s.model.text(), " and its view ", s.view.text(), " have different numbers of elements"));
  if (s.order.empty() && s.split.rank() == 0) return success();
  std::vector<std::int64_t> axes = s.order;
  std::sort(axes.begin(), axes.end());
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[i] != static_cast<std::int64_t>(i)) return shape_error(cat("'view_order' ", list_text(s.order), " is no permutation"));
  if (s.split.rank() != axes.size() || s.split.volume() != s.model.volume())
    return shape_error(cat("'view_split' ", s.split.text(), " does not cut ", s.model.text(), " into ", axes.size(), " axes"));
  return success();
}

namespace {

Result<Tensor> rearranged(const Tensor& in, const BorderShapes& s, const Shape& to) {
  BUDA_TRY(check_border(s));
  if (!s.transposes()) return in.reshaped(to);
  std::vector<std::int64_t> dims, strides, from = s.split.strides();
  for (std::int64_t axis : s.order) {
    dims.push_back(s.split[static_cast<std::size_t>(axis)]);
    strides.push_back(from[static_cast<std::size_t>(axis)]);
  }
  BUDA_ASSIGN(Tensor out, gathered(in, Shape(std::move(dims)), 0, strides));
  return out.reshaped(to);
}

}  // namespace

Result<Tensor> into_view(const Tensor& model, const BorderShapes& shapes) { return rearranged(model, shapes, shapes.view); }
Result<Tensor> out_of_view(const Tensor& view, const BorderShapes& shapes) { return rearranged(view, shapes, shapes.model); }

DType border_type(const graph::Node& node, DType device) {
  auto it = node.attrs.find(kModelType);
  const auto* name = it == node.attrs.end() ? nullptr : std::get_if<std::string>(&it->second);
  return name == nullptr ? device : dtype_from_name(*name).value_or(device);
}

Tensor in_model_type(const Tensor& value, DType model) {
  if (is_float(model) || !is_float(value.dtype())) return value.cast(model);
  Tensor wide = value.cast(DType::f64);
  std::vector<double> nearest(wide.as<double>().begin(), wide.as<double>().end());
  for (double& v : nearest) v = std::nearbyint(v);
  return Tensor(wide.shape(), std::move(nearest)).cast(model);
}

Result<Shape> four_axes(const Shape& model_shape) {
  std::size_t rank = model_shape.rank();
  Shape out{1, 1, 1, 1};
  for (std::size_t i = 0; i < rank; ++i) {
    std::size_t axis = i + 4 < rank ? 0 : i + 4 - rank;
    auto size = checked_mul(out[axis], model_shape[i]);
    if (!size) return shape_error(cat("the shape ", model_shape.text(), " is too large"));
    out[axis] = *size;
  }
  if (!out.volume()) return shape_error(cat("the shape ", model_shape.text(), " is impossible"));
  return out;
}

Result<Shape> tiled_shape(const Shape& model_shape) {
  BUDA_ASSIGN(Shape out, four_axes(model_shape));
  if (out.volume() == 0) return shape_error(cat("a value of shape ", model_shape.text(), " has no elements, which a device cannot hold"));
  for (std::size_t axis : {2, 3}) {
    auto padded = checked_add(out[axis], graph::kTileSide - 1);
    if (!padded) return shape_error(cat("the shape ", model_shape.text(), " is too large"));
    out[axis] = graph::tiled_side(out[axis]);
  }
  if (!out.volume()) return shape_error(cat("the shape ", model_shape.text(), " is too large"));
  return out;
}

Result<Tensor> to_device(const Tensor& model, const Shape& device) {
  BUDA_ASSIGN(Shape view, four_axes(model.shape()));
  if (!lies_in(view, device)) return does_not_lie_in(model.shape(), view, device);
  BUDA_ASSIGN(Tensor seen, model.reshaped(view));
  if (view == device) return seen;
  BUDA_ASSIGN(Buffer out, Buffer::make(model.dtype(), device));
  fill(out, model.dtype(), 0);
  put(seen, out, device, {0, 0, 0, 0});
  return std::move(out).take();
}

Result<Tensor> from_device(const Tensor& device, const Shape& model_shape) {
  BUDA_ASSIGN(Shape view, four_axes(model_shape));
  if (!lies_in(view, device.shape())) return does_not_lie_in(model_shape, view, device.shape());
  if (view == device.shape()) return device.reshaped(model_shape);
  BUDA_ASSIGN(Tensor corner, gathered(device, view, 0, device.shape().strides()));
  return corner.reshaped(model_shape);
}

Result<Tensor> apply_tms(const Tensor& value, const std::vector<Tm>& tms) {
  Tensor out = value;
  for (const auto& tm : tms) {
    BUDA_ASSIGN(Shape shape, graph::shape_after(out.shape(), tm));
    BUDA_ASSIGN(out, moved(out, tm, shape));
  }
  return out;
}

}  // namespace buda::ops
