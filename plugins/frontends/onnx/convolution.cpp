// SPDX-License-Identifier: Apache-2.0
// Conv and ConvTranspose.
#include "window.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::onnx_frontend {
namespace {

using Dims = NodeImport::Dims;

constexpr std::int64_t kMaxKernel = std::int64_t{1} << 30;  // so that nothing overflows below

Result<void> import_conv(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Shape weights, n.shape(1));
  BUDA_ASSIGN(auto window, window_arguments(n, x, weights));
  ops::AttrMap attrs = window.attrs();
  if (n.integer("group", 1) != 1) attrs["groups"] = n.integer("group", 1);
  std::vector<graph::Edge> inputs{n.input(0), n.input(1)};
  if (n.has_input(2)) inputs.emplace_back(n.input(2));
  n.output(n.result().op(cat("conv", window.rank(), "d"), std::move(inputs), std::move(attrs)));
  return success();
}

// Where the size of the result is given (or, with SAME, is the input's times the stride), padding is what makes it so; an odd one is at the
// end for SAME_UPPER and at the beginning otherwise. A result that is larger than all windows gets zeros (or the bias) at the end.
Result<void> pad_for_result(NodeImport& n, const Shape& x, Dims& more, WindowArguments& w) {
  std::string how = n.text("auto_pad", "NOTSET");
  Dims wanted = n.integers("output_shape");
  std::size_t rank = w.rank();
  if (wanted.size() == rank + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);  // some exporters add samples and channels
  if (wanted.empty() && (how == "SAME_UPPER" || how == "SAME_LOWER"))
    for (std::size_t i = 0; i < rank; ++i) wanted.push_back(x[i + 2] * w.stride[i]);
  if (wanted.empty()) return success();
  if (wanted.size() != rank || std::any_of(wanted.begin(), wanted.end(), [](std::int64_t v) { return v < 0 || v > kMaxKernel; }))
    return n.refuse(cat("its output_shape ", list_text(wanted), " needs ", rank, " sizes"));
  for (std::size_t i = 0; i < rank; ++i) {
    std::int64_t total = (x[i + 2] - 1) * w.stride[i] + more[i] + (w.kernel[i] - 1) * w.dilation[i] + 1 - wanted[i];
    if (total < 0) more[i] -= total;
    total = std::max<std::int64_t>(total, 0);
    w.padding[i] = how == "SAME_UPPER" ? total / 2 : total - total / 2;
    w.padding[rank + i] = total - w.padding[i];
  }
  return success();
}

Result<void> import_conv_transpose(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Shape weights, n.shape(1));
  BUDA_ASSIGN(auto window, window_arguments(n, x, weights));
  Dims more = n.has("output_padding") ? n.integers("output_padding") : Dims(window.rank(), 0);
  if (more.size() != window.rank() || std::any_of(more.begin(), more.end(), [](std::int64_t v) { return v < 0 || v > kMaxKernel; }))
    return n.refuse(cat("its output_padding ", list_text(more), " needs ", window.rank(), " numbers, none of them negative"));
  BUDA_TRY(pad_for_result(n, x, more, window));
  ops::AttrMap attrs = window.attrs();
  if (std::any_of(more.begin(), more.end(), [](std::int64_t v) { return v != 0; })) attrs["output_padding"] = more;
  if (n.integer("group", 1) != 1) attrs["groups"] = n.integer("group", 1);
  std::vector<graph::Edge> inputs{n.input(0), n.input(1)};
  if (n.has_input(2)) inputs.emplace_back(n.input(2));
  n.output(n.result().op(cat("conv", window.rank(), "d_transpose"), std::move(inputs), std::move(attrs)));
  return success();
}

// The sum of all blocks, each at its place: a transposed convolution whose kernel has a channel for each element of a block, with a 1 at
// that element.
Result<void> import_col2im(NodeImport& n) {
  constexpr std::int64_t kLargestBlock = 1 << 12;
  BUDA_ASSIGN(auto type, n.type(0));
  BUDA_ASSIGN(Dims image, n.known_integers(1, "image_shape"));
  BUDA_ASSIGN(Dims block, n.known_integers(2, "block_shape"));
  const Shape& x = type.shape;
  if (x.rank() != 3 || block.size() != image.size())
    return n.refuse(cat("its input is ", x.text(), ", its image ", list_text(image), " and its block ", list_text(block),
                        "; [samples, channels * elements of a block, blocks] and two shapes of one rank are needed"));
  Shape sample{1, 1}, kernel{1, 1};
  for (std::size_t i = 0; i < image.size(); ++i) {
    if (image[i] < 1) return n.refuse(cat("its image ", list_text(image), " is impossible"));
    sample.push_back(image[i]);
    kernel.push_back(block[i]);
  }
  BUDA_ASSIGN(auto window, window_arguments(n, sample, kernel));
  BUDA_ASSIGN(Dims windows, frontend::window_counts(n, image, window));
  std::int64_t taps = Shape(block).volume().value_or(kMaxKernel);
  if (taps > kLargestBlock) return n.refuse(cat("its block ", list_text(block), " has more than ", kLargestBlock, " elements"));
  if (Shape(windows).volume() != x[2] || x[1] % taps != 0)
    return n.refuse(cat("its input is ", x.text(), "; blocks of ", taps, " elements at ", list_text(windows), " places are needed"));
  std::int64_t channels = x[1] / taps;
  Shape columns{x[0] * channels, taps}, result{x[0], channels};
  kernel[0] = taps;
  Dims more;
  for (std::size_t i = 0; i < image.size(); ++i) {
    columns.push_back(windows[i]);
    result.push_back(image[i]);
    more.push_back(image[i] - ((windows[i] - 1) * window.stride[i] + (window.kernel[i] - 1) * window.dilation[i] + 1 - window.padding[i] -
                               window.padding[window.rank() + i]));
  }
  DType dtype = is_float(type.dtype) ? type.dtype : DType::f64;
  std::vector<float> ones(static_cast<std::size_t>(taps * taps), 0.0f);
  for (std::int64_t i = 0; i < taps; ++i) ones[static_cast<std::size_t>(i * taps + i)] = 1.0f;
  auto value = n.input(0);
  if (dtype != type.dtype) value = n.cast(value, dtype, "wide");
  auto blocks = n.step("blocks").reshape(value, columns);
  auto places = n.step("places").constant(Tensor(kernel, std::move(ones)).cast(dtype));
  ops::AttrMap attrs = window.attrs();
  if (std::any_of(more.begin(), more.end(), [](std::int64_t v) { return v != 0; })) attrs["output_padding"] = more;
  auto sum = n.step("sum").op(cat("conv", image.size(), "d_transpose"), {blocks, places}, std::move(attrs));
  if (dtype != type.dtype) sum = n.cast(sum, type.dtype, "exact");
  n.output(n.result().reshape(sum, result));
  return success();
}

constexpr OpImporter kConvolutionOps[] = {
    {"Col2Im", 18, import_col2im},
    {"Conv", 1, import_conv},
    {"ConvTranspose", 1, import_conv_transpose},
};

}  // namespace

std::span<const OpImporter> convolution_ops() { return kConvolutionOps; }

}  // namespace buda::onnx_frontend
