// SPDX-License-Identifier: Apache-2.0
// roi_align: the mean of bilinear samples in each bin of regions [regions, 4] of maps x [n, c, h, w].
//
//   weights of rows A [regions, 1, bins, h] and of columns B [regions, 1, w, bins]: the mean over a bin's samples of max(0, 1 - |t - j|),
//   t being moved inside, and 0 more than one element beyond a border
//   y = A × (maps × B)
//
// Where there are several samples, maps are those that `batch` names. A number of samples that depends on the region's size
// (sampling_ratio 0) and maxima are left alone.
#include <buda/graph/graph.hpp>

#include "rules.hpp"

namespace buda::sample {
namespace {

using namespace plugin;

constexpr std::int64_t kMaxRoiWeights = std::int64_t{1} << 22;

struct RoiAxis {
  std::int64_t size, bins, samples;
  double scale;
  bool half_pixel;
};

// Of elements for bins, [regions, 1, bins, size], from where the regions begin and end [regions, 1, 1, 1].
Term weights(Rewrite& r, const RoiAxis& axis, const Term& begin, const Term& end) {
  double shift = axis.half_pixel ? 0.5 : 0;
  Term first = begin * axis.scale - shift;
  Term length = end * axis.scale - shift - first;
  if (!axis.half_pixel) length = maximum(length, r.number(1));
  std::int64_t count = axis.bins * axis.samples;
  // Samples in bins, and the matrix that takes the mean of those of one bin.
  std::vector<float> within, mean(static_cast<std::size_t>(axis.bins * count), 0.0f);
  for (std::int64_t i = 0; i < count; ++i) {
    within.push_back(static_cast<float>((static_cast<double>(i) + 0.5) / static_cast<double>(count)));
    mean[static_cast<std::size_t>(i / axis.samples * count + i)] = static_cast<float>(1.0 / static_cast<double>(axis.samples));
  }
  Term t = first + length * r.constant(Shape{1, 1, count, 1}, std::move(within));
  auto size = static_cast<double>(axis.size);
  Term before = above(-1, t);
  Term behind = above(t, size);
  Term near = 1 - (before + behind);
  Term inside = clip(t, 0, size - 1);
  Term of_samples = hat(inside - ramp(r, 3, axis.size)) * near;
  return r.op("matmul", {r.constant(Shape{axis.bins, count}, std::move(mean)), of_samples});
}

Term roi_align(Rewrite& r) {
  Term x = r.in(0);
  Shape shape = r.shape(x), result = r.result().shape;
  Term regions = r.reshape(r.in(1), Shape{result[0], 1, 1, 4});
  if (shape[0] > 1) x = r.op("gather", {x, r.raw(2)}, {{"dim", std::int64_t{0}}});
  bool half_pixel = r.text("coordinates") == "half_pixel";
  RoiAxis rows{shape[2], result[2], r.integer("sampling_ratio"), r.real("spatial_scale"), half_pixel}, columns = rows;
  columns.size = shape[3];
  columns.bins = result[3];
  Term left = at(r, regions, 3, 0);
  Term top = at(r, regions, 3, 1);
  Term right = at(r, regions, 3, 2);
  Term bottom = at(r, regions, 3, 3);
  Term of_columns = weights(r, columns, left, right);
  Term of_rows = weights(r, rows, top, bottom);
  Term turned = r.op("transpose", {of_columns}, {{"perm", Dims{0, 1, 3, 2}}});
  Term narrow = r.op("matmul", {x, turned});
  return r.op("matmul", {of_rows, narrow});
}

bool has_samples(const graph::Graph& graph, const graph::Node& n) {
  const Shape &x = graph.type(n.inputs()[0].source)->shape, &y = n.outputs[0].shape;
  auto it = n.attrs.find("sampling_ratio");
  std::int64_t samples = it == n.attrs.end() ? 0 : std::get<std::int64_t>(it->second);
  auto mode = n.attrs.find("mode");
  if (samples < 1 || (mode != n.attrs.end() && std::get<std::string>(mode->second) != "avg")) return false;
  if (x.volume() == 0 || y.volume() == 0 || samples > kMaxRoiWeights) return false;
  return y[2] * samples <= kMaxRoiWeights / x[2] / y[0] && y[3] * samples <= kMaxRoiWeights / x[3] / y[0];
}

}  // namespace

RuleSpec roi_align_rule() {
  return {.name = "roi_align",
          .summary = "products with weights for each row and each column of each region",
          .consumes = {"roi_align"},
          .produces =
              [] {
                auto ops = sample_ops();
                ops.emplace_back("maximum");
                return ops;
              }(),
          .build = roi_align,
          .takes = Takes::anything,
          .matches = has_samples};
}

}  // namespace buda::sample
