// SPDX-License-Identifier: Apache-2.0
// Products of real numbers with weights of 8-bit integers.
//
// Single bits depend on what the reference computes in fp32 and what in fp64, and on the order of its products: that is followed here.
#include "hybrid.hpp"

#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace buda::tflite_frontend {
namespace {

using Ref = NodeImport::Ref;
using Dims = NodeImport::Dims;

Ref f32(NodeImport& n, std::string_view name, float value) { return n.step(name).constant(value); }

Ref f64(NodeImport& n, std::string_view name, double value) { return n.step(name).constant(Tensor::scalar<double>(value)); }

Ref each_slice(NodeImport& n, std::string_view name, const std::string& op, Ref x) {
  Dims axes;
  if (auto shape = n.shape_of(x))
    for (std::size_t axis = 1; axis < shape->rank(); ++axis) axes.push_back(static_cast<std::int64_t>(axis));
  return n.step(name).op(op, {x}, {{"dims", std::move(axes)}});
}

// The nearest 8-bit integers, halves away from zero.
Ref rounded(NodeImport& n, Ref steps) {
  Ref one = f32(n, "x.step", 1);
  Ref zero = n.step("x.zero").constant(Tensor::scalar<std::int8_t>(0));
  return n.step("x.stored").op("quantize", {steps, one, zero}, {{"ties", std::string("away")}});
}

// An integer in I32 for numbers in F64, halves away from zero: what truncating leaves is below 1, and twice that is 1 or more for a half.
Ref nearest(NodeImport& n, Ref x) {
  Ref whole = n.cast(x, DType::i32, "x.whole");
  Ref wide = n.cast(whole, DType::f64, "x.whole.wide");
  Ref rest = n.step("x.rest").subtract(x, wide);
  Ref twice = n.step("x.rest.twice").add(rest, rest);
  Ref more = n.cast(twice, DType::i32, "x.more");
  return n.step("x.zero_point").add(whole, more);
}

// Slices of zeros have scale 1.
HybridNumbers symmetric_numbers(NodeImport& n, Ref x) {
  Ref size = n.step("x.size").op("abs", {x});
  Ref range = each_slice(n, "x.range", "reduce_max", size);
  Ref none = f32(n, "x.none", 0), most = f32(n, "x.most", 127);
  Ref empty = n.step("x.empty").op("equal", {range, none});
  range = n.step("x.range.used").op("where", {empty, most, range});
  HybridNumbers out;
  out.scale = n.step("x.scale").divide(range, most);
  Ref inverse = n.step("x.inverse").divide(most, range);
  Ref steps = n.step("x.steps").multiply(x, inverse);
  out.integers = n.cast(rounded(n, steps), DType::i32, "x.wide");
  return out;
}

// The zero point is the integer that 0 becomes, computed from that end of the range with which it has the smaller error. Slices of zeros
// have scale 1, and any zero point.
HybridNumbers asymmetric_numbers(NodeImport& n, Ref x) {
  Ref none = f64(n, "x.none", 0), least_integer = f64(n, "x.first", -128), last_integer = f64(n, "x.last", 127);
  Ref steps_of_range = f64(n, "x.range.steps", 255);
  Ref least = n.cast(each_slice(n, "x.least", "reduce_min", x), DType::f64, "x.least.wide");
  Ref most = n.cast(each_slice(n, "x.most", "reduce_max", x), DType::f64, "x.most.wide");
  least = n.step("x.least.used").op("minimum", {least, none});
  most = n.step("x.most.used").op("maximum", {most, none});
  Ref empty = n.step("x.empty").op("equal", {least, most});
  most = n.step("x.end").op("where", {empty, steps_of_range, most});
  Ref range = n.step("x.range").subtract(most, least);
  Ref wide_scale = n.step("x.scale.wide").divide(range, steps_of_range);

  Ref below = n.step("x.below").divide(least, wide_scale), above = n.step("x.above").divide(most, wide_scale);
  Ref from_least = n.step("x.from_least").subtract(least_integer, below);
  Ref from_most = n.step("x.from_most").subtract(last_integer, above);
  Ref below_size = n.step("x.below.size").op("abs", {below}), above_size = n.step("x.above.size").op("abs", {above});
  Ref first_size = f64(n, "x.first.size", 128);
  Ref least_error = n.step("x.least.error").add(first_size, below_size);
  Ref most_error = n.step("x.most.error").add(last_integer, above_size);
  Ref at_least = n.step("x.at_least").op("less", {least_error, most_error});
  Ref exact = n.step("x.zero_point.exact").op("where", {at_least, from_least, from_most});
  Ref zero_point = nearest(n, n.step("x.zero_point.inside").clip(exact, -128, 127));

  HybridNumbers out;
  out.scale = n.cast(wide_scale, DType::f32, "x.scale");
  Ref one = f32(n, "x.one", 1);
  Ref inverse = n.step("x.inverse").divide(one, out.scale);
  Ref scaled = n.step("x.scaled").multiply(x, inverse);
  Ref moved = n.cast(zero_point, DType::f32, "x.zero_point.number");
  Ref steps = n.step("x.steps").add(moved, scaled);
  Ref wide = n.cast(rounded(n, steps), DType::i32, "x.wide");
  out.integers = n.step("x.centred").subtract(wide, zero_point);
  return out;
}

ops::Builder& scaled_step(NodeImport& n) { return n.step("scaled"); }

}  // namespace

bool has_hybrid_products(NodeImport& n) {
  if (n.shared().hybrid != Arithmetic::exact || !n.input_info(1).is_quantized() || n.output_info(0).is_quantized()) return false;
  auto x = n.type(0), weights = n.type(1);
  if (!x || !weights || x->dtype != DType::f32 || weights->dtype != DType::i8 || x->shape.rank() == 0) return false;
  const auto& zero_points = n.input_info(1).quantization->zero_points;
  return std::all_of(zero_points.begin(), zero_points.end(), [](auto z) { return z == 0; });
}

HybridNumbers hybrid_numbers(NodeImport& n, Ref x, bool symmetric) {
  return symmetric ? symmetric_numbers(n, x) : asymmetric_numbers(n, x);
}

Ref hybrid_result(NodeImport& n, Ref sum, const HybridNumbers& x, HybridOrder order, ops::Builder& (*last)(NodeImport&)) {
  auto shape = n.shape_of(sum);
  auto of_channels = [&](std::int64_t count) {
    Dims dims(shape ? shape->rank() - 1 : 1, 1);
    dims[0] = count;
    return Shape(dims);
  };
  const auto& scales = n.input_info(1).quantization->scales;
  auto count = static_cast<std::int64_t>(scales.size());
  Ref weights = n.step("weights.scale").constant(Tensor(count == 1 ? Shape{} : of_channels(count), std::vector<float>(scales)));
  Ref bias;
  if (n.has_input(2)) {
    bias = n.number(2);
    if (auto given = n.shape_of(bias); given && shape && shape->rank() > 2)
      bias = n.step("bias.channels").reshape(bias, of_channels(given->volume().value_or(1)));
  }
  auto* scale_builder = bias.valid() ? scaled_step : last;
  Ref number = n.cast(sum, DType::f32, "sum.number");
  Ref scaled;
  if (order == HybridOrder::weights_first) {
    Ref part = n.step("weighted").multiply(number, weights);
    scaled = scale_builder(n).multiply(part, x.scale);
  } else {
    Ref scale = n.step("scale").multiply(x.scale, weights);
    scaled = scale_builder(n).multiply(number, scale);
  }
  return bias.valid() ? last(n).add(scaled, bias) : scaled;
}

}  // namespace buda::tflite_frontend
