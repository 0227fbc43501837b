// SPDX-License-Identifier: Apache-2.0
// Convolutions over one, two or three axes, as frameworks mean them: cross-correlations.
//
// Large ones in fp32 are oneDNN's; the others, integers among them, are products of the weights' matrix with one of the windows' elements.
#include <buda/base/parallel.hpp>
#include <buda/base/text.hpp>
#include <buda/ops/dnnl/functions.hpp>
#include <buda/ops/elements/arithmetic.hpp>
#include <buda/ops/elements/buffer.hpp>
#include <buda/ops/elementwise/int8.hpp>
#include <buda/ops/linear_algebra/gemm.hpp>
#include <buda/ops/spatial/columns.hpp>
#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/families.hpp>
#include <buda/ops/table/rules.hpp>

namespace buda::ops {
namespace {

// Below it oneDNN's generation of code takes longer than the work.
constexpr double kPlainBelow = 4e6;

std::vector<std::int64_t> kernel_of(const Shape& weights) { return {weights.begin() + 2, weights.end()}; }

Result<ConvShape> conv_shape(const Shape& x, const Shape& weights, const Attrs& attrs, std::size_t rank) {
  BUDA_TRY(check_spatial_rank(x, rank, "the input"));
  BUDA_TRY(check_spatial_rank(weights, rank, "the weights' shape"));
  ConvShape s{x[0], attrs.integer("groups"), x[1], weights[0], rank, {}};
  if (s.groups < 1 || s.in_channels % s.groups != 0 || s.out_channels % s.groups != 0)
    return shape_error(cat(s.in_channels, " input and ", s.out_channels, " output channels cannot be cut into ", s.groups, " groups"));
  if (weights[1] != s.in_channels / s.groups)
    return shape_error(cat("the weights ", weights.text(), " are for ", weights[1], " input channels per group; the input ", x.text(),
                           " has ", s.in_channels / s.groups));
  BUDA_ASSIGN(s.window, sliding_window(attrs, x, kernel_of(weights)));
  return s;
}

template <std::size_t kRank>
Result<std::vector<ValueType>> infer_conv(const InferCall& call) {
  BUDA_ASSIGN(DType dtype, common_dtype(call.inputs, Accepts::numbers));
  BUDA_ASSIGN(ConvShape s, conv_shape(call.inputs[0].shape, call.inputs[1].shape, call.attrs, kRank));
  if (call.inputs.size() == 3 && call.inputs[2].shape != Shape{s.out_channels})
    return shape_error(cat("the bias is ", call.inputs[2].shape.text(), "; it needs one number for each of ", s.out_channels, " channels"));
  return one(dtype, s.window.result({s.samples, s.out_channels}, kRank));
}

// Group `at` (of all samples' groups) as a product.
template <class T>
Result<void> one_group(const ConvShape& s, std::int64_t at, const T* x, const T* weights, T* y, unsigned threads) {
  std::int64_t ins = s.in_channels / s.groups, outs = s.out_channels / s.groups, k = ins * s.window.taps(), n = s.window.out();
  const T* image = x + at * ins * s.window.in();
  const T* w = weights + at % s.groups * outs * k;
  T* result = y + at * outs * n;
  if (s.window.is_identity()) {
    gemm(outs, n, k, Matrix<T>{w}, Matrix<T>{image}, result, threads);
    return success();
  }
  BUDA_ASSIGN(Buffer columns, Buffer::make(sizeof(T) == 4 ? DType::f32 : DType::f64, {k, n}));
  auto* matrix = reinterpret_cast<T*>(columns.bytes());
  to_columns(s.window, ins, image, matrix);
  gemm(outs, n, k, Matrix<T>{w}, Matrix<T>{matrix}, result, threads);
  return success();
}

template <class T>
Result<void> by_columns(const ConvShape& s, const T* x, const T* weights, const T* bias, T* y, unsigned threads) {
  auto groups = static_cast<std::size_t>(s.samples * s.groups);
  std::vector<Result<void>> done(groups, success());
  unsigned inner = groups < threads ? threads : 1;
  parallel_for(inner > 1 ? 1 : threads, groups,
               [&](std::size_t i) { done[i] = one_group(s, static_cast<std::int64_t>(i), x, weights, y, inner); });
  for (auto& d : done) BUDA_TRY(std::move(d));
  if (bias == nullptr) return success();
  std::int64_t out = s.window.out();
  for (std::int64_t c = 0; c < s.samples * s.out_channels; ++c)
    for (std::int64_t i = 0; i < out; ++i) y[c * out + i] += bias[c % s.out_channels];
  return success();
}

// Signed integers are multiplied as unsigned ones of the same bits.
template <class T>
using Element = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;

template <class T>
Result<Tensor> convolved(const EvaluateCall& call, const ConvShape& s) {
  std::vector<Tensor> in;
  for (const Tensor& t : call.inputs) in.push_back(t.cast(kDTypeOf<T>));
  BUDA_ASSIGN(Buffer out, Buffer::make(kDTypeOf<T>, call.outputs[0].shape));
  auto data = [&](std::size_t i) { return i < in.size() ? reinterpret_cast<const Element<T>*>(in[i].template as<T>().data()) : nullptr; };
  auto* y = reinterpret_cast<Element<T>*>(out.bytes());
  if constexpr (std::is_same_v<T, float>) {
    if (s.flops() >= kPlainBelow && dnnl_functions().convolution(s, data(0), data(1), data(2), y, call.threads))
      return std::move(out).take();
  }
  if (call.outputs[0].shape.volume() != 0) BUDA_TRY(by_columns<Element<T>>(s, data(0), data(1), data(2), y, call.threads));
  return std::move(out).take();
}

template <std::size_t kRank>
Result<std::vector<Tensor>> evaluate_conv(const EvaluateCall& call) {
  BUDA_ASSIGN(ConvShape s, conv_shape(call.inputs[0].shape(), call.inputs[1].shape(), call.attrs, kRank));
  DType dtype = call.outputs[0].dtype;
  return visit_compute<true>(compute_dtype(dtype), [&](auto tag) -> Result<std::vector<Tensor>> {
    BUDA_ASSIGN(Tensor out, convolved<typename decltype(tag)::type>(call, s));
    return std::vector<Tensor>{out.cast(dtype)};
  });
}

// ---- integers in Int8

Result<std::vector<ValueType>> infer_int8_conv(const InferCall& call) {
  BUDA_ASSIGN(std::vector<ValueType> sums, infer_conv<2>({call.inputs.first(2), call.attrs}));
  BUDA_ASSIGN(DType dtype, common_dtype(call.inputs, Accepts::floats));
  const Shape &result = sums[0].shape, &bias = call.inputs[2].shape;
  if (bias.rank() != 4 || broadcast(result, bias) != result)
    return shape_error(cat("the bias ", bias.text(), " does not broadcast to the sums' shape ", result.text(), " with four axes"));
  if (call.inputs[3].shape != Shape{result[1]})
    return shape_error(
        cat("the scale is ", call.inputs[3].shape.text(), "; one number for each of the ", result[1], " channels is needed"));
  return one(dtype, result);
}

Result<std::vector<Tensor>> evaluate_int8_conv(const EvaluateCall& call) {
  BUDA_ASSIGN(ConvShape s, conv_shape(call.inputs[0].shape(), call.inputs[1].shape(), call.attrs, 2));
  BUDA_ASSIGN(Tensor sums, convolved<float>({call.inputs.first(2), call.outputs, call.attrs, call.threads}, s));
  BUDA_ASSIGN(Tensor scale, call.inputs[3].reshaped({s.out_channels, 1, 1}));
  BUDA_ASSIGN(Tensor out, scaled_sums(call, sums, call.inputs[2], scale, call.attrs.boolean("dequantize")));
  return std::vector<Tensor>{out.cast(call.outputs[0].dtype)};
}

double conv_flops(std::span<const ValueType> inputs, std::span<const ValueType> outputs, const Attrs&) {
  double per_output = volume(inputs[1].shape) / std::max(1.0, static_cast<double>(inputs[1].shape[0]));
  return volume(outputs[0].shape) * (2 * per_output + (inputs.size() > 2 ? 1 : 0));
}

template <std::size_t kRank>
OpDef conv_op() {
  auto attrs = window_attrs();
  attrs.push_back({"groups", AttrType::integer, std::int64_t{1}, "groups of channels, each of which sees only itself", {}});
  return {.name = cat("conv", kRank, "d"),
          .level = Level::tensor,
          .family = "conv",
          .summary = cat("convolution of x [samples, channels, ", kRank == 1 ? "size" : cat(kRank, " sizes"),
                         "] with weights [output channels, channels per group, ", kRank == 1 ? "size" : cat(kRank, " sizes"),
                         "], plus bias for each output channel"),
          .inputs = {"x", "weights", "bias"},
          .least_inputs = 2,
          .most_inputs = 3,
          .attrs = std::move(attrs),
          .infer = infer_conv<kRank>,
          .evaluate = evaluate_conv<kRank>,
          .flops = conv_flops};
}

OpDef int8_conv_op() {
  OpDef def = conv_op<2>();
  def.name = "int8_conv2d";
  def.summary =
      "of integers in Int8: a convolution as conv2d, its sums plus bias [1, channels, 1 or height, 1 or width], times the scale of the "
      "channel, plus zero_point, rounded and limited as the device's Int8 is";
  def.inputs = {"x", "weights", "bias", "scale"};
  def.least_inputs = def.most_inputs = 4;
  for (AttrDef& attr : int8_product_attrs()) def.attrs.push_back(std::move(attr));
  def.infer = infer_int8_conv;
  def.evaluate = evaluate_int8_conv;
  return def;
}

}  // namespace

double ConvShape::flops() const {
  return 2.0 * static_cast<double>(samples) * static_cast<double>(out_channels) * static_cast<double>(window.out()) *
         static_cast<double>(window.taps()) * static_cast<double>(in_channels) / static_cast<double>(std::max<std::int64_t>(groups, 1));
}

std::vector<OpDef> conv_ops() { return {conv_op<1>(), conv_op<2>(), conv_op<3>(), int8_conv_op()}; }

}  // namespace buda::ops
