// SPDX-License-Identifier: Apache-2.0
// grid_sample: x [n, c, h, w] at places [n, rows, columns, 2].
//
//   places [n, 1, 2, p]  ->  weights of columns A [n, 1, w, p] and of rows B [n, 1, h, p]
//   y = the sum over rows of (x × A) B, as [n, c, 1, p]
//
// Weights of an element j for a coordinate t, by interpolation:
//   nearest    1 where round(t) = j
//   bilinear   max(0, 1 - |t - j|)
//   bicubic    the cubic convolution of |t - j|: two polynomials, each zero where the other one begins
// A place outside finds no element there (zeros), or its coordinate is moved inside first (border, reflection). The four neighbours of a
// bicubic sample are moved each by itself: weights are then computed for elements beyond the borders, too, and a constant matrix adds them
// to those of the elements that they stand for.
//
// Coordinates in fp32: a place in the middle between two elements may find the other one than with more digits.
#include <buda/graph/graph.hpp>

#include "rules.hpp"

#include <algorithm>
#include <cmath>

namespace buda::sample {
namespace {

using namespace plugin;

// Products of a map with weights, and weights, at most.
constexpr std::int64_t kMaxProducts = std::int64_t{1} << 26;
constexpr std::int64_t kMaxWeights = std::int64_t{1} << 22;
constexpr double kCubic = -0.75;

struct Axis {
  std::int64_t size;
  bool align_corners;
  std::string padding;

  // The borders at which coordinates are mirrored.
  double low() const { return align_corners ? 0 : -0.5; }
  double span() const { return static_cast<double>(align_corners ? size - 1 : size); }
};

Term coordinate(const Axis& axis, const Term& grid) {
  auto size = static_cast<double>(axis.size);
  if (axis.align_corners) return (grid + 1) * ((size - 1) / 2);
  return (grid + 1) * (size / 2) - 0.5;
}

// To and fro between the borders.
Term reflected(const Axis& axis, const Term& x) {
  if (axis.span() == 0) return x * 0.0;
  Term distance = abs(x - axis.low());
  Term turns = floor_of(distance * (1 / axis.span()));
  Term rest = distance - turns * axis.span();
  Term is_odd = turns - floor_of(turns * 0.5) * 2;
  Term back = axis.span() - rest * 2;
  return rest + is_odd * back + axis.low();
}

Term moved_inside(const Axis& axis, const Term& x) {
  if (axis.padding == "zeros") return x;
  Term inside = axis.padding == "reflection" ? reflected(axis, x) : x;
  return clip(inside, 0, static_cast<double>(axis.size - 1));
}

Term cubic(const Term& distance) {
  Term d = abs(distance);
  Term near = clip(d, 0, 1);
  Term first = ((kCubic + 2) * near - (kCubic + 3)) * square(near) + 1;
  Term far = clip(d, 1, 2);
  Term second = ((kCubic * far - 5 * kCubic) * far + 8 * kCubic) * far - 4 * kCubic;
  return first + second;
}

// The element that a bicubic neighbour stands for.
std::int64_t element(const Axis& axis, std::int64_t at) {
  if (axis.padding == "reflection" && axis.span() > 0) {
    double distance = std::abs(static_cast<double>(at) - axis.low()), rest = std::fmod(distance, axis.span());
    bool odd = std::fmod(std::floor(distance / axis.span()), 2) != 0;
    at = static_cast<std::int64_t>(std::llround((odd ? axis.span() - rest : rest) + axis.low()));
  }
  return std::clamp<std::int64_t>(at, 0, axis.size - 1);
}

// Bicubic weights where neighbours outside stand for elements inside: [n, 1, size, p].
Term folded_cubic(Rewrite& r, const Axis& axis, const Term& x) {
  // Coordinates further outside mean the same as some in this range.
  double begin = -2, end = static_cast<double>(axis.size) + 1;
  Term within = x;
  if (axis.padding == "reflection" && axis.span() > 0) {
    double period = 2 * axis.span();
    Term turns = floor_of((x - axis.low()) * (1 / period));
    within = x - turns * period;
    begin = axis.low();
    end = begin + period;
  } else {
    within = clip(x, begin, end);
  }
  auto first = static_cast<std::int64_t>(std::floor(begin)) - 1, last = static_cast<std::int64_t>(std::ceil(end)) + 2;
  std::int64_t count = last - first + 1;
  std::vector<float> stands_for(static_cast<std::size_t>(axis.size * count), 0.0f);
  for (std::int64_t i = 0; i < count; ++i) stands_for[static_cast<std::size_t>(element(axis, first + i) * count + i)] = 1;
  Term all = cubic(within - ramp(r, 2, count, static_cast<double>(first)));
  return r.op("matmul", {r.constant(Shape{axis.size, count}, std::move(stands_for)), all});
}

// [n, 1, size, p]: of each element for each place.
Term weights(Rewrite& r, const Axis& axis, const Term& grid) {
  Term x = coordinate(axis, grid);
  const std::string mode = r.text("mode");
  if (mode == "bicubic" && axis.padding != "zeros") return folded_cubic(r, axis, x);
  if (mode == "bicubic") return cubic(x - ramp(r, 2, axis.size));
  Term inside = moved_inside(axis, x);
  if (mode == "bilinear") return hat(inside - ramp(r, 2, axis.size));
  Term nearest = round(inside);
  return 1 - not_zero(nearest - ramp(r, 2, axis.size));
}

Term grid_sample(Rewrite& r) {
  Term x = r.in(0);
  Term grid = r.in(1);
  Shape shape = r.shape(x), result = r.result().shape;
  std::int64_t places = result[2] * result[3];
  Axis rows{shape[2], r.flag("align_corners"), r.text("padding")}, columns = rows;
  columns.size = shape[3];
  Term flat = r.reshape(grid, Shape{shape[0], 1, places, 2});
  Term by_axis = r.op("transpose", {flat}, {{"perm", Dims{0, 1, 3, 2}}});
  Term of_columns = weights(r, columns, at(r, by_axis, 2, 0));
  Term of_rows = weights(r, rows, at(r, by_axis, 2, 1));
  Term blended = r.op("matmul", {x, of_columns});
  return r.reshape(reduce("reduce_sum", blended * of_rows, {2}), result);
}

bool is_small(const graph::Graph& graph, const graph::Node& n) {
  const Shape &x = graph.type(n.inputs()[0].source)->shape, &y = n.outputs[0].shape;
  if (x.rank() != 4 || x.volume() == 0 || y.volume() == 0) return false;
  std::int64_t places = y[2] * y[3];
  return places <= kMaxWeights / std::max(x[2], x[3]) / x[0] && places <= kMaxProducts / (x[0] * x[1] * x[2]);
}

}  // namespace

RuleSpec grid_sample_rule() {
  return {.name = "grid_sample",
          .summary = "products with weights for each row and each column",
          .consumes = {"grid_sample"},
          .produces = sample_ops(),
          .build = grid_sample,
          .matches = is_small};
}

}  // namespace buda::sample
