// SPDX-License-Identifier: Apache-2.0
// Places in images: affine grids, regions of torchvision, sums of overlapping windows.
#include "call.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/windows.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::torchscript {
namespace {

constexpr std::int64_t kMaxGrid = 1 << 24;

// Homogeneous coordinates of all elements, the last axis first: rows (x, y, 1) or (x, y, z, 1) from -1 to 1.
std::vector<float> homogeneous_rows(const Dims& sizes, bool corners) {
  const std::int64_t count = *Shape(sizes).volume();
  std::vector<float> out;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t left = i;
    for (std::size_t axis = sizes.size(); axis-- > 0;) {
      const double size = static_cast<double>(sizes[axis]), at = static_cast<double>(left % sizes[axis]);
      left /= sizes[axis];
      const double place = corners ? (size == 1 ? 0.0 : 2 * at / (size - 1) - 1) : (2 * at + 1) / size - 1;
      out.push_back(static_cast<float>(place));
    }
    out.push_back(1.0f);
  }
  return out;
}

Result<Value> import_affine_grid(Call& n) {
  BUDA_ASSIGN(auto theta, n.type("theta"));
  BUDA_ASSIGN(Dims size, n.integers("size"));
  BUDA_ASSIGN(bool corners, n.flag_or("align_corners", false));
  const auto axes = static_cast<std::int64_t>(size.size()) - 2;
  if (axes < 2 || axes > 3 || theta.shape != Shape{size[0], axes, axes + 1})
    return n.refuse(cat("its matrices are ", theta.shape.text(), " and its size ", list_text(size), ", which do not fit each other"));
  const Dims sizes(size.begin() + 2, size.end());
  const bool possible = std::all_of(sizes.begin(), sizes.end(), [](std::int64_t s) { return s >= 1; });
  if (!possible || Shape(sizes).volume().value_or(kMaxGrid + 1) > kMaxGrid)
    return n.refuse(cat("its size ", list_text(size), " is impossible"));
  Shape rows{*Shape(sizes).volume(), axes + 1}, result{size[0]};
  for (auto s : sizes) result.push_back(s);
  result.push_back(axes);
  Ref base = n.constant(Tensor(rows, homogeneous_rows(sizes, corners)).cast(theta.dtype));
  Ref matrices = n.ref("theta");
  Ref columns = n.step("columns").transpose(matrices, {0, 2, 1});
  Ref moved = n.step("moved").matmul(base, columns);
  return n.tensor(n.result().reshape(moved, result));
}

// Modes and paddings by their numbers.
Result<Value> import_grid_sampler(Call& n) {
  constexpr std::string_view kModes[] = {"bilinear", "nearest", "bicubic"}, kPaddings[] = {"zeros", "border", "reflection"};
  BUDA_ASSIGN(auto mode, n.integer_or("interpolation_mode", 0));
  BUDA_ASSIGN(auto padding, n.integer_or("padding_mode", 0));
  BUDA_ASSIGN(bool corners, n.flag_or("align_corners", false));
  if (mode < 0 || mode > 2 || padding < 0 || padding > 2)
    return n.refuse(cat("its mode is ", mode, " and its padding ", padding, "; 0 to 2 are supported"));
  Ref x = n.ref("input"), grid = n.ref("grid");
  return n.tensor(
      n.result().op("grid_sample", {x, grid},
                    {{"mode", std::string(kModes[mode])}, {"padding", std::string(kPaddings[padding])}, {"align_corners", corners}}));
}

// torchvision's: regions are rows (sample, x1, y1, x2, y2).
Result<Value> import_roi_align(Call& n) {
  BUDA_ASSIGN(Shape x, n.shape("input"));
  BUDA_ASSIGN(Shape regions, n.shape("rois"));
  BUDA_ASSIGN(double scale, n.real_or("spatial_scale", 1));
  BUDA_ASSIGN(auto rows, n.integer("pooled_height"));
  BUDA_ASSIGN(auto columns, n.integer("pooled_width"));
  BUDA_ASSIGN(auto ratio, n.integer_or("sampling_ratio", -1));
  BUDA_ASSIGN(bool aligned, n.flag_or("aligned", false));
  if (x.rank() != 4 || regions.rank() != 2 || regions[1] != 5)
    return n.refuse(cat("its input is ", x.text(), " and its regions ", regions.text(), "; images and rows of five numbers are needed"));
  Ref image = n.ref("input"), all = n.ref("rois");
  Ref boxes = n.step("boxes").slice(all, 1, 1, 5);
  Ref samples = n.step("samples.column").slice(all, 1, 0, 1);
  samples = n.step("samples.flat").reshape(samples, Shape{regions[0]});
  samples = n.cast(samples, DType::i64, "samples");
  return n.tensor(n.result().op("roi_align", {image, boxes, samples},
                                {{"pooled", Dims{rows, columns}},
                                 {"spatial_scale", scale},
                                 {"sampling_ratio", std::max<std::int64_t>(ratio, 0)},
                                 {"coordinates", std::string(aligned ? "half_pixel" : "output_half_pixel")}}));
}

// torchvision's: the largest element of each part of a region, whose corners are rounded.
Result<Value> import_roi_pool(Call& n) {
  BUDA_ASSIGN(double scale, n.real_or("spatial_scale", 1));
  BUDA_ASSIGN(auto rows, n.integer("pooled_height"));
  BUDA_ASSIGN(auto columns, n.integer("pooled_width"));
  Ref image = n.ref("input"), regions = n.ref("rois");
  Ref y = n.result().op("max_roi_pool", {image, regions}, {{"pooled", Dims{rows, columns}}, {"spatial_scale", scale}});
  // What else it gives, the places of the largest, serves its gradient.
  return tuple_of({n.tensor(y), Value(Nothing{})});
}

// fold: the sum of all windows, each at its place: a transposed convolution whose kernel has a channel for each element of a window.
Result<Value> import_col2im(Call& n) {
  constexpr std::int64_t kMaxTaps = 1 << 12;
  BUDA_ASSIGN(auto type, n.type("self"));
  BUDA_ASSIGN(Dims image, n.sizes_or("output_size", 2, 1));
  BUDA_ASSIGN(Dims kernel, n.sizes_or("kernel_size", 2, 1));
  BUDA_ASSIGN(Dims dilation, n.sizes_or("dilation", 2, 1));
  BUDA_ASSIGN(Dims padding, n.sizes_or("padding", 2, 0));
  BUDA_ASSIGN(Dims stride, n.sizes_or("stride", 2, 1));
  const Shape& x = type.shape;
  Dims counts, more;
  bool possible = (x.rank() == 2 || x.rank() == 3) && is_float(type.dtype);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t reach = dilation[i] * (kernel[i] - 1) + 1, room = image[i] + 2 * padding[i] - reach;
    possible = possible && stride[i] > 0 && kernel[i] > 0 && dilation[i] > 0 && image[i] > 0 && room >= 0;
    if (!possible) break;
    counts.push_back(room / stride[i] + 1);
    more.push_back(room % stride[i]);
  }
  const std::int64_t taps = possible ? kernel[0] * kernel[1] : 1;
  const std::size_t first = x.rank() == 3 ? 1 : 0;
  if (!possible || taps > kMaxTaps || x[first] % taps != 0 || x[first + 1] != counts[0] * counts[1])
    return n.refuse(cat("its input is ", x.text(), ", its output_size ", list_text(image), ", its kernel_size ", list_text(kernel),
                        ", its dilation ", list_text(dilation), ", its padding ", list_text(padding), " and its stride ", list_text(stride),
                        ", which do not fit each other"));
  const std::int64_t samples = first == 1 ? x[0] : 1, channels = x[first] / taps;
  std::vector<float> ones(static_cast<std::size_t>(taps * taps), 0.0f);
  for (std::int64_t i = 0; i < taps; ++i) ones[static_cast<std::size_t>(i * taps + i)] = 1.0f;
  Ref value = n.ref("self");
  Ref windows = n.step("windows").reshape(value, Shape{samples * channels, taps, counts[0], counts[1]});
  Ref places = n.constant(Tensor(Shape{taps, 1, kernel[0], kernel[1]}, std::move(ones)).cast(type.dtype));
  ops::AttrMap attrs{{"stride", stride}, {"dilation", dilation}, {"padding", Dims{padding[0], padding[1], padding[0], padding[1]}}};
  if (more[0] != 0 || more[1] != 0) attrs["output_padding"] = more;
  Ref sum = n.step("sum").op("conv2d_transpose", {windows, places}, std::move(attrs));
  return n.tensor(n.result().reshape(sum, first == 1 ? Shape{samples, channels, image[0], image[1]} : Shape{channels, image[0], image[1]}));
}

constexpr OpImporter kSamplingOps[] = {
    {"affine_grid_generator", "theta size align_corners", import_affine_grid},
    {"col2im", "self output_size kernel_size dilation padding stride", import_col2im},
    {"grid_sampler", "input grid interpolation_mode padding_mode align_corners", import_grid_sampler},
    {"grid_sampler_2d", "input grid interpolation_mode padding_mode align_corners", import_grid_sampler},
    {"grid_sampler_3d", "input grid interpolation_mode padding_mode align_corners", import_grid_sampler},
    {"torchvision.roi_align", "input rois spatial_scale pooled_height pooled_width sampling_ratio aligned", import_roi_align},
    {"torchvision.roi_pool", "input rois spatial_scale pooled_height pooled_width", import_roi_pool, "", "the first result"},
};

}  // namespace

std::span<const OpImporter> sampling_ops() { return kSamplingOps; }

}  // namespace buda::torchscript
