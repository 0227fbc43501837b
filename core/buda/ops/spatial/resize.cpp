// SPDX-License-Identifier: Apache-2.0
// Resizing by interpolation along each axis.
//
// An element of the result has a coordinate in the input for each axis; its value is a weighted sum of 1 (nearest), 2 (linear) or 4
// (cubic) neighbours along each axis. With antialiasing, an axis that shrinks has its filter stretched by 1 / scale, so that every element
// of the input takes part, and the weights are normalised to a sum of 1. Axes are independent of each other, so they are resized one after
// the other, the last one first. The rules of coordinates and rounding are those of ONNX's Resize, which were collected from the
// frameworks.
#include <buda/base/parallel.hpp>
#include <buda/base/text.hpp>
#include <buda/ops/elements/arithmetic.hpp>
#include <buda/ops/elements/buffer.hpp>
#include <buda/ops/spatial/resize.hpp>
#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/families.hpp>
#include <buda/ops/table/rules.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace buda::ops {
namespace {

struct AxisRule {
  std::int64_t in = 0, out = 0;
  double scale = 1;
  double roi_begin = 0, roi_end = 1;
};

double coordinate(const AxisRule& a, const std::string& mode, std::int64_t o) {
  auto x = static_cast<double>(o), in = static_cast<double>(a.in), out = static_cast<double>(a.out);
  if (mode == "asymmetric") return x / a.scale;
  // The size that the scale makes is not rounded here, in contrast to the result's.
  if (mode == "align_corners") return a.out > 1 ? x * (in - 1) / (a.scale * in - 1) : 0;
  if (mode == "tf_half_pixel_for_nn") return (x + 0.5) / a.scale;
  if (mode == "pytorch_half_pixel" && a.out == 1) return 0;
  // Where the size that the scale makes was rounded, the rest is shared by both ends.
  if (mode == "half_pixel_symmetric") return in / 2 * (1 - out / (a.scale * in)) + (x + 0.5) / a.scale - 0.5;
  if (mode != "tf_crop_and_resize") return (x + 0.5) / a.scale - 0.5;
  if (a.out == 1) return 0.5 * (a.roi_begin + a.roi_end) * (in - 1);
  return a.roi_begin * (in - 1) + x * (a.roi_end - a.roi_begin) * (in - 1) / (out - 1);
}

double rounded(double x, const std::string& mode) {
  if (mode == "floor") return std::floor(x);
  if (mode == "ceil") return std::ceil(x);
  return mode == "round_prefer_ceil" ? std::floor(x + 0.5) : std::ceil(x - 0.5);
}

// The weight of a neighbour at distance d by cubic convolution (R. Keys, 1981); 0 from distance 2 on.
double cubic_weight(double d, double a) {
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

class TapsOf {
 public:
  explicit TapsOf(const Attrs& attrs)
      : method_(attrs.text("method")),
        coordinates_(attrs.text("coordinates")),
        rounding_(attrs.text("nearest")),
        cubic_(attrs.real("cubic_coefficient")),
        exclude_(attrs.boolean("exclude_outside")),
        antialias_(attrs.boolean("antialias")) {}

  ResizeTaps axis(const AxisRule& a) const {
    ResizeTaps taps;
    double stretch = antialias_ && method_ != "nearest" ? std::max(1.0, 1 / a.scale) : 1;
    std::int64_t reach = reach_of(stretch, a.in);
    taps.per_element = method_ == "nearest" ? 1 : static_cast<std::size_t>(2 * reach);
    for (std::int64_t o = 0; o < a.out; ++o) {
      // Coordinates far outside are those of the border, and come from scales that make no sense: nothing depends on how far.
      double x = std::clamp(coordinate(a, coordinates_, o), -2.0 * static_cast<double>(a.in) - 8, 3.0 * static_cast<double>(a.in) + 8);
      if (is_nan(x)) x = 0;
      taps.outside.push_back(coordinates_ == "tf_crop_and_resize" && (x < 0 || x > static_cast<double>(a.in - 1)));
      element(taps, a.in, x, reach, stretch);
    }
    return taps;
  }

 private:
  // Neighbours on either side that may have a weight. Beyond the whole input, more neighbours are the same border.
  std::int64_t reach_of(double stretch, std::int64_t in) const {
    double support = (method_ == "linear" ? 1 : 2) * stretch;
    return static_cast<std::int64_t>(std::ceil(std::min(support, 4.0 * static_cast<double>(in) + 16)));
  }

  double weight(double place, double x, double stretch) const {
    if (method_ == "cubic") return cubic_weight(std::abs(place - x) / stretch, cubic_);
    return std::max(0.0, std::min(x - (place - stretch), (place + stretch) - x)) / stretch;
  }

  void element(ResizeTaps& taps, std::int64_t in, double x, std::int64_t reach, double stretch) const {
    if (method_ == "nearest") {
      add(taps, in, static_cast<std::int64_t>(rounded(x, rounding_)), 1);
      return;
    }
    auto first = static_cast<std::int64_t>(std::floor(x)) - reach + 1;
    // Two neighbours of which one lies outside give the same with it and without.
    bool excludes = exclude_ && (method_ == "cubic" || stretch > 1), normalise = excludes || stretch > 1;
    std::vector<double> weights;
    double sum = 0;
    for (std::int64_t place = first; place < first + 2 * reach; ++place) {
      bool counts = !excludes || (place >= 0 && place < in);
      weights.push_back(counts ? weight(static_cast<double>(place), x, stretch) : 0);
      sum += weights.back();
    }
    for (std::int64_t k = 0; k < 2 * reach; ++k) add(taps, in, first + k, weights[static_cast<std::size_t>(k)] / (normalise ? sum : 1));
  }

  static void add(ResizeTaps& taps, std::int64_t in, std::int64_t place, double weight) {
    taps.places.push_back(std::clamp<std::int64_t>(place, 0, in - 1));
    taps.weights.push_back(weight);
  }

  std::string method_, coordinates_, rounding_;
  double cubic_;
  bool exclude_, antialias_;
};

Result<std::vector<AxisRule>> axis_rules(const Shape& x, const Attrs& attrs) {
  const auto& shape = attrs.integers("shape");
  const auto& scales = attrs.reals("scales");
  const auto& roi = attrs.reals("roi");
  if (shape.size() != x.rank() || !Shape(shape).volume())
    return shape_error(cat("'shape' ", list_text(shape), " is not a legal shape for a value of ", x.rank(), " axes"));
  if (!scales.empty() && scales.size() != x.rank())
    return shape_error(cat("'scales' has ", scales.size(), " numbers for ", x.rank(), " axes"));
  bool crops = attrs.text("coordinates") == "tf_crop_and_resize";
  if (crops && roi.size() != 2 * x.rank()) return shape_error(cat("'roi' has ", roi.size(), " numbers; it needs ", 2 * x.rank()));
  std::vector<AxisRule> rules;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    if (x[i] == 0 && shape[i] != 0) return shape_error(cat("axis ", i, " of ", x.text(), " has no elements to take ", shape[i], " from"));
    AxisRule rule{x[i], shape[i], static_cast<double>(shape[i]) / static_cast<double>(std::max<std::int64_t>(x[i], 1)), 0, 1};
    if (!scales.empty()) rule.scale = scales[i];
    if (crops) std::tie(rule.roi_begin, rule.roi_end) = std::pair(roi[i], roi[x.rank() + i]);
    if (!(rule.scale > 0) && shape[i] != 0) return shape_error(cat("the scale of axis ", i, " is ", rule.scale, "; it must be positive"));
    rules.push_back(rule);
  }
  return rules;
}

}  // namespace

bool ResizeTaps::is_identity(std::int64_t in) const {
  if (per_element * static_cast<std::size_t>(in) != places.size()) return false;
  for (std::size_t i = 0; i < places.size(); ++i)
    if (weights[i] != (places[i] == static_cast<std::int64_t>(i / per_element) ? 1 : 0)) return false;
  return true;
}

Result<std::vector<ResizeTaps>> resize_taps(const Shape& x, const Attrs& attrs) {
  BUDA_ASSIGN(auto rules, axis_rules(x, attrs));
  TapsOf make(attrs);
  std::vector<ResizeTaps> axes;
  for (const auto& rule : rules) axes.push_back(make.axis(rule));
  return axes;
}

namespace {

Result<std::vector<ValueType>> infer_resize(const InferCall& call) {
  const ValueType& x = call.inputs[0];
  if (call.attrs.text("method") != "nearest") BUDA_TRY(common_dtype(call.inputs, Accepts::numbers));
  BUDA_TRY(axis_rules(x.shape, call.attrs));
  return one(x.dtype, Shape(call.attrs.integers("shape")));
}

// f(outer, o, inner elements) for each line of the result along an axis.
struct AxisWalk {
  std::int64_t outer = 1, inner = 1;
  Shape result;

  AxisWalk(const Shape& in, std::size_t axis, std::int64_t out) : result(in) {
    for (std::size_t i = 0; i < axis; ++i) outer *= in[i];
    for (std::size_t i = axis + 1; i < in.rank(); ++i) inner *= in[i];
    result[axis] = out;
  }
};

// Nearest neighbours are copied, whatever they are.
Result<Tensor> copied_along(const Tensor& in, std::size_t axis, const ResizeTaps& taps) {
  AxisWalk walk(in.shape(), axis, static_cast<std::int64_t>(taps.places.size()));
  BUDA_ASSIGN(Buffer out, Buffer::make(in.dtype(), walk.result));
  std::size_t bytes = static_cast<std::size_t>(walk.inner) * dtype_size(in.dtype());
  char* to = out.bytes();
  for (std::int64_t outer = 0; outer < walk.outer; ++outer) {
    const char* from = in.bytes().data() + static_cast<std::size_t>(outer * in.shape()[axis]) * bytes;
    for (std::int64_t place : taps.places) {
      std::memcpy(to, from + static_cast<std::size_t>(place) * bytes, bytes);
      to += bytes;
    }
  }
  return std::move(out).take();
}

template <class T>
Result<Tensor> blended_along(const Tensor& in, std::size_t axis, const ResizeTaps& taps, unsigned threads) {
  std::size_t per = taps.per_element;
  AxisWalk walk(in.shape(), axis, static_cast<std::int64_t>(taps.places.size() / per));
  BUDA_ASSIGN(Buffer out, Buffer::make(in.dtype(), walk.result));
  const T* x = in.as<T>().data();
  T* y = out.as<T>().data();
  std::int64_t size_in = in.shape()[axis], size_out = walk.result[axis];
  parallel_for(threads, static_cast<std::size_t>(walk.outer), [&](std::size_t outer) {
    const T* from = x + static_cast<std::int64_t>(outer) * size_in * walk.inner;
    T* to = y + static_cast<std::int64_t>(outer) * size_out * walk.inner;
    for (std::size_t o = 0; o < static_cast<std::size_t>(size_out); ++o)
      for (std::int64_t i = 0; i < walk.inner; ++i) {
        double sum = 0;
        for (std::size_t k = o * per; k < (o + 1) * per; ++k)
          if (taps.weights[k] != 0) sum += taps.weights[k] * static_cast<double>(from[taps.places[k] * walk.inner + i]);
        *to++ = static_cast<T>(sum);
      }
  });
  return std::move(out).take();
}

// Sets what lies outside along any axis.
template <class T>
Result<Tensor> extrapolated(const Tensor& in, const std::vector<ResizeTaps>& axes, double value) {
  BUDA_ASSIGN(Buffer out, Buffer::make(in.dtype(), in.shape()));
  std::span<const T> x = in.as<T>();
  std::span<T> y = out.as<T>();
  auto strides = in.shape().strides();
  for (std::size_t i = 0; i < x.size(); ++i) {
    bool outside = false;
    for (std::size_t a = 0; a < axes.size(); ++a)
      outside = outside || axes[a].outside[i / static_cast<std::size_t>(strides[a]) % axes[a].outside.size()] != 0;
    y[i] = outside ? static_cast<T>(value) : x[i];
  }
  return std::move(out).take();
}

bool any_outside(const std::vector<ResizeTaps>& axes) {
  return std::any_of(axes.begin(), axes.end(), [](const ResizeTaps& t) { return std::count(t.outside.begin(), t.outside.end(), 1) != 0; });
}

template <class T>
Result<Tensor> blended(const EvaluateCall& call, const std::vector<ResizeTaps>& axes) {
  Tensor value = call.inputs[0].cast(kDTypeOf<T>);
  bool nearest = call.attrs.text("method") == "nearest";
  for (std::size_t axis = axes.size(); axis-- > 0;) {
    if (axes[axis].is_identity(value.shape()[axis])) continue;
    auto next = nearest ? copied_along(value, axis, axes[axis]) : blended_along<T>(value, axis, axes[axis], call.threads);
    BUDA_ASSIGN(value, std::move(next));
  }
  if (!any_outside(axes)) return value;
  return extrapolated<T>(value, axes, call.attrs.real("extrapolation"));
}

Result<std::vector<Tensor>> evaluate_resize(const EvaluateCall& call) {
  if (call.outputs[0].shape.volume() == 0) {
    BUDA_ASSIGN(Tensor none, Tensor::zeros(call.outputs[0].dtype, call.outputs[0].shape));
    return std::vector<Tensor>{std::move(none)};
  }
  BUDA_ASSIGN(auto axes, resize_taps(call.inputs[0].shape(), call.attrs));
  DType dtype = call.outputs[0].dtype;
  if (call.attrs.text("method") == "nearest" && !any_outside(axes)) {
    Tensor value = call.inputs[0];
    for (std::size_t axis = axes.size(); axis-- > 0;) {
      if (axes[axis].is_identity(value.shape()[axis])) continue;
      BUDA_ASSIGN(value, copied_along(value, axis, axes[axis]));
    }
    return std::vector<Tensor>{value};
  }
  return visit_compute<false>(dtype == DType::f64 ? dtype : DType::f32, [&](auto tag) -> Result<std::vector<Tensor>> {
    BUDA_ASSIGN(Tensor out, blended<typename decltype(tag)::type>(call, axes));
    return std::vector<Tensor>{out.cast(dtype)};
  });
}

// A pass along each axis that changes.
double resize_flops(std::span<const ValueType> inputs, std::span<const ValueType> outputs, const Attrs& attrs) {
  const std::string& method = attrs.text("method");
  double per_element = method == "nearest" ? 0 : method == "linear" ? 4 : 8, total = 0;
  Shape at = inputs[0].shape;
  for (std::size_t axis = at.rank(); axis-- > 0;) {
    if (at[axis] == outputs[0].shape[axis]) continue;
    at[axis] = outputs[0].shape[axis];
    total += per_element * volume(at);
  }
  return total;
}

}  // namespace

std::vector<OpDef> resize_ops() {
  using Reals = std::vector<double>;
  return {
      {.name = "resize",
       .level = Level::tensor,
       .family = "resize",
       .summary = "x with other sizes, interpolated along each axis",
       .inputs = {"x"},
       .least_inputs = 1,
       .most_inputs = 1,
       .attrs =
           {{"shape", AttrType::integers, std::nullopt, "shape of the result", {}},
            {"scales", AttrType::reals, Reals(), "the scale that coordinates are computed with, for each axis; none: ratio of sizes", {}},
            {"method", AttrType::text, std::string("nearest"), "interpolation", {"nearest", "linear", "cubic"}},
            {"coordinates",
             AttrType::text,
             std::string("half_pixel"),
             "where an element of the result lies in x, as ONNX's Resize names it",
             {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize",
              "half_pixel_symmetric"}},
            {"nearest",
             AttrType::text,
             std::string("round_prefer_floor"),
             "which of two neighbours is nearest",
             {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}},
            {"cubic_coefficient", AttrType::real, -0.75, "a of the cubic convolution", {}},
            {"exclude_outside",
             AttrType::boolean,
             false,
             "linear and cubic: neighbours outside x do not count; else they are those at its border",
             {}},
            {"antialias",
             AttrType::boolean,
             false,
             "linear and cubic: where an axis shrinks, the filter is stretched to the size of an element of the result",
             {}},
            {"roi", AttrType::reals, Reals(), "tf_crop_and_resize: where the part begins on each axis, then where it ends; 0 to 1", {}},
            {"extrapolation", AttrType::real, 0.0, "tf_crop_and_resize: value outside x", {}}},
       .infer = infer_resize,
       .evaluate = evaluate_resize,
       .flops = resize_flops}};
}

}  // namespace buda::ops
