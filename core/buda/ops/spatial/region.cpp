// SPDX-License-Identifier: Apache-2.0
// Regions of maps, brought to one size: roi_align and max_roi_pool of object detectors.
//
// roi_align (He and others, Mask R-CNN, 2017) takes the mean (or maximum) of bilinear samples in each bin of a region, without rounding
// its borders; max_roi_pool (Girshick, Fast R-CNN, 2015) rounds them and takes the maximum of whole elements.
#include <buda/base/parallel.hpp>
#include <buda/base/text.hpp>
#include <buda/ops/elements/arithmetic.hpp>
#include <buda/ops/elements/buffer.hpp>
#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/families.hpp>
#include <buda/ops/table/rules.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

namespace buda::ops {
namespace {

Result<Shape> regions_shape(const InferCall& call, std::int64_t row) {
  const Shape &x = call.inputs[0].shape, &rois = call.inputs[1].shape;
  BUDA_TRY(common_dtype(call.inputs.first(2), Accepts::floats));
  const auto& pooled = call.attrs.integers("pooled");
  if (x.rank() != 4 || rois.rank() != 2 || rois[1] != row)
    return shape_error(cat("x is ", x.text(), " and the regions ", rois.text(), "; [n, c, h, w] and [regions, ", row, "] are needed"));
  if (pooled.size() != 2 || pooled[0] < 1 || pooled[1] < 1) return shape_error(cat("'pooled' ", list_text(pooled), " needs two sizes"));
  return Shape{rois[0], x[1], pooled[0], pooled[1]};
}

Result<std::vector<ValueType>> infer_roi_align(const InferCall& call) {
  BUDA_ASSIGN(Shape shape, regions_shape(call, 4));
  const ValueType& batch = call.inputs[2];
  if (batch.dtype != DType::i64 || batch.shape != Shape{shape[0]})
    return shape_error(cat("the batch indices are ", batch.text(), "; I64 [", shape[0], "] is needed"));
  return one(call.inputs[0].dtype, std::move(shape));
}

Result<std::vector<ValueType>> infer_max_roi_pool(const InferCall& call) {
  BUDA_ASSIGN(Shape shape, regions_shape(call, 5));
  return one(call.inputs[0].dtype, std::move(shape));
}

Diagnostic no_such_sample(std::size_t region, double sample, std::int64_t samples) {
  return shape_error(cat("region ", region, " is one of sample ", sample, "; there are ", samples));
}

// ---- roi_align

constexpr double kMaxSamples = 1 << 20;  // in a bin; a region that needs more is far larger than its map

struct Bins {
  double y = 0, x = 0;                 // where the region begins
  double height = 0, width = 0;        // of a bin
  std::int64_t rows = 0, columns = 0;  // samples in a bin
};

Bins bins_of(const double* roi, const Shape& pooled, const Attrs& attrs) {
  bool half_pixel = attrs.text("coordinates") == "half_pixel";
  double scale = attrs.real("spatial_scale"), shift = half_pixel ? 0.5 : 0;
  Bins b{roi[1] * scale - shift, roi[0] * scale - shift, 0, 0, 0, 0};
  double h = roi[3] * scale - shift - b.y, w = roi[2] * scale - shift - b.x;
  if (!half_pixel) {
    h = std::max(h, 1.0);
    w = std::max(w, 1.0);
  }
  b.height = h / static_cast<double>(pooled[2]);
  b.width = w / static_cast<double>(pooled[3]);
  auto samples = [&](double size) {
    auto given = static_cast<double>(attrs.integer("sampling_ratio"));
    return given > 0 ? given : std::max(std::ceil(size), 0.0);
  };
  double rows = samples(b.height), columns = samples(b.width);
  if (!(rows * columns <= kMaxSamples)) return b;  // also where a coordinate is NaN
  b.rows = std::max<std::int64_t>(static_cast<std::int64_t>(rows), 0);
  b.columns = std::max<std::int64_t>(static_cast<std::int64_t>(columns), 0);
  if (b.rows == 0 || b.columns == 0) b.rows = b.columns = -1;  // an empty region
  return b;
}

template <class T>
double bilinear(const T* map, std::int64_t rows, std::int64_t columns, double y, double x) {
  if (!(y >= -1 && y <= static_cast<double>(rows) && x >= -1 && x <= static_cast<double>(columns))) return 0;
  y = std::clamp(y, 0.0, static_cast<double>(rows - 1));
  x = std::clamp(x, 0.0, static_cast<double>(columns - 1));
  auto y0 = static_cast<std::int64_t>(y), x0 = static_cast<std::int64_t>(x);
  std::int64_t y1 = std::min(y0 + 1, rows - 1), x1 = std::min(x0 + 1, columns - 1);
  double ty = y - static_cast<double>(y0), tx = x - static_cast<double>(x0);
  auto at = [&](std::int64_t i, std::int64_t j) { return static_cast<double>(map[i * columns + j]); };
  return (1 - ty) * ((1 - tx) * at(y0, x0) + tx * at(y0, x1)) + ty * ((1 - tx) * at(y1, x0) + tx * at(y1, x1));
}

template <class T>
double bin_value(const T* map, const Shape& x, const Bins& b, std::int64_t row, std::int64_t column, bool maximum) {
  if (b.rows < 0) return 0;
  double sum = 0, most = -std::numeric_limits<double>::infinity();
  for (std::int64_t i = 0; i < b.rows; ++i)
    for (std::int64_t j = 0; j < b.columns; ++j) {
      double at_y = b.y + b.height * (static_cast<double>(row) + (static_cast<double>(i) + 0.5) / static_cast<double>(b.rows));
      double at_x = b.x + b.width * (static_cast<double>(column) + (static_cast<double>(j) + 0.5) / static_cast<double>(b.columns));
      double v = bilinear(map, x[2], x[3], at_y, at_x);
      sum += v;
      most = larger(most, v);
    }
  return maximum ? most : sum / static_cast<double>(b.rows * b.columns);
}

template <class T>
Result<Tensor> roi_aligned(const EvaluateCall& call) {
  Tensor x = call.inputs[0].cast(kDTypeOf<T>), rois = call.inputs[1].cast(DType::f64);
  const Shape &in = x.shape(), &shape = call.outputs[0].shape;
  auto batch = call.inputs[2].as<std::int64_t>();
  BUDA_ASSIGN(Buffer out, Buffer::make(kDTypeOf<T>, shape));
  std::vector<Bins> bins;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (batch[i] < 0 || batch[i] >= in[0]) return no_such_sample(i, static_cast<double>(batch[i]), in[0]);
    bins.push_back(bins_of(rois.as<double>().data() + 4 * i, shape, call.attrs));
    if (bins.back().rows == 0) return shape_error(cat("region ", i, " needs more than ", kMaxSamples, " samples for a bin"));
  }
  bool maximum = call.attrs.text("mode") == "max";
  const T* maps = x.as<T>().data();
  T* y = out.as<T>().data();
  parallel_for(call.threads, x.size() == 0 ? 0 : bins.size(), [&](std::size_t i) {
    T* to = y + static_cast<std::int64_t>(i) * shape[1] * shape[2] * shape[3];
    for (std::int64_t c = 0; c < shape[1]; ++c)
      for (std::int64_t r = 0; r < shape[2]; ++r)
        for (std::int64_t k = 0; k < shape[3]; ++k)
          *to++ = static_cast<T>(bin_value(maps + (batch[i] * in[1] + c) * in[2] * in[3], in, bins[i], r, k, maximum));
  });
  if (x.size() == 0) std::fill(out.as<T>().begin(), out.as<T>().end(), T{0});
  return std::move(out).take().cast(call.outputs[0].dtype);
}

Result<std::vector<Tensor>> evaluate_roi_align(const EvaluateCall& call) {
  return visit_compute<false>(compute_dtype(call.outputs[0].dtype),
                              [&](auto tag) { return one_tensor(roi_aligned<typename decltype(tag)::type>(call)); });
}

// ---- max_roi_pool

// Whole elements [begin, end) of bin `at` of `bins` along an axis, for a region that begins and ends at the rounded coordinates.
std::pair<std::int64_t, std::int64_t> bin_range(double begin, double end, std::int64_t at, std::int64_t bins, std::int64_t size) {
  double bin = std::max(end - begin + 1, 1.0) / static_cast<double>(bins);
  auto limit = [&](double v) { return v == v ? static_cast<std::int64_t>(std::clamp(v, 0.0, static_cast<double>(size))) : 0; };
  return {limit(std::floor(static_cast<double>(at) * bin) + begin), limit(std::ceil(static_cast<double>(at + 1) * bin) + begin)};
}

template <class T>
T largest_in(const T* map, std::int64_t columns, std::pair<std::int64_t, std::int64_t> rows, std::pair<std::int64_t, std::int64_t> cols) {
  if (rows.first >= rows.second || cols.first >= cols.second) return T{0};
  T most = -std::numeric_limits<T>::infinity();
  for (std::int64_t r = rows.first; r < rows.second; ++r)
    for (std::int64_t c = cols.first; c < cols.second; ++c) most = larger(most, map[r * columns + c]);
  return most;
}

template <class T>
Result<Tensor> roi_pooled(const EvaluateCall& call) {
  Tensor x = call.inputs[0].cast(kDTypeOf<T>), rois = call.inputs[1].cast(DType::f64);
  const Shape &in = x.shape(), &shape = call.outputs[0].shape;
  BUDA_ASSIGN(Buffer out, Buffer::make(kDTypeOf<T>, shape));
  double scale = call.attrs.real("spatial_scale");
  const double* regions = rois.as<double>().data();
  for (std::size_t i = 0; i < static_cast<std::size_t>(shape[0]); ++i)
    if (double sample = regions[5 * i]; !(sample >= 0 && sample < static_cast<double>(in[0]))) return no_such_sample(i, sample, in[0]);
  const T* maps = x.as<T>().data();
  T* y = out.as<T>().data();
  parallel_for(call.threads, static_cast<std::size_t>(shape[0]), [&](std::size_t i) {
    const double* roi = regions + 5 * i;
    std::array<double, 4> box{};
    for (std::size_t k = 0; k < 4; ++k) box[k] = std::round(roi[k + 1] * scale);
    T* to = y + static_cast<std::int64_t>(i) * shape[1] * shape[2] * shape[3];
    for (std::int64_t c = 0; c < shape[1]; ++c)
      for (std::int64_t r = 0; r < shape[2]; ++r)
        for (std::int64_t k = 0; k < shape[3]; ++k)
          *to++ = largest_in(maps + (static_cast<std::int64_t>(roi[0]) * in[1] + c) * in[2] * in[3], in[3],
                             bin_range(box[1], box[3], r, shape[2], in[2]), bin_range(box[0], box[2], k, shape[3], in[3]));
  });
  return std::move(out).take().cast(call.outputs[0].dtype);
}

Result<std::vector<Tensor>> evaluate_max_roi_pool(const EvaluateCall& call) {
  return visit_compute<false>(compute_dtype(call.outputs[0].dtype),
                              [&](auto tag) { return one_tensor(roi_pooled<typename decltype(tag)::type>(call)); });
}

// How many elements a bin has depends on the regions; with one sample each this is a lower bound.
double region_flops(std::span<const ValueType>, std::span<const ValueType> outputs, const Attrs&) { return 8 * volume(outputs[0].shape); }

}  // namespace

std::vector<OpDef> region_ops() {
  AttrDef pooled{"pooled", AttrType::integers, std::nullopt, "rows and columns of bins", {}};
  AttrDef scale{"spatial_scale", AttrType::real, 1.0, "factor of the regions' coordinates", {}};
  OpDef align{
      .name = "roi_align",
      .level = Level::tensor,
      .family = "region",
      .summary = "for each region (x1, y1, x2, y2) of the sample that `batch` names: the mean of bilinear samples in each of its bins",
      .inputs = {"x", "regions", "batch"},
      .least_inputs = 3,
      .most_inputs = 3,
      .attrs = {pooled,
                scale,
                {"sampling_ratio", AttrType::integer, std::int64_t{0}, "samples along each side of a bin; 0: one for each element", {}},
                {"mode", AttrType::text, std::string("avg"), "mean or maximum of the samples", {"avg", "max"}},
                {"coordinates",
                 AttrType::text,
                 std::string("half_pixel"),
                 "half_pixel: whole coordinates are edges of elements; output_half_pixel: centres, and no region is smaller than 1",
                 {"half_pixel", "output_half_pixel"}}},
      .infer = infer_roi_align,
      .evaluate = evaluate_roi_align,
      .flops = region_flops};
  OpDef pool{
      .name = "max_roi_pool",
      .level = Level::tensor,
      .family = "region",
      .summary = "for each region (sample, x1, y1, x2, y2), rounded to whole elements: the maximum of each of its bins; 0 of an empty one",
      .inputs = {"x", "regions"},
      .least_inputs = 2,
      .most_inputs = 2,
      .attrs = {pooled, scale},
      .infer = infer_max_roi_pool,
      .evaluate = evaluate_max_roi_pool,
      .flops = region_flops};
  return {std::move(align), std::move(pool)};
}

}  // namespace buda::ops
