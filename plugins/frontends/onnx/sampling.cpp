// SPDX-License-Identifier: Apache-2.0
// GridSample and AffineGrid, DeformConv, RoiAlign and MaxRoiPool: values at places that are computed.
#include "window.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::onnx_frontend {
namespace {

using Dims = NodeImport::Dims;
using Ref = NodeImport::Ref;

// Places of a grid that is written out.
constexpr std::int64_t kLargestGrid = std::int64_t{1} << 24;
}  // namespace

// Opset 20 named two modes anew.
Result<void> import_grid_sample(NodeImport& n) {
  std::string mode = n.text("mode", n.opset() < 20 ? "bilinear" : "linear");
  if (mode == "linear") mode = "bilinear";
  if (mode == "cubic") mode = "bicubic";
  ops::AttrMap attrs{{"mode", mode}, {"padding", n.text("padding_mode", "zeros")}};
  if (n.integer("align_corners", 0) != 0) attrs["align_corners"] = true;
  BUDA_ASSIGN(auto type, n.type(0));
  auto x = n.input(0), grid = n.input(1);
  if (is_float(type.dtype)) {
    n.output(n.result().op("grid_sample", {x, grid}, std::move(attrs)));
    return success();
  }
  // Integers are interpolated as real numbers, which are cut off again.
  auto real = n.cast(x, DType::f64, "real");
  auto sampled = n.step("sampled").op("grid_sample", {real, grid}, std::move(attrs));
  n.output(n.result().op("cast", {sampled}, {{"dtype", std::string(dtype_name(type.dtype))}}));
  return success();
}

namespace {

// A row (x, y, 1), or (x, y, z, 1), for each place of a regular grid from -1 to 1 along each axis, the last axis being x.
std::vector<double> homogeneous_grid(const Dims& sizes, bool align_corners) {
  std::size_t axes = sizes.size();
  std::int64_t places = *Shape(sizes).volume();
  std::vector<double> out;
  for (std::int64_t p = 0; p < places; ++p) {
    std::int64_t rest = p;
    for (std::size_t i = axes; i-- > 0; rest /= sizes[i]) {
      auto at = static_cast<double>(rest % sizes[i]), size = static_cast<double>(sizes[i]);
      // One element lies in the middle.
      out.push_back(!align_corners ? (2 * at + 1) / size - 1 : sizes[i] == 1 ? 0 : 2 * at / (size - 1) - 1);
    }
    out.push_back(1);
  }
  return out;
}

Result<void> import_affine_grid(NodeImport& n) {
  BUDA_ASSIGN(auto theta, n.type(0));
  BUDA_ASSIGN(Dims size, n.known_integers(1, "size"));
  auto axes = static_cast<std::int64_t>(size.size()) - 2;
  if (axes < 2 || axes > 3 || theta.shape != Shape{size[0], axes, axes + 1})
    return n.refuse(cat("its matrices are ", theta.shape.text(), " and its size ", list_text(size),
                        "; [n, 2, 3] and [n, c, h, w], or [n, 3, 4] and [n, c, d, h, w], are needed"));
  Dims sizes(size.begin() + 2, size.end());
  if (std::any_of(sizes.begin(), sizes.end(), [](std::int64_t s) { return s < 1; }) ||
      Shape(sizes).volume().value_or(kLargestGrid + 1) > kLargestGrid)
    return n.refuse(cat("its size ", list_text(size), " is impossible"));
  Shape rows{*Shape(sizes).volume(), axes + 1}, result{size[0]};
  for (auto s : sizes) result.push_back(s);
  result.push_back(axes);
  auto matrices = n.input(0);
  auto base = n.step("base").constant(Tensor(rows, homogeneous_grid(sizes, n.integer("align_corners", 0) != 0)).cast(theta.dtype));
  auto columns = n.step("columns").transpose(matrices, {0, 2, 1});
  auto moved = n.step("moved").matmul(base, columns);
  n.output(n.result().reshape(moved, result));
  return success();
}

// ---- DeformConv
//
// Every tap of every window looks at a place of its own: its regular place plus an offset. The values at these places are sampled, one map
// for each tap, and multiplied with the weights:
//
//   grid = offsets * 2 / size + regular places           [n * offset groups, taps * windows, …, axes]
//   taps = grid_sample(x, grid) * mask                   [n, groups, channels of a group * taps, windows]
//   y    = weights [groups, outputs of a group, channels of a group * taps] times taps, plus bias

struct DeformShape {
  WindowArguments window;
  std::int64_t samples = 0, channels = 0, outputs = 0, groups = 1, offset_groups = 1, taps = 1, windows = 1;
  Dims sizes, result;  // along the spatial axes

  std::size_t axes() const { return sizes.size(); }
};

Result<DeformShape> deform_shape(const NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Shape weights, n.shape(1));
  BUDA_ASSIGN(Shape offset, n.shape(2));
  DeformShape s;
  BUDA_ASSIGN(s.window, window_arguments(n, x, weights));
  s.samples = x[0];
  s.channels = x[1];
  s.outputs = weights[0];
  s.groups = n.integer("group", 1);
  s.offset_groups = n.integer("offset_group", 1);
  if (s.groups < 1 || s.offset_groups < 1 || s.channels % s.groups != 0 || s.outputs % s.groups != 0 || s.channels % s.offset_groups != 0 ||
      weights[1] != s.channels / s.groups)
    return n.refuse(cat("its input ", x.text(), " and its weights ", weights.text(), " do not fit ", s.groups, " groups and ",
                        s.offset_groups, " groups of offsets"));
  s.sizes.assign(x.begin() + 2, x.end());
  BUDA_ASSIGN(s.result, frontend::window_counts(n, s.sizes, s.window));
  s.taps = Shape(s.window.kernel).volume().value_or(0);
  s.windows = Shape(s.result).volume().value_or(0);
  Shape expected{s.samples, s.offset_groups * s.taps * static_cast<std::int64_t>(s.axes())};
  for (auto size : s.result) expected.push_back(size);
  if (Shape{s.taps, s.windows}.volume().value_or(kLargestGrid + 1) > kLargestGrid)
    return n.refuse(cat("its ", s.taps, " taps of ", s.windows, " windows are more than are supported"));
  if (offset != expected || expected.volume().value_or(0) == 0)
    return n.refuse(cat("its offsets are ", offset.text(), "; ", expected.text(), " is needed"));
  return s;
}

// Where tap t of window w looks without an offset, for each t and then each w, the last axis first: as coordinates of grid_sample, of
// which -1 and 1 are the outer edges of the map.
std::vector<double> regular_places(const DeformShape& s) {
  std::vector<double> out(static_cast<std::size_t>(s.taps * s.windows) * s.axes());
  std::size_t at = 0;
  for (std::int64_t tap = 0; tap < s.taps; ++tap)
    for (std::int64_t window = 0; window < s.windows; ++window) {
      std::int64_t t = tap, w = window;
      for (std::size_t i = s.axes(); i-- > 0; t /= s.window.kernel[i], w /= s.result[i]) {
        std::int64_t place = w % s.result[i] * s.window.stride[i] - s.window.padding[i] + t % s.window.kernel[i] * s.window.dilation[i];
        out[at++] = static_cast<double>(2 * place + 1) / static_cast<double>(s.sizes[i]) - 1;
      }
    }
  return out;
}

Ref sampling_grid(NodeImport& n, const DeformShape& s) {
  auto axes = static_cast<std::int64_t>(s.axes());
  Ref offset = n.cast(n.input(2), DType::f32, "offsets");
  Ref by_tap = n.step("offsets.by_tap").reshape(offset, Shape{s.samples * s.offset_groups, s.taps, axes, s.windows});
  Ref places = n.step("offsets.by_place").transpose(by_tap, {0, 1, 3, 2});
  Ref backward = n.step("offsets.backward")
                     .op("slice", {places}, {{"dims", Dims{3}}, {"starts", Dims{-1}}, {"stops", Dims{-axes - 1}}, {"steps", Dims{-1}}});
  std::vector<double> factors;
  for (std::size_t i = s.axes(); i-- > 0;) factors.push_back(2 / static_cast<double>(s.sizes[i]));
  Ref factor = n.step("offsets.factor").constant(Tensor(Shape{axes}, std::move(factors)).cast(DType::f32));
  Ref regular = n.step("places").constant(Tensor(Shape{s.taps, s.windows, axes}, regular_places(s)).cast(DType::f32));
  Ref scaled = n.step("offsets.scaled").multiply(backward, factor);
  Ref moved = n.step("grid.by_tap").add(scaled, regular);
  Shape grid{s.samples * s.offset_groups, s.taps * s.windows};
  for (std::size_t i = 1; i < s.axes(); ++i) grid.push_back(1);
  grid.push_back(axes);
  return n.step("grid").reshape(moved, grid);
}

Result<void> import_deform_conv(NodeImport& n) {
  BUDA_ASSIGN(DeformShape s, deform_shape(n));
  Shape maps{s.samples * s.offset_groups, s.channels / s.offset_groups}, mask{s.samples * s.offset_groups, 1, s.taps, s.windows};
  for (auto size : s.sizes) maps.push_back(size);
  Ref grid = sampling_grid(n, s);
  Ref by_group = n.step("maps").reshape(n.input(0), maps);
  Ref taps = n.step("sampled").op("grid_sample", {by_group, grid});
  taps = n.step("taps").reshape(taps, Shape{maps[0], maps[1], s.taps, s.windows});
  if (n.has_input(4)) {
    BUDA_ASSIGN(Shape given, n.shape(4));
    if (given.volume() != mask.volume())
      return n.refuse(cat("its mask is ", given.text(), "; one number for each tap of each window is needed"));
    Ref factors = n.step("mask").reshape(n.input(4), mask);
    taps = n.step("masked").multiply(taps, factors);
  }
  std::int64_t terms = s.channels / s.groups * s.taps;
  Ref columns = n.step("columns").reshape(taps, Shape{s.samples, s.groups, terms, s.windows});
  Ref rows = n.step("rows").reshape(n.input(1), Shape{s.groups, s.outputs / s.groups, terms});
  Ref y = n.step("product").matmul(rows, columns);
  Shape result{s.samples, s.outputs}, bias{s.outputs};
  for (auto size : s.result) {
    result.push_back(size);
    bias.push_back(1);
  }
  if (!n.has_input(3)) {
    n.output(n.result().reshape(y, result));
    return success();
  }
  y = n.step("channels").reshape(y, result);
  Ref column = n.step("bias").reshape(n.input(3), bias);
  n.output(n.result().add(y, column));
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

constexpr OpImporter kSamplingOps[] = {
    {"AffineGrid", 20, import_affine_grid}, {"DeformConv", 19, import_deform_conv}, {"GridSample", 16, import_grid_sample},
    {"MaxRoiPool", 1, import_max_roi_pool}, {"RoiAlign", 10, import_roi_align},
};

}  // namespace

std::span<const OpImporter> sampling_ops() { return kSamplingOps; }

}  // namespace buda::onnx_frontend
