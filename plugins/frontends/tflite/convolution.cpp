// SPDX-License-Identifier: Apache-2.0
// Convolutions. The file has images with channels last and kernels as [outputs, rows, columns, inputs]; ours have channels first.
#include "hybrid.hpp"
#include "node_import.hpp"
#include "quantized.hpp"
#include "window.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/image_blocks.hpp>

#include <algorithm>

namespace buda::tflite_frontend {
namespace {

namespace format = tflite_format;
using Ref = NodeImport::Ref;
using frontend::Dims;

struct Convolution {
  ops::AttrMap attrs;
  Dims weights_order;  // of axes, from the file's to ours
  format::Activation activation = format::Activation::NONE;
};

ops::Builder& image_builder(NodeImport& n) { return n.result(); }

Result<void> convolve_integers(NodeImport& n, Convolution c) {
  DType sum_in = sum_type(n);
  Ref x = centred(n, 0, n.channels_first(n.input(0)), sum_in, "x");
  Ref stored = n.input(1);
  stored = n.step("weights.first").transpose(stored, c.weights_order);
  Ref w = centred(n, 1, stored, sum_in, "weights");
  std::vector<graph::Edge> inputs{x, w};
  if (n.has_input(2)) inputs.emplace_back(n.cast(n.input(2), sum_in, "bias"));
  Ref sum = n.step("sum").op("conv2d", std::move(inputs), std::move(c.attrs));
  n.output(n.channels_last(rescaled_products(n, sum, 1, c.activation, image_builder)));
  return success();
}

bool is_depthwise(const NodeImport& n) { return n.importer().code == Code::DEPTHWISE_CONV_2D; }

// The reference has no depthwise convolution of real numbers with weights of a single scale.
Result<bool> is_hybrid(NodeImport& n) {
  if (!has_hybrid_products(n)) return false;
  BUDA_ASSIGN(Shape w, n.shape(1));
  const auto& q = *n.input_info(1).quantization;
  if (static_cast<std::int64_t>(q.scales.size()) == w[is_depthwise(n) ? 3 : 0]) return true;
  return !is_depthwise(n) && !q.per_slice();
}

// Images have a zero point where the weights have several scales.
Result<void> convolve_hybrid(NodeImport& n, Convolution c) {
  const auto& scales = n.input_info(1).quantization->scales;
  bool one_scale = !is_depthwise(n) && std::all_of(scales.begin(), scales.end(), [&](float scale) { return scale == scales[0]; });
  HybridNumbers x = hybrid_numbers(n, n.channels_first(n.input(0)), one_scale);
  Ref stored = n.input(1);
  stored = n.step("weights.first").transpose(stored, c.weights_order);
  Ref weights = n.cast(stored, DType::i32, "weights.wide");
  Ref sum = n.step("sum").op("conv2d", {x.integers, weights}, std::move(c.attrs));
  auto order = one_scale || is_depthwise(n) ? HybridOrder::scales_first : HybridOrder::weights_first;
  auto* last = c.activation == format::Activation::NONE ? image_builder : +[](NodeImport& m) -> ops::Builder& { return m.step("linear"); };
  Ref y = hybrid_result(n, sum, x, order, last);
  BUDA_ASSIGN(y, n.activated(y, c.activation));
  n.output(n.channels_last(y));
  return success();
}

Result<void> convolve(NodeImport& n, Convolution c) {
  if (n.is_exact() && has_integer_products(n)) return convolve_integers(n, std::move(c));
  BUDA_ASSIGN(bool hybrid, is_hybrid(n));
  if (hybrid) return convolve_hybrid(n, std::move(c));
  Ref x = n.channels_first(n.number(0));
  Ref w = n.number(1);
  w = n.step("weights.first").transpose(w, c.weights_order);
  std::vector<graph::Edge> inputs{x, w};
  if (n.has_input(2)) inputs.emplace_back(n.number(2));
  Ref y = n.before(c.activation).op("conv2d", std::move(inputs), std::move(c.attrs));
  BUDA_ASSIGN(y, n.activated(y, c.activation));
  n.output_number(n.channels_last(y));
  return success();
}

Result<void> import_conv(NodeImport& n) {
  const auto& o = n.options<format::Conv2DOptions>();
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Shape w, n.shape(1));
  if (w.rank() != 4) return n.refuse(cat("its weights are ", w.text(), "; [outputs, rows, columns, inputs] is needed"));
  BUDA_ASSIGN(auto window, window_of(n, x, {w[1], w[2]}, {o.stride_h(), o.stride_w()}, {o.dilation_h(), o.dilation_w()}, o.padding()));
  Convolution c{window.attrs(), {0, 3, 1, 2}, o.activation()};
  if (w[3] < 1 || x[3] % w[3] != 0) return n.refuse(cat("its input ", x.text(), " has no groups of ", w[3], " channels"));
  if (x[3] != w[3]) c.attrs["groups"] = x[3] / w[3];
  return convolve(n, std::move(c));
}

// One group for each channel; output channel c * multiplier + m is the m-th one of input channel c, here as there.
Result<void> import_depthwise_conv(NodeImport& n) {
  const auto& o = n.options<format::DepthwiseConv2DOptions>();
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Shape w, n.shape(1));
  if (w.rank() != 4 || w[0] != 1) return n.refuse(cat("its weights are ", w.text(), "; [1, rows, columns, outputs] is needed"));
  BUDA_ASSIGN(auto window, window_of(n, x, {w[1], w[2]}, {o.stride_h(), o.stride_w()}, {o.dilation_h(), o.dilation_w()}, o.padding()));
  Convolution c{window.attrs(), {3, 0, 1, 2}, o.activation()};
  if (x[3] != 1) c.attrs["groups"] = x[3];
  return convolve(n, std::move(c));
}

// Inputs: the shape of the result, weights [outputs, rows, columns, inputs], x, bias.
Result<void> import_transpose_conv(NodeImport& n) {
  const auto& o = n.options<format::TransposeConvOptions>();
  BUDA_ASSIGN(Dims result, n.result_shape(0));
  BUDA_ASSIGN(Shape w, n.shape(1));
  BUDA_ASSIGN(Shape x, n.shape(2));
  if (w.rank() != 4 || x.rank() != 4 || result.size() != 4)
    return n.refuse(
        cat("its input is ", x.text(), ", its weights ", w.text(), " and its result ", list_text(result), "; four axes are needed"));
  BUDA_ASSIGN(auto attrs, frontend::transposed_window(n, {x[1], x[2]}, {w[1], w[2]}, {result[1], result[2]}, {o.stride_h(), o.stride_w()},
                                                      o.padding() == format::Padding::SAME));
  if (n.is_exact() && has_integer_products(n)) {
    // Products of integers are exact in F64, in which this operation computes.
    DType sum_in = sum_type(n);
    Ref image = n.cast(centred(n, 2, n.channels_first(n.input(2)), sum_in, "x"), DType::f64, "x.wide");
    Ref stored = n.input(1);
    stored = n.step("weights.first").transpose(stored, {3, 0, 1, 2});
    Ref kernel = n.cast(centred(n, 1, stored, sum_in, "weights"), DType::f64, "weights.wide");
    std::vector<graph::Edge> inputs{image, kernel};
    if (n.has_input(3)) inputs.emplace_back(n.cast(n.input(3), DType::f64, "bias"));
    Ref sum = n.step("sum.wide").op("conv2d_transpose", std::move(inputs), std::move(attrs));
    sum = n.cast(sum, sum_in, "sum");
    n.output(n.channels_last(rescaled_products(n, sum, 1, o.activation(), image_builder)));
    return success();
  }
  Ref image = n.channels_first(n.number(2));
  Ref kernel = n.number(1);
  kernel = n.step("weights.first").transpose(kernel, {3, 0, 1, 2});
  std::vector<graph::Edge> inputs{image, kernel};
  if (n.has_input(3)) inputs.emplace_back(n.number(3));
  Ref y = n.before(o.activation()).op("conv2d_transpose", std::move(inputs), std::move(attrs));
  BUDA_ASSIGN(y, n.activated(y, o.activation()));
  n.output_number(n.channels_last(y));
  return success();
}

Result<void> import_conv_3d(NodeImport& n) {
  const auto& o = n.options<format::Conv3DOptions>();
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Shape w, n.shape(1));
  if (x.rank() != 5 || w.rank() != 5)
    return n.refuse(cat("its input is ", x.text(), " and its weights ", w.text(), "; five axes are needed"));
  frontend::WindowArguments window{
      {w[0], w[1], w[2]}, {o.stride_d(), o.stride_h(), o.stride_w()}, {o.dilation_d(), o.dilation_h(), o.dilation_w()}, Dims(6, 0)};
  for (const auto* list : {&window.kernel, &window.stride, &window.dilation})
    for (auto v : *list)
      if (v < 1 || v > kLargestWindow) return n.refuse(cat("its window ", list_text(window.kernel), " or stride has ", v));
  for (auto size : x)
    if (size > kLargestWindow) return n.refuse(cat("its input ", x.text(), " is too large"));
  if (o.padding() == format::Padding::SAME) window.padding = frontend::same_padding({x[1], x[2], x[3]}, window, false);
  Ref image = n.number(0), kernel = n.number(1);
  image = n.step("first").transpose(image, {0, 4, 1, 2, 3});
  kernel = n.step("weights.first").transpose(kernel, {4, 3, 0, 1, 2});
  std::vector<graph::Edge> inputs{image, kernel};
  if (n.has_input(2)) inputs.emplace_back(n.number(2));
  Ref y = n.step("convolved").op("conv3d", std::move(inputs), window.attrs());
  y = n.before(o.activation()).transpose(y, {0, 2, 3, 4, 1});
  BUDA_ASSIGN(y, n.activated(y, o.activation()));
  n.output_number(y);
  return success();
}

constexpr OpImporter kConvolutionOps[] = {
    {Code::CONV_2D, import_conv, {}, Exactness::exact},
    {Code::CONV_3D, import_conv_3d},
    {Code::DEPTHWISE_CONV_2D, import_depthwise_conv, {}, Exactness::exact},
    {Code::TRANSPOSE_CONV, import_transpose_conv, {}, Exactness::exact},
};

}  // namespace

std::span<const OpImporter> convolution_ops() { return kConvolutionOps; }

}  // namespace buda::tflite_frontend
