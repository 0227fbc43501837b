// SPDX-License-Identifier: Apache-2.0
// Convolutions and pools. Kernels are [rows, columns, inputs, outputs]; images have the order that the node names.
#include "fused.hpp"
#include "node_import.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/image_blocks.hpp>
#include <buda/frontend/windows.hpp>

namespace buda::tensorflow_frontend {
namespace {

using Ref = NodeImport::Ref;
using frontend::Dims;

constexpr std::int64_t kLargest = std::int64_t{1} << 30;  // so that nothing overflows

// An image as the node has it: its sizes, whatever their order.
struct Image {
  std::int64_t samples = 0, channels = 0;
  Dims sizes;  // of rows and columns (and depth before them)
};

Result<Image> image_of(const NodeImport& n, const Shape& x, std::size_t spatial) {
  if (x.rank() != spatial + 2) return n.refuse(cat("its input is ", x.text(), "; ", spatial + 2, " axes are needed"));
  for (auto size : x)
    if (size > kLargest) return n.refuse(cat("its input ", x.text(), " is too large"));
  std::size_t first = n.channels_last() ? 1 : 2;
  Image out{x[0], n.channels_last() ? x[x.rank() - 1] : x[1], {}};
  for (std::size_t i = 0; i < spatial; ++i) out.sizes.push_back(x[first + i]);
  return out;
}

// What a list with an entry for each axis of the image says of its sizes; `standard` where there is no list.
Result<Dims> for_sizes(const NodeImport& n, const Dims& list, std::size_t spatial, std::string_view what) {
  if (list.empty()) return Dims(spatial, 1);
  std::size_t first = n.channels_last() ? 1 : 2;
  if (list.size() != spatial + 2) return n.refuse(cat("its ", what, ' ', list_text(list), " has not one number for each axis"));
  for (std::size_t i = 0; i < list.size(); ++i) {
    bool inside = i >= first && i < first + spatial;
    if (list[i] < 1 || list[i] > kLargest || (!inside && list[i] != 1))
      return n.refuse(cat("its ", what, ' ', list_text(list), " has ", list[i], ", which is not supported there"));
  }
  return Dims(list.begin() + static_cast<std::ptrdiff_t>(first), list.begin() + static_cast<std::ptrdiff_t>(first + spatial));
}

Result<void> add_padding(const NodeImport& n, const Image& image, frontend::WindowArguments& window) {
  std::string padding = n.text("padding", "VALID");
  std::size_t spatial = window.rank();
  window.padding = Dims(2 * spatial, 0);
  if (padding == "VALID") return success();
  if (padding == "SAME") {
    window.padding = frontend::same_padding(image.sizes, window, false);
    return success();
  }
  Dims pairs = n.integers("explicit_paddings");
  if (padding != "EXPLICIT" || pairs.size() != 2 * (spatial + 2))
    return n.refuse(cat("its padding is '", padding, "' with ", pairs.size(), " numbers"));
  std::size_t first = n.channels_last() ? 1 : 2;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    std::size_t axis = i / 2;
    if (pairs[i] < 0 || pairs[i] > kLargest || (pairs[i] != 0 && (axis < first || axis >= first + spatial)))
      return n.refuse(cat("its paddings ", list_text(pairs), " have ", pairs[i], ", which is not supported there"));
    if (axis >= first && axis < first + spatial) window.padding[(i % 2) * spatial + axis - first] = pairs[i];
  }
  return success();
}

struct Windows {
  Image image;
  frontend::WindowArguments arguments;
};

Result<Windows> windows_of(const NodeImport& n, const Shape& x, Dims kernel, const Dims& strides, const Dims& dilations) {
  std::size_t spatial = kernel.size();
  for (auto k : kernel)
    if (k < 1 || k > kLargest) return n.refuse(cat("its window ", list_text(kernel), " has ", k));
  Windows out;
  BUDA_ASSIGN(out.image, image_of(n, x, spatial));
  out.arguments.kernel = std::move(kernel);
  BUDA_ASSIGN(out.arguments.stride, for_sizes(n, strides, spatial, "strides"));
  BUDA_ASSIGN(out.arguments.dilation, for_sizes(n, dilations, spatial, "dilations"));
  BUDA_TRY(add_padding(n, out.image, out.arguments));
  return out;
}

// A convolution of the node's image, and what follows it in the same node; x, the kernel and further arguments are the node's inputs.
Result<void> convolve(NodeImport& n, Ref kernel, std::int64_t results, ops::AttrMap attrs) {
  FollowingOps following(n, 2);
  BUDA_ASSIGN(Ref bias, following.take_bias(results));
  Ref image = n.image(0);
  std::vector<graph::Edge> inputs{image, kernel};
  if (bias.valid()) inputs.emplace_back(bias);
  Ref y = following.before().op("conv2d", std::move(inputs), std::move(attrs));
  BUDA_ASSIGN(y, following.apply(y, true));
  n.output(n.as_node_has_it(y));
  return success();
}

Result<void> import_conv(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Shape w, n.shape(1));
  if (w.rank() != 4) return n.refuse(cat("its kernel is ", w.text(), "; [rows, columns, inputs, outputs] is needed"));
  BUDA_ASSIGN(Windows windows, windows_of(n, x, {w[0], w[1]}, n.integers("strides"), n.integers("dilations")));
  if (w[2] < 1 || windows.image.channels % w[2] != 0) return n.refuse(cat("its input ", x.text(), " has no groups of ", w[2], " channels"));
  ops::AttrMap attrs = windows.arguments.attrs();
  if (windows.image.channels != w[2]) attrs["groups"] = windows.image.channels / w[2];
  Ref kernel = n.input(1);
  kernel = n.step("kernel").transpose(kernel, {3, 2, 0, 1});
  return convolve(n, kernel, w[3], std::move(attrs));
}

// The kernel is [rows, columns, channels, results of each]; result c * results + m is the m-th one of channel c, here as there.
Result<void> import_depthwise(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Shape w, n.shape(1));
  if (w.rank() != 4) return n.refuse(cat("its kernel is ", w.text(), "; [rows, columns, channels, results of each] is needed"));
  BUDA_ASSIGN(Windows windows, windows_of(n, x, {w[0], w[1]}, n.integers("strides"), n.integers("dilations")));
  if (windows.image.channels != w[2]) return n.refuse(cat("its kernel ", w.text(), " does not fit its input ", x.text()));
  ops::AttrMap attrs = windows.arguments.attrs();
  if (w[2] != 1) attrs["groups"] = w[2];
  Ref kernel = n.input(1);
  kernel = n.step("kernel.first").transpose(kernel, {2, 3, 0, 1});
  kernel = n.step("kernel").reshape(kernel, Shape{w[2] * w[3], 1, w[0], w[1]});
  return convolve(n, kernel, w[2] * w[3], std::move(attrs));
}

// The transpose of a convolution, given its gradient's inputs: sizes of the result, kernel [rows, columns, results, inputs], x.
Result<void> import_transposed(NodeImport& n) {
  BUDA_ASSIGN(Dims result, n.known_integers(0, "sizes of the result"));
  BUDA_ASSIGN(Shape w, n.shape(1));
  BUDA_ASSIGN(Shape x, n.shape(2));
  if (w.rank() != 4 || (result.size() != 4 && result.size() != 2))
    return n.refuse(cat("its kernel is ", w.text(), " and its result ", list_text(result), "; four axes are needed"));
  BUDA_ASSIGN(Image image, image_of(n, x, 2));
  BUDA_ASSIGN(Dims dilation, for_sizes(n, n.integers("dilations"), 2, "dilations"));
  if (dilation != Dims{1, 1}) return n.refuse(cat("its dilations ", list_text(dilation), " are not supported"));
  BUDA_ASSIGN(Dims stride, for_sizes(n, n.integers("strides"), 2, "strides"));
  std::string padding = n.text("padding", "VALID");
  if (padding != "SAME" && padding != "VALID") return n.refuse(cat("its padding is '", padding, "', which is not supported"));
  std::size_t first = result.size() == 2 ? 0 : n.channels_last() ? 1 : 2;
  BUDA_ASSIGN(auto attrs,
              frontend::transposed_window(n, image.sizes, {w[0], w[1]}, {result[first], result[first + 1]}, stride, padding == "SAME"));
  Ref in = n.image(2), kernel = n.input(1);
  kernel = n.step("kernel").transpose(kernel, {3, 2, 0, 1});
  n.output(n.as_node_has_it(n.result().op("conv2d_transpose", {in, kernel}, std::move(attrs))));
  return success();
}

Result<void> import_conv_3d(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Shape w, n.shape(1));
  if (w.rank() != 5) return n.refuse(cat("its kernel is ", w.text(), "; five axes are needed"));
  BUDA_ASSIGN(Windows windows, windows_of(n, x, {w[0], w[1], w[2]}, n.integers("strides"), n.integers("dilations")));
  Ref image = n.input(0), kernel = n.input(1);
  if (n.channels_last()) image = n.step("first").transpose(image, {0, 4, 1, 2, 3});
  kernel = n.step("kernel").transpose(kernel, {4, 3, 0, 1, 2});
  bool last = n.channels_last();
  Ref y = (last ? n.step("channels_first") : n.result()).op("conv3d", {image, kernel}, windows.arguments.attrs());
  n.output(last ? n.result().transpose(y, {0, 2, 3, 4, 1}) : y);
  return success();
}

Result<void> pool(NodeImport& n, const Dims& ksize, const Dims& strides) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  std::size_t spatial = x.rank() == 5 ? 3 : 2;
  BUDA_ASSIGN(Dims kernel, for_sizes(n, ksize, spatial, "window"));
  BUDA_ASSIGN(Windows windows, windows_of(n, x, kernel, strides, {}));
  ops::AttrMap attrs = windows.arguments.attrs();
  attrs["kernel"] = kernel;
  if (n.importer().op == "avg_pool") attrs["count_include_pad"] = false;
  std::string op = cat(n.importer().op, spatial, 'd');
  if (spatial == 2) {
    Ref image = n.image(0);
    n.output(n.as_node_has_it(n.result().op(op, {image}, std::move(attrs))));
    return success();
  }
  Ref image = n.input(0);
  bool last = n.channels_last();
  if (last) image = n.step("first").transpose(image, {0, 4, 1, 2, 3});
  Ref y = (last ? n.step("channels_first") : n.result()).op(op, {image}, std::move(attrs));
  n.output(last ? n.result().transpose(y, {0, 2, 3, 4, 1}) : y);
  return success();
}

Result<void> import_pool(NodeImport& n) { return pool(n, n.integers("ksize"), n.integers("strides")); }

Result<void> import_pool_v2(NodeImport& n) {
  BUDA_ASSIGN(Dims ksize, n.known_integers(1, "window"));
  BUDA_ASSIGN(Dims strides, n.known_integers(2, "strides"));
  return pool(n, ksize, strides);
}

constexpr OpImporter kConvolutionOps[] = {
    {"AvgPool", import_pool, "avg_pool"},
    {"AvgPool3D", import_pool, "avg_pool"},
    {"Conv2D", import_conv},
    {"Conv2DBackpropInput", import_transposed, {}, "a transposed convolution; sizes of the result known"},
    {"Conv3D", import_conv_3d},
    {"DepthwiseConv2dNative", import_depthwise},
    {"MaxPool", import_pool, "max_pool"},
    {"MaxPool3D", import_pool, "max_pool"},
    {"MaxPoolV2", import_pool_v2, "max_pool", "window and strides known"},
    {"FusedDepthwiseConv2dNative", import_depthwise, {}, "with what follows it, as for `_FusedConv2D`"},
    {"_FusedConv2D",
     import_conv,
     {},
     "followed by Add, BiasAdd, Elu, FusedBatchNorm, GeluApproximate, GeluExact, LeakyRelu, Mul, Prelu, Relu, Relu6, Sigmoid, Swish, Tanh"},
    {"_FusedDepthwiseConv2dNative", import_depthwise, {}, "with what follows it, as for `_FusedConv2D`"},
};

}  // namespace

std::span<const OpImporter> convolution_ops() { return kConvolutionOps; }

}  // namespace buda::tensorflow_frontend
