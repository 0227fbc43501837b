// SPDX-License-Identifier: Apache-2.0
// Sampling of maps [samples, channels, sizes of one or more axes] at places that are computed: grid_sample.
//
// A place has a coordinate for each axis, the last axis first, -1 and 1 being the borders of a map. Interpolation and the treatment of
// places outside are those of torch.nn.functional.grid_sample, which ONNX's GridSample follows.
#include <buda/base/parallel.hpp>
#include <buda/base/text.hpp>
#include <buda/ops/elements/arithmetic.hpp>
#include <buda/ops/elements/buffer.hpp>
#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/families.hpp>
#include <buda/ops/table/rules.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

namespace buda::ops {
namespace {

constexpr std::size_t kMaxAxes = 3;

Result<std::vector<ValueType>> infer_grid_sample(const InferCall& call) {
  BUDA_TRY(common_dtype(call.inputs.first(1), Accepts::floats));
  BUDA_TRY(common_dtype(call.inputs.last(1), Accepts::floats));
  const Shape &x = call.inputs[0].shape, &grid = call.inputs[1].shape;
  std::size_t axes = x.rank() - std::min<std::size_t>(x.rank(), 2);
  if (axes < 1 || axes > kMaxAxes || grid.rank() != x.rank() || grid[0] != x[0] || grid[grid.rank() - 1] != static_cast<std::int64_t>(axes))
    return shape_error(cat("x is ", x.text(), " and the grid ", grid.text(),
                           "; [n, c, h, w] and [n, rows, columns, 2] are needed, or the same with one or three axes"));
  Shape y{x[0], x[1]};
  for (std::size_t i = 0; i < axes; ++i) {
    if (x[i + 2] == 0) return shape_error(cat("there is nothing to sample in ", x.text()));
    y.push_back(grid[i + 1]);
  }
  return one(call.inputs[0].dtype, std::move(y));
}

enum class Outside { zeros, border, reflection };

// One axis of a map.
struct Axis {
  std::int64_t size;
  bool align_corners;
  Outside outside;

  double from_grid(double g) const {
    auto s = static_cast<double>(size);
    return align_corners ? (g + 1) / 2 * (s - 1) : ((g + 1) * s - 1) / 2;
  }
  // Mirrored at the borders, which are the centres of the outermost elements, or their outer edges.
  double reflected(double x) const {
    double low = align_corners ? 0 : -0.5, span = static_cast<double>(align_corners ? size - 1 : size);
    if (span == 0) return 0;
    double distance = std::abs(x - low), rest = std::fmod(distance, span);
    bool odd = std::fmod(std::floor(distance / span), 2) != 0;
    return (odd ? span - rest : rest) + low;
  }
  // A coordinate moved inside, where that is what happens with those outside.
  double moved(double x) const {
    if (outside == Outside::zeros) return x;
    if (outside == Outside::reflection) x = reflected(x);
    return std::clamp(x, 0.0, static_cast<double>(size - 1));
  }
  // The element at a whole coordinate; -1: none. A coordinate that is no number is nowhere.
  std::int64_t element(double x) const {
    double at = moved(x);
    return at >= 0 && at <= static_cast<double>(size - 1) ? static_cast<std::int64_t>(at) : -1;
  }
};

// Up to four neighbours along an axis.
struct Neighbours {
  std::size_t count = 1;
  std::array<std::int64_t, 4> at{};
  std::array<double, 4> weights{};
};

Neighbours neighbours(const Axis& axis, double grid, const std::string& mode) {
  double x = axis.from_grid(grid);
  Neighbours n;
  if (mode == "nearest") {
    n.at[0] = axis.element(std::nearbyint(axis.moved(x)));
    n.weights[0] = 1;
    return n;
  }
  if (mode == "bilinear") {
    x = axis.moved(x);
    double floor = std::floor(x);
    n.count = 2;
    n.at = {axis.element(floor), axis.element(floor + 1)};
    n.weights = {floor + 1 - x, x - floor};
    // The neighbour beyond a border that places are moved inside of has no weight.
    if (n.weights[1] == 0) n.at[1] = -1;
    return n;
  }
  constexpr double a = -0.75;  // PyTorch's coefficient of the cubic convolution
  double floor = std::floor(x), t = x - floor;
  n.count = 4;
  n.weights = {((a * (t + 1) - 5 * a) * (t + 1) + 8 * a) * (t + 1) - 4 * a, ((a + 2) * t - (a + 3)) * t * t + 1,
               ((a + 2) * (1 - t) - (a + 3)) * (1 - t) * (1 - t) + 1, ((a * (2 - t) - 5 * a) * (2 - t) + 8 * a) * (2 - t) - 4 * a};
  for (std::size_t k = 0; k < 4; ++k) n.at[k] = axis.element(floor - 1 + static_cast<double>(k));
  return n;
}

// The sum over all combinations of neighbours along axes `from`, `from` + 1, …, the map's elements being those at `offset`.
template <class T>
double interpolated(const T* map, std::span<const Axis> axes, std::span<const Neighbours> all, std::int64_t offset, double weight) {
  if (axes.empty()) return weight * static_cast<double>(map[offset]);
  const Neighbours& n = all.front();
  double sum = 0;
  for (std::size_t i = 0; i < n.count; ++i)
    if (n.at[i] >= 0)
      sum += interpolated(map, axes.subspan(1), all.subspan(1), offset * axes.front().size + n.at[i], weight * n.weights[i]);
  return sum;
}

template <class T>
Result<Tensor> sampled(const EvaluateCall& call) {
  Tensor x = call.inputs[0].cast(kDTypeOf<T>), grid = call.inputs[1].cast(DType::f64);
  BUDA_ASSIGN(Buffer out, Buffer::make(kDTypeOf<T>, call.outputs[0].shape));
  const Shape &s = x.shape(), &result = call.outputs[0].shape;
  const std::string &mode = call.attrs.text("mode"), &padding = call.attrs.text("padding");
  Outside outside = padding == "zeros" ? Outside::zeros : padding == "border" ? Outside::border : Outside::reflection;
  std::vector<Axis> axes;
  std::int64_t places = 1, size = 1;
  for (std::size_t i = 2; i < s.rank(); ++i) {
    axes.push_back({s[i], call.attrs.boolean("align_corners"), outside});
    places *= result[i];
    size *= s[i];
  }
  const T* maps = x.as<T>().data();
  T* y = out.as<T>().data();
  parallel_for(call.threads, static_cast<std::size_t>(s[0] * places), [&](std::size_t i) {
    std::int64_t sample = static_cast<std::int64_t>(i) / places, place = static_cast<std::int64_t>(i) % places;
    const double* at = grid.as<double>().data() + axes.size() * i;
    std::array<Neighbours, kMaxAxes> all;
    for (std::size_t a = 0; a < axes.size(); ++a) all[a] = neighbours(axes[a], at[axes.size() - 1 - a], mode);
    for (std::int64_t c = 0; c < s[1]; ++c) {
      std::int64_t map = sample * s[1] + c;
      y[map * places + place] =
          static_cast<T>(interpolated(maps + map * size, std::span<const Axis>(axes), std::span<const Neighbours>(all), 0, 1));
    }
  });
  return std::move(out).take().cast(call.outputs[0].dtype);
}

Result<std::vector<Tensor>> evaluate_grid_sample(const EvaluateCall& call) {
  return visit_compute<false>(compute_dtype(call.outputs[0].dtype),
                              [&](auto tag) { return one_tensor(sampled<typename decltype(tag)::type>(call)); });
}

double grid_sample_flops(std::span<const ValueType>, std::span<const ValueType> outputs, const Attrs& attrs) {
  const std::string& mode = attrs.text("mode");
  double neighbours = mode == "nearest" ? 0 : mode == "bilinear" ? 2 : 4;
  return volume(outputs[0].shape) * 3 * std::pow(neighbours, static_cast<double>(outputs[0].shape.rank()) - 2);
}

}  // namespace

std::vector<OpDef> sample_ops() {
  return {
      {.name = "grid_sample",
       .level = Level::tensor,
       .family = "sample",
       .summary =
           "x [n, c, h, w] at the places (x, y) of a grid [n, rows, columns, 2], where -1 and 1 are the borders; or with one or three "
           "axes instead of two",
       .inputs = {"x", "grid"},
       .least_inputs = 2,
       .most_inputs = 2,
       .attrs = {{"mode", AttrType::text, std::string("bilinear"), "interpolation", {"nearest", "bilinear", "bicubic"}},
                 {"padding", AttrType::text, std::string("zeros"), "what lies outside", {"zeros", "border", "reflection"}},
                 {"align_corners", AttrType::boolean, false, "-1 and 1 are the centres of the outermost elements, not their edges", {}}},
       .infer = infer_grid_sample,
       .evaluate = evaluate_grid_sample,
       .flops = grid_sample_flops}};
}

}  // namespace buda::ops
