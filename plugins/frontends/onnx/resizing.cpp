// Resize and Upsample, GridSample, RoiAlign and MaxRoiPool: values at places between elements.
#include "node_import.hpp"

#include <buda/base/text.hpp>

#include <algorithm>
#include <cmath>

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
  if (mode != "nearest" && mode != "linear") return n.refuse(cat("its mode '", mode, "' is not read; nearest and linear are"));
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

Result<void> add_roi(NodeImport& n, const Shape& x, ops::AttrMap& attrs) {
  BUDA_ASSIGN(Tensor roi, n.known(1, "roi"));
  if (roi.size() != 2 * x.rank()) return n.refuse(cat("its roi is ", roi.describe(), "; it needs ", 2 * x.rank(), " numbers"));
  attrs["roi"] = decimals(roi);
  if (n.real("extrapolation_value", 0) != 0) attrs["extrapolation"] = n.real("extrapolation_value", 0);
  return success();
}

Result<void> import_resize(NodeImport& n) {
  if (n.opset() < 11) {
    BUDA_ASSIGN(Tensor scales, n.known(1, "scales"));
    return resize_simply(n, decimals(scales));
  }
  BUDA_ASSIGN(Shape x, n.shape(0));
  ops::AttrMap attrs;
  Dims sizes;
  Reals scales;
  if (n.has_input(2)) {
    BUDA_ASSIGN(Tensor given, n.known(2, "scales"));
    scales = decimals(given);
  }
  if (!scales.empty()) {
    BUDA_ASSIGN(sizes, scaled_sizes(n, x, scales));
    attrs["scales"] = scales;
  } else {
    BUDA_ASSIGN(sizes, n.known_integers(3, "sizes"));
    if (sizes.size() != x.rank()) return n.refuse(cat("has ", sizes.size(), " sizes for ", x.rank(), " axes"));
  }
  attrs["shape"] = sizes;
  std::string mode = n.text("mode", "nearest"), coordinates = n.text("coordinate_transformation_mode", "half_pixel");
  if (mode != "nearest") attrs["method"] = mode;
  if (coordinates != "half_pixel") attrs["coordinates"] = coordinates;
  if (mode == "nearest" && n.has("nearest_mode")) attrs["nearest"] = n.text("nearest_mode", "");
  if (mode == "cubic" && n.has("cubic_coeff_a")) attrs["cubic_coefficient"] = n.real("cubic_coeff_a", -0.75);
  if (n.integer("exclude_outside", 0) != 0) attrs["exclude_outside"] = true;
  if (coordinates == "tf_crop_and_resize") BUDA_TRY(add_roi(n, x, attrs));
  if (same_sizes(sizes, x) && coordinates != "tf_crop_and_resize" && coordinates != "tf_half_pixel_for_nn" &&
      std::all_of(scales.begin(), scales.end(), [](double s) { return s == 1; })) {
    n.output_input(0);
    return success();
  }
  n.output(n.result().op("resize", {n.input(0)}, std::move(attrs)));
  return success();
}

Result<void> import_grid_sample(NodeImport& n) {
  ops::AttrMap attrs{{"mode", n.text("mode", "bilinear")}, {"padding", n.text("padding_mode", "zeros")}};
  if (n.integer("align_corners", 0) != 0) attrs["align_corners"] = true;
  auto x = n.input(0), grid = n.input(1);
  n.output(n.result().op("grid_sample", {x, grid}, std::move(attrs)));
  return success();
}

// The standard coordinates of RoiAlign-10 are what RoiAlign-16 calls output_half_pixel.
Result<void> import_roi_align(NodeImport& n) {
  ops::AttrMap attrs{{"pooled", Dims{n.integer("output_height", 1), n.integer("output_width", 1)}},
                     {"spatial_scale", n.real("spatial_scale", 1)},
                     {"sampling_ratio", n.integer("sampling_ratio", 0)},
                     {"mode", n.text("mode", "avg")},
                     {"coordinates", n.text("coordinate_transformation_mode", n.opset() >= 16 ? "half_pixel" : "output_half_pixel")}};
  auto x = n.input(0), rois = n.input(1), batch = n.input(2);
  n.output(n.result().op("roi_align", {x, rois, batch}, std::move(attrs)));
  return success();
}

Result<void> import_max_roi_pool(NodeImport& n) {
  auto x = n.input(0), rois = n.input(1);
  n.output(
      n.result().op("max_roi_pool", {x, rois}, {{"pooled", n.integers("pooled_shape")}, {"spatial_scale", n.real("spatial_scale", 1)}}));
  return success();
}

constexpr OpImporter kResizingOps[] = {
    {"GridSample", 16, import_grid_sample}, {"MaxRoiPool", 1, import_max_roi_pool}, {"Resize", 10, import_resize},
    {"RoiAlign", 10, import_roi_align},     {"Upsample", 1, import_upsample},
};

}  // namespace

std::span<const OpImporter> resizing_ops() { return kResizingOps; }

}  // namespace buda::onnx_frontend
