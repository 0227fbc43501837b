// SPDX-License-Identifier: Apache-2.0
// Transposed convolutions: each element of the input spreads over a window of the output, with the weights as factors.
//
// A product of the weights' transpose with the input gives the columns of all windows, which are then added where they overlap, tap after
// tap, so that the order of additions is fixed.
#include <buda/base/parallel.hpp>
#include <buda/base/text.hpp>
#include <buda/ops/elements/arithmetic.hpp>
#include <buda/ops/elements/buffer.hpp>
#include <buda/ops/linear_algebra/gemm.hpp>
#include <buda/ops/spatial/columns.hpp>
#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/families.hpp>
#include <buda/ops/table/rules.hpp>

#include <algorithm>

namespace buda::ops {
namespace {

struct TransposedShape {
  std::int64_t samples = 0, groups = 1, in_channels = 0, out_channels = 0;  // of all groups
  Window window;                                                            // `in` is the result
};

Result<TransposedShape> transposed_shape(const Shape& x, const Shape& weights, const Attrs& attrs, std::size_t rank) {
  BUDA_TRY(check_spatial_rank(x, rank, "the input"));
  BUDA_TRY(check_spatial_rank(weights, rank, "the weights' shape"));
  TransposedShape s{x[0], attrs.integer("groups"), x[1], 0, {}};
  if (s.groups < 1 || s.in_channels % s.groups != 0)
    return shape_error(cat(s.in_channels, " input channels cannot be cut into ", s.groups, " groups"));
  if (weights[0] != s.in_channels)
    return shape_error(
        cat("the weights ", weights.text(), " are for ", weights[0], " input channels; the input ", x.text(), " has ", s.in_channels));
  auto outs = Shape{weights[1], s.groups}.volume();
  if (!outs) return shape_error(cat("the weights' shape ", weights.text(), " is impossible for ", s.groups, " groups"));
  s.out_channels = *outs;
  BUDA_ASSIGN(s.window, transposed_window(attrs, x, {weights.begin() + 2, weights.end()}));
  return s;
}

template <std::size_t kRank>
Result<std::vector<ValueType>> infer_transposed(const InferCall& call) {
  BUDA_ASSIGN(DType dtype, common_dtype(call.inputs, Accepts::floats));
  BUDA_ASSIGN(TransposedShape s, transposed_shape(call.inputs[0].shape, call.inputs[1].shape, call.attrs, kRank));
  if (call.inputs.size() == 3 && call.inputs[2].shape != Shape{s.out_channels})
    return shape_error(cat("the bias is ", call.inputs[2].shape.text(), "; it needs one number for each of ", s.out_channels, " channels"));
  std::vector<std::int64_t> sizes{s.samples, s.out_channels};
  for (std::size_t i = kMaxSpatialAxes - kRank; i < kMaxSpatialAxes; ++i) sizes.push_back(s.window.axes[i].in);
  return one(dtype, Shape(std::move(sizes)));
}

template <class T>
Result<void> one_group(const TransposedShape& s, std::int64_t at, const T* x, const T* weights, T* y, unsigned threads) {
  std::int64_t ins = s.in_channels / s.groups, outs = s.out_channels / s.groups, m = outs * s.window.taps(), n = s.window.out();
  BUDA_ASSIGN(Buffer columns, Buffer::make(kDTypeOf<T>, {m, n}));
  T* matrix = columns.as<T>().data();
  gemm(m, n, ins, Matrix<T>{weights + at % s.groups * ins * m, true}, Matrix<T>{x + at * ins * n}, matrix, threads);
  add_columns(s.window, outs, matrix, y + at * outs * s.window.in());
  return success();
}

template <class T>
Result<Tensor> transposed(const EvaluateCall& call, const TransposedShape& s) {
  Tensor x = call.inputs[0].cast(kDTypeOf<T>), weights = call.inputs[1].cast(kDTypeOf<T>);
  BUDA_ASSIGN(Buffer out, Buffer::make(kDTypeOf<T>, call.outputs[0].shape));
  std::span<T> y = out.as<T>();
  if (call.inputs.size() == 3) {
    Tensor bias = call.inputs[2].cast(kDTypeOf<T>);
    auto size = static_cast<std::size_t>(s.window.in()), channels = static_cast<std::size_t>(s.out_channels);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = bias.as<T>()[i / size % channels];
  } else {
    std::fill(y.begin(), y.end(), T{0});
  }
  auto groups = static_cast<std::size_t>(s.samples * s.groups);
  if (y.empty() || x.size() == 0) return std::move(out).take();
  std::vector<Result<void>> done(groups, success());
  unsigned inner = groups < call.threads ? call.threads : 1;
  parallel_for(inner > 1 ? 1 : call.threads, groups, [&](std::size_t i) {
    done[i] = one_group<T>(s, static_cast<std::int64_t>(i), x.as<T>().data(), weights.as<T>().data(), y.data(), inner);
  });
  for (auto& d : done) BUDA_TRY(std::move(d));
  return std::move(out).take();
}

template <std::size_t kRank>
Result<std::vector<Tensor>> evaluate_transposed(const EvaluateCall& call) {
  BUDA_ASSIGN(TransposedShape s, transposed_shape(call.inputs[0].shape(), call.inputs[1].shape(), call.attrs, kRank));
  DType dtype = call.outputs[0].dtype;
  return visit_compute<false>(compute_dtype(dtype), [&](auto tag) -> Result<std::vector<Tensor>> {
    BUDA_ASSIGN(Tensor out, transposed<typename decltype(tag)::type>(call, s));
    return std::vector<Tensor>{out.cast(dtype)};
  });
}

double transposed_flops(std::span<const ValueType> inputs, std::span<const ValueType> outputs, const Attrs&) {
  double per_input = volume(inputs[1].shape) / std::max(1.0, static_cast<double>(inputs[1].shape[0]));
  return 2 * volume(inputs[0].shape) * per_input + (inputs.size() > 2 ? volume(outputs[0].shape) : 0);
}

template <std::size_t kRank>
OpDef transposed_op() {
  auto attrs = window_attrs();
  attrs[1].doc = "elements cut off before the first of each axis, then those after the last; none: 0";
  attrs.push_back(
      {"output_padding", AttrType::integers, std::vector<std::int64_t>(), "elements added after the last, for each axis; none: 0", {}});
  attrs.push_back({"groups", AttrType::integer, std::int64_t{1}, "groups of channels, each of which sees only itself", {}});
  return {.name = cat("conv", kRank, "d_transpose"),
          .level = Level::tensor,
          .family = "conv_transpose",
          .summary = cat("transposed convolution of x [samples, channels, ", kRank == 1 ? "size" : cat(kRank, " sizes"),
                         "] with weights [channels, output channels per group, ", kRank == 1 ? "size" : cat(kRank, " sizes"),
                         "], plus bias for each output channel"),
          .inputs = {"x", "weights", "bias"},
          .least_inputs = 2,
          .most_inputs = 3,
          .attrs = std::move(attrs),
          .infer = infer_transposed<kRank>,
          .evaluate = evaluate_transposed<kRank>,
          .flops = transposed_flops};
}

}  // namespace

std::vector<OpDef> conv_transpose_ops() { return {transposed_op<1>(), transposed_op<2>(), transposed_op<3>()}; }

}  // namespace buda::ops
