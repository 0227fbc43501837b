// SPDX-License-Identifier: Apache-2.0
// Resize and Upsample: values at regular places between elements.
#include "node_import.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace buda::onnx_frontend {
namespace {

using Dims = NodeImport::Dims;
using Reals = std::vector<double>;

// As decimals: a scale of 0.6 is meant as 0.6, and not as the fp32 number next to it, which would move coordinates over an edge.
Reals decimals(const Tensor& tensor) {
  Reals out;
  if (tensor.dtype() == DType::f32) {
    for (float v : tensor.as<float>()) out.push_back(parse_double(to_text(v)).value_or(static_cast<double>(v)));
    return out;
  }
  Tensor wide = tensor.cast(DType::f64);
  auto elements = wide.as<double>();
  return {elements.begin(), elements.end()};
}

// Sizes by scales: rounded down, after a product in fp32, as frameworks compute it.
Result<Dims> scaled_sizes(const NodeImport& n, const Shape& x, const Reals& scales) {
  if (scales.size() != x.rank()) return n.refuse(cat("has ", scales.size(), " scales for ", x.rank(), " axes"));
  Dims sizes;
  for (std::size_t i = 0; i < scales.size(); ++i) {
    float size = std::floor(static_cast<float>(x[i]) * static_cast<float>(scales[i]));
    if (!(scales[i] > 0) || !(size < 1e15f)) return n.refuse(cat("its scale ", scales[i], " of axis ", i, " is impossible"));
    sizes.push_back(static_cast<std::int64_t>(size));
  }
  return sizes;
}

bool same_sizes(const Dims& sizes, const Shape& x) { return std::equal(sizes.begin(), sizes.end(), x.begin(), x.end()); }

// Before Resize-11 elements stand at multiples of the scale, and the nearest one is the one before.
Result<void> resize_simply(NodeImport& n, const Reals& scales) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Dims sizes, scaled_sizes(n, x, scales));
  std::string mode = n.text("mode", "nearest");
  if (mode == "bilinear" || mode == "trilinear") mode = "linear";
  if (mode != "nearest" && mode != "linear") return n.refuse(cat("its mode '", mode, "' is not supported; nearest and linear are"));
  ops::AttrMap attrs{{"shape", sizes}, {"scales", scales}, {"method", mode}, {"coordinates", std::string("asymmetric")}};
  if (mode == "nearest") attrs["nearest"] = std::string("floor");
  n.output(n.result().op("resize", {n.input(0)}, std::move(attrs)));
  return success();
}

Result<void> import_upsample(NodeImport& n) {
  if (n.has_input(1)) {
    BUDA_ASSIGN(Tensor scales, n.known(1, "scales"));
    return resize_simply(n, decimals(scales));
  }
  if (n.has("scales")) {
    Reals scales;
    for (float v : n.floats("scales")) scales.push_back(parse_double(to_text(v)).value_or(static_cast<double>(v)));
    return resize_simply(n, scales);
  }
  return resize_simply(n, {1, 1, n.real("height_scale", 1), n.real("width_scale", 1)});
}

// The axes that the arguments of a node are for: all, or from opset 18 on those of its attribute, in that order.
Result<Dims> resized_axes(const NodeImport& n, std::size_t rank) {
  Dims axes = n.integers("axes");
  if (!n.has("axes"))
    for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  BUDA_TRY(n.axes(axes, rank));
  for (auto& axis : axes) {
    BUDA_ASSIGN(axis, n.axis(axis, rank));
  }
  return axes;
}

// Numbers for some of the axes, in place of those in `all`.
template <class T>
Result<std::vector<T>> for_all_axes(const NodeImport& n, const std::vector<T>& given, const Dims& axes, std::vector<T> all,
                                    std::string_view what) {
  if (given.size() != axes.size()) return n.refuse(cat("has ", given.size(), ' ', what, " for ", axes.size(), " axes"));
  for (std::size_t i = 0; i < axes.size(); ++i) all[static_cast<std::size_t>(axes[i])] = given[i];
  return all;
}

// Where each axis begins, then where each one ends; both as parts of the axis.
Result<Reals> region(NodeImport& n, const Dims& axes, std::size_t rank) {
  BUDA_ASSIGN(Tensor tensor, n.known(1, "roi"));
  Reals given = decimals(tensor), out(rank, 0);
  if (given.size() != 2 * axes.size()) return n.refuse(cat("its roi is ", tensor.describe(), "; it needs ", 2 * axes.size(), " numbers"));
  out.resize(2 * rank, 1);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    auto axis = static_cast<std::size_t>(axes[i]);
    out[axis] = given[i];
    out[rank + axis] = given[axes.size() + i];
  }
  return out;
}

// Sizes that keep the ratio of the given axes: the largest that none of the wanted ones is smaller than, or the smallest that none is
// larger than. Halves are rounded up.
Result<void> keep_aspect_ratio(const NodeImport& n, const Shape& x, const Dims& axes, Dims& sizes, Reals& scales) {
  std::string policy = n.text("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch") return success();
  if (policy != "not_larger" && policy != "not_smaller")
    return n.refuse(cat("its keep_aspect_ratio_policy is '", policy, "', not stretch, not_larger or not_smaller"));
  std::optional<double> scale;
  for (auto axis : axes) {
    auto i = static_cast<std::size_t>(axis);
    double ratio = static_cast<double>(sizes[i]) / static_cast<double>(std::max<std::int64_t>(x[i], 1));
    scale = !scale ? ratio : policy == "not_larger" ? std::min(*scale, ratio) : std::max(*scale, ratio);
  }
  scales.assign(x.rank(), 1);
  for (auto axis : axes) {
    auto i = static_cast<std::size_t>(axis);
    scales[i] = *scale;
    double size = std::floor(*scale * static_cast<double>(x[i]) + 0.5);
    if (!(size >= 0 && size < 1e15)) return n.refuse(cat("its sizes ", list_text(sizes), " are impossible"));
    sizes[i] = static_cast<std::int64_t>(size);
  }
  return success();
}

// Sizes and scales of all axes; no scales where they are the ratios of sizes.
struct ResizeSizes {
  Dims sizes;
  Reals scales;
};

Result<ResizeSizes> resize_sizes(NodeImport& n, const Shape& x, const Dims& axes, const Reals& roi) {
  ResizeSizes out;
  Reals scales;
  if (n.has_input(2)) {
    BUDA_ASSIGN(Tensor given, n.known(2, "scales"));
    scales = decimals(given);
  }
  if (!scales.empty()) {
    BUDA_ASSIGN(out.scales, for_all_axes(n, scales, axes, Reals(x.rank(), 1), "scales"));
    Reals of_sizes = out.scales;
    for (std::size_t i = 0; i < roi.size() / 2; ++i) of_sizes[i] *= roi[roi.size() / 2 + i] - roi[i];
    BUDA_ASSIGN(out.sizes, scaled_sizes(n, x, of_sizes));
    return out;
  }
  BUDA_ASSIGN(Dims sizes, n.known_integers(3, "sizes"));
  BUDA_ASSIGN(out.sizes, for_all_axes(n, sizes, axes, Dims(x.begin(), x.end()), "sizes"));
  BUDA_TRY(keep_aspect_ratio(n, x, axes, out.sizes, out.scales));
  return out;
}

Result<void> import_resize(NodeImport& n) {
  if (n.opset() < 11) {
    BUDA_ASSIGN(Tensor scales, n.known(1, "scales"));
    return resize_simply(n, decimals(scales));
  }
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Dims axes, resized_axes(n, x.rank()));
  std::string mode = n.text("mode", "nearest"), coordinates = n.text("coordinate_transformation_mode", "half_pixel");
  ops::AttrMap attrs;
  Reals roi;
  if (coordinates == "tf_crop_and_resize") {
    BUDA_ASSIGN(roi, region(n, axes, x.rank()));
    attrs["roi"] = roi;
    if (n.real("extrapolation_value", 0) != 0) attrs["extrapolation"] = n.real("extrapolation_value", 0);
  }
  BUDA_ASSIGN(auto target, resize_sizes(n, x, axes, roi));
  attrs["shape"] = target.sizes;
  if (!target.scales.empty()) attrs["scales"] = target.scales;
  if (mode != "nearest") attrs["method"] = mode;
  if (coordinates != "half_pixel") attrs["coordinates"] = coordinates;
  if (mode == "nearest" && n.has("nearest_mode")) attrs["nearest"] = n.text("nearest_mode", "");
  if (mode == "cubic" && n.has("cubic_coeff_a")) attrs["cubic_coefficient"] = n.real("cubic_coeff_a", -0.75);
  if (n.integer("exclude_outside", 0) != 0) attrs["exclude_outside"] = true;
  if (n.integer("antialias", 0) != 0) attrs["antialias"] = true;
  if (same_sizes(target.sizes, x) && coordinates != "tf_crop_and_resize" && coordinates != "tf_half_pixel_for_nn" &&
      std::all_of(target.scales.begin(), target.scales.end(), [](double s) { return s == 1; })) {
    n.output_input(0);
    return success();
  }
  n.output(n.result().op("resize", {n.input(0)}, std::move(attrs)));
  return success();
}

constexpr OpImporter kResizingOps[] = {
    {"Resize", 10, import_resize},
    {"Upsample", 1, import_upsample},
};

}  // namespace

std::span<const OpImporter> resizing_ops() { return kResizingOps; }

}  // namespace buda::onnx_frontend
