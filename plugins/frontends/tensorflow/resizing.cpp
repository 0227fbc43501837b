// SPDX-License-Identifier: Apache-2.0
// Images of other sizes; they have channels last.
#include "node_import.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/resizing.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>

namespace buda::tensorflow_frontend {
namespace {

using Ref = NodeImport::Ref;
using Dims = NodeImport::Dims;

Result<void> resize(NodeImport& n, ops::AttrMap attrs) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Dims size, n.known_integers(1, "size"));
  Ref value = n.input(0);
  BUDA_ASSIGN(Ref y, frontend::resized(n, n.layouts(), value, x, size, std::move(attrs)));
  n.output(y);
  return success();
}

Result<void> import_bilinear(NodeImport& n) {
  return resize(n, frontend::bilinear_attrs(n.flag("align_corners", false), n.flag("half_pixel_centers", false)));
}

Result<void> import_nearest(NodeImport& n) {
  return resize(n, frontend::nearest_attrs(n.flag("align_corners", false), n.flag("half_pixel_centers", false)));
}

// With half_pixel_centers by Keys' cubic, in which neighbours outside of the image do not count.
Result<void> import_bicubic(NodeImport& n) {
  const bool half = n.flag("half_pixel_centers", false);
  const std::string coordinates = n.flag("align_corners", false) ? "align_corners" : half ? "half_pixel" : "asymmetric";
  return resize(n, {{"method", std::string("cubic")},
                    {"coordinates", coordinates},
                    {"cubic_coefficient", half ? -0.5 : -0.75},
                    {"exclude_outside", half}});
}

// What a few bytes of the file may ask for: weights of an axis, and samples along one of a crop.
constexpr std::int64_t kMaxWeights = std::int64_t{1} << 26, kMaxSamples = 1 << 16;

// [to, from]: how much of each element lies in what becomes one element of the result.
Tensor area_weights(std::int64_t from, std::int64_t to, bool corners) {
  const double scale =
      corners && to > 1 ? static_cast<double>(from - 1) / static_cast<double>(to - 1) : static_cast<double>(from) / static_cast<double>(to);
  std::vector<float> weights(static_cast<std::size_t>(to * from));
  for (std::int64_t row = 0; row < to; ++row) {
    const double begin = static_cast<double>(row) * scale, end = begin + scale;
    for (auto at = static_cast<std::int64_t>(begin); at < static_cast<std::int64_t>(std::ceil(end)); ++at) {
      const double part = std::min(end, static_cast<double>(at + 1)) - std::max(begin, static_cast<double>(at));
      weights[static_cast<std::size_t>(row * from + std::min(at, from - 1))] += static_cast<float>(part / scale);
    }
  }
  return Tensor(Shape{to, from}, std::move(weights));
}

struct Sizes {
  Shape from;  // [samples, rows, columns, channels]
  Dims to;     // rows and columns
};

Result<Sizes> sizes_of(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Dims size, n.known_integers(1, "size"));
  if (x.rank() != 4 || size.size() != 2 || size[0] < 1 || size[1] < 1)
    return n.refuse(
        cat("its input is ", x.text(), " and its size ", list_text(size), "; [samples, rows, columns, channels] and two sizes are needed"));
  return Sizes{std::move(x), std::move(size)};
}

// Means of areas, with parts of elements: along rows, then along columns.
Result<void> import_area(NodeImport& n) {
  BUDA_ASSIGN(Sizes sizes, sizes_of(n));
  const Shape& x = sizes.from;
  const Dims& size = sizes.to;
  for (std::size_t i = 0; i < 2; ++i)
    if (size[i] > kMaxWeights / std::max<std::int64_t>(x[i + 1], 1))
      return n.refuse(cat("its size ", list_text(size), " is too large for ", x.text()));
  const bool corners = n.flag("align_corners", false);
  Ref image = n.layouts().channels_first(n.step("first"), n.input(0));
  image = n.cast(image, DType::f32, "number");
  Ref rows = n.step("rows.weights").constant(area_weights(x[1], size[0], corners));
  Ref columns = n.step("columns.weights").constant(area_weights(x[2], size[1], corners));
  columns = n.step("columns.turned").transpose(columns, {1, 0});
  Ref along = n.step("columns").matmul(image, columns);
  Ref y = n.result().matmul(rows, along);
  n.output(n.layouts().channels_last(n.step("last"), y));
  return success();
}

// Along one axis the coordinates of `count` samples of each box, where -1 and 1 are the first and the last element: [boxes, count]. A box
// begins and ends at columns `first` and `first` + 2; a single sample lies in its middle.
Ref samples_of(NodeImport& n, Ref boxes, std::int64_t first, std::int64_t count) {
  std::vector<float> begin, end;
  for (std::int64_t i = 0; i < count; ++i) {
    const double way = count > 1 ? static_cast<double>(i) / static_cast<double>(count - 1) : 0.5;
    begin.push_back(static_cast<float>(2 * (1 - way)));
    end.push_back(static_cast<float>(2 * way));
  }
  Ref from = n.step("begin").slice(boxes, 1, first, first + 1), to = n.step("end").slice(boxes, 1, first + 2, first + 3);
  Ref of_from = n.step("begin.weights").constant(Tensor(Shape{1, count}, begin)),
      of_to = n.step("end.weights").constant(Tensor(Shape{1, count}, end));
  Ref a = n.step("from").multiply(from, of_from), b = n.step("to").multiply(to, of_to);
  Ref sum = n.step("sum").add(a, b);
  Ref one = n.step("one").constant(1.0F);
  return n.step("places").subtract(sum, one);
}

// Inputs: images, boxes [boxes, 4] of y, x, y, x from 0 to 1, the image of each box, and the size of all results. Samples outside of an
// image are extrapolation_value.
Result<void> import_crop_and_resize(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Shape boxes, n.shape(1));
  BUDA_ASSIGN(Dims size, n.known_integers(3, "size of the crops"));
  if (x.rank() != 4 || boxes.rank() != 2 || boxes[1] != 4 || size.size() != 2 || size[0] < 1 || size[1] < 1)
    return n.refuse(cat("its images are ", x.text(), ", its boxes ", boxes.text(), " and its size ", list_text(size),
                        "; [samples, rows, columns, channels], [boxes, 4] and two sizes are needed"));
  if (size[0] > kMaxSamples || size[1] > kMaxSamples)
    return n.refuse(cat("its size ", list_text(size), " has more than ", kMaxSamples, " rows or columns"));
  const std::string method = n.text("method", "bilinear");
  if (method != "bilinear" && method != "nearest") return n.refuse(cat("its method is '", method, "'; bilinear and nearest are read"));
  Ref all = n.layouts().channels_first(n.step("first"), n.input(0)), corners = n.input(1), which = n.input(2);
  all = n.cast(all, DType::f32, "number");
  Ref images = n.step("images").op("gather", {all, which}, {{"dim", std::int64_t{0}}});
  const Shape grid{boxes[0], size[0], size[1], 1};
  Ref ys = n.step("rows").reshape(samples_of(n, corners, 0, size[0]), Shape{boxes[0], size[0], 1, 1});
  Ref xs = n.step("columns").reshape(samples_of(n, corners, 1, size[1]), Shape{boxes[0], 1, size[1], 1});
  ys = n.step("rows.all").broadcast(ys, grid);
  xs = n.step("columns.all").broadcast(xs, grid);
  Ref places = n.step("grid").concatenate({xs, ys}, 3);
  Ref sampled = n.step("samples").op("grid_sample", {images, places},
                                     {{"mode", method}, {"padding", std::string("border")}, {"align_corners", true}});
  // An axis of one element has no outside.
  Ref far = n.step("far").abs(places);
  if (x[1] == 1 || x[2] == 1) {
    Ref counts = n.step("axes").constant(Tensor(Shape{2}, std::vector<float>{x[2] == 1 ? 0.0F : 1.0F, x[1] == 1 ? 0.0F : 1.0F}));
    far = n.step("far.counted").multiply(far, counts);
  }
  far = n.step("farthest").reduce_max(far, {3}, false);
  far = n.step("farthest.image").unsqueeze(far, {1});
  Ref border = n.step("border").constant(1.0F),
      value = n.step("outside.value").constant(static_cast<float>(n.real("extrapolation_value", 0)));
  Ref outside = n.step("outside").op("greater", {far, border});
  Ref y = n.result().op("where", {outside, value, sampled});
  n.output(n.layouts().channels_last(n.step("last"), y));
  return success();
}

constexpr OpImporter kResizingOps[] = {
    {"CropAndResize", import_crop_and_resize, {}, "size known"}, {"ResizeArea", import_area, {}, "size known"},
    {"ResizeBicubic", import_bicubic, {}, "size known"},         {"ResizeBilinear", import_bilinear, {}, "size known"},
    {"ResizeNearestNeighbor", import_nearest, {}, "size known"},
};

}  // namespace

std::span<const OpImporter> resizing_ops() { return kResizingOps; }

}  // namespace buda::tensorflow_frontend
