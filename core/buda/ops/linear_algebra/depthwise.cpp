// SPDX-License-Identifier: Apache-2.0
// depthwise: products in which blocks of columns see only themselves, at both levels.
//
// x has `taps` groups of C columns, C being whole blocks of `width`; weights has width rows for each tap. Column c of the result is the
// sum, over taps t and the columns j of c's block, of x[t * C + block(c) * width + j] * weights[t * width + j, c]. On the device a block is
// a tile: out tile (r, c) = sum over t of x tile (r, t * ct + c) * weights tile (t, c). A depthwise convolution has diagonals in these
// tiles.
#include <buda/base/parallel.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/tm.hpp>
#include <buda/ops/elements/arithmetic.hpp>
#include <buda/ops/elements/buffer.hpp>
#include <buda/ops/linear_algebra/sparse.hpp>
#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/families.hpp>
#include <buda/ops/table/rules.hpp>

namespace buda::ops {
namespace {

struct DepthwiseShape {
  std::int64_t matrices = 1, rows = 0, taps = 0, columns = 0, width = 0;
};

Result<DepthwiseShape> depthwise_shape(const Shape& x, const Shape& weights, std::int64_t width) {
  if (x.rank() < 2 || weights.rank() < 2) return shape_error(cat("matrices are needed, not ", x.text(), " and ", weights.text()));
  DepthwiseShape s;
  for (std::size_t i = 0; i + 2 < x.rank(); ++i) s.matrices *= x[i];
  for (std::size_t i = 0; i + 2 < weights.rank(); ++i)
    if (weights[i] != 1) return shape_error(cat("the weights are one matrix, not ", weights.text()));
  s.rows = x[x.rank() - 2];
  s.columns = weights[weights.rank() - 1];
  s.width = width;
  std::int64_t inner = weights[weights.rank() - 2];
  if (width < 1 || s.columns < 1 || s.columns % width != 0 || inner % width != 0)
    return shape_error(cat("weights of shape ", weights.text(), " are not whole blocks of ", width));
  s.taps = inner / width;
  if (x[x.rank() - 1] != s.taps * s.columns)
    return shape_error(cat("x has ", x[x.rank() - 1], " columns; ", s.taps, " taps of ", s.columns, " columns are needed"));
  return s;
}

Shape result_shape(const Shape& x, const DepthwiseShape& s) {
  std::vector<std::int64_t> dims = x.dims();
  dims.back() = s.columns;
  return Shape(std::move(dims));
}

template <class T>
Result<Tensor> product(const EvaluateCall& call, const DepthwiseShape& s) {
  Tensor x = call.inputs[0].cast(kDTypeOf<T>), weights = call.inputs[1].cast(kDTypeOf<T>);
  BUDA_ASSIGN(Buffer out, Buffer::make(kDTypeOf<T>, call.outputs[0].shape));
  const T* in = x.as<T>().data();
  const T* w = weights.as<T>().data();
  T* y = out.as<T>().data();
  parallel_for(call.threads, static_cast<std::size_t>(s.matrices * s.rows), [&](std::size_t i) {
    const T* row = in + static_cast<std::int64_t>(i) * s.taps * s.columns;
    T* sums = y + static_cast<std::int64_t>(i) * s.columns;
    std::fill(sums, sums + s.columns, T{0});
    for (std::int64_t t = 0; t < s.taps; ++t)
      for (std::int64_t block = 0; block < s.columns; block += s.width)
        for (std::int64_t j = 0; j < s.width; ++j) {
          T factor = row[t * s.columns + block + j];
          const T* factors = w + (t * s.width + j) * s.columns + block;
          for (std::int64_t c = 0; c < s.width; ++c) sums[block + c] += factor * factors[c];
        }
  });
  return std::move(out).take();
}

Result<std::vector<ValueType>> infer_depthwise(const InferCall& call) {
  BUDA_ASSIGN(DType dtype, common_dtype(call.inputs, Accepts::floats));
  BUDA_ASSIGN(DepthwiseShape s, depthwise_shape(call.inputs[0].shape, call.inputs[1].shape, call.attrs.integer("width")));
  return one(dtype, result_shape(call.inputs[0].shape, s));
}

Result<std::vector<Tensor>> evaluate_depthwise(const EvaluateCall& call) {
  BUDA_ASSIGN(DepthwiseShape s, depthwise_shape(call.inputs[0].shape(), call.inputs[1].shape(), call.attrs.integer("width")));
  return visit_compute<false>(compute_dtype(call.outputs[0].dtype), [&](auto tag) -> Result<std::vector<Tensor>> {
    BUDA_ASSIGN(Tensor out, product<typename decltype(tag)::type>(call, s));
    return std::vector<Tensor>{out.cast(call.outputs[0].dtype)};
  });
}

Result<std::vector<ValueType>> infer_device_depthwise(const InferCall& call) {
  BUDA_ASSIGN(DType dtype, common_dtype(call.inputs, Accepts::floats));
  for (const auto& input : call.inputs)
    if (input.shape.rank() != 4) return shape_error(cat("a device op takes values of four axes, not ", input.shape.text()));
  BUDA_ASSIGN(DepthwiseShape s, depthwise_shape(call.inputs[0].shape, call.inputs[1].shape, graph::kTileSide));
  return one(dtype, result_shape(call.inputs[0].shape, s));
}

Result<std::vector<Tensor>> evaluate_device_depthwise(const EvaluateCall& call) {
  BUDA_ASSIGN(DepthwiseShape s, depthwise_shape(call.inputs[0].shape(), call.inputs[1].shape(), graph::kTileSide));
  BUDA_ASSIGN(Tensor out, product<float>(call, s));
  return std::vector<Tensor>{out.cast(call.outputs[0].dtype)};
}

double depthwise_flops(std::span<const ValueType> inputs, std::span<const ValueType> outputs, const Attrs&) {
  const Shape& w = inputs[1].shape;
  return 2 * volume(outputs[0].shape) * static_cast<double>(w[w.rank() - 2]);
}

}  // namespace

std::vector<OpDef> depthwise_ops() {
  OpDef tensor =
      tensor_level_op("depthwise", "depthwise",
                      "a product in which each block of columns sees only itself: y[c] = sum over taps t and columns j of the block of "
                      "x[t * C + block + j] * weights[t * width + j, c]",
                      {"x", "weights"}, {{"width", AttrType::integer, std::int64_t{32}, "columns of a block", {}}}, infer_depthwise,
                      evaluate_depthwise, depthwise_flops);
  OpDef device{.name = "depthwise",
               .level = Level::device,
               .family = "depthwise",
               .summary = "tile (r, c) of the result is the sum over t of tile (r, t * ct + c) of x times tile (t, c) of the weights",
               .inputs = {"x", "weights"},
               .least_inputs = 2,
               .most_inputs = 2,
               .attrs = with_packer_attrs({}),
               .infer = infer_device_depthwise,
               .evaluate = evaluate_device_depthwise,
               .flops = depthwise_flops};
  return {std::move(tensor), std::move(device)};
}

}  // namespace buda::ops
