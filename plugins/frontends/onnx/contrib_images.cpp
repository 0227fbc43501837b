// SPDX-License-Identifier: Apache-2.0
// onnxruntime's convolutions of images with channels last.
#include "channel_order.hpp"
#include "window.hpp"

#include <buda/base/text.hpp>

namespace buda::onnx_frontend {
namespace {

using Ref = NodeImport::Ref;

// Of the weights, too, channels are last: [outputs, kernel, inputs].
Result<void> import_conv_of_channels_last(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Shape weights, n.shape(1));
  if (x.rank() != weights.rank() || x.rank() < 3)
    return n.refuse(cat("its input is ", x.text(), " and its weights ", weights.text(), ", which do not fit each other"));
  const auto first = channels_first(x.rank()), last = channels_last(x.rank());
  BUDA_ASSIGN(auto window, window_arguments(n, turned_shape(x, first), turned_shape(weights, first)));
  ops::AttrMap attrs = window.attrs();
  if (n.integer("group", 1) != 1) attrs["groups"] = n.integer("group", 1);
  Ref image = n.input(0), kernel = n.input(1);
  image = n.step("first").transpose(image, first);
  kernel = n.step("weights").transpose(kernel, first);
  std::vector<graph::Edge> inputs{image, kernel};
  if (n.has_input(2)) inputs.emplace_back(n.input(2));
  Ref y = n.step("convolved").op(cat("conv", window.rank(), "d"), std::move(inputs), std::move(attrs));
  n.output(n.result().transpose(y, last));
  return success();
}

constexpr OpImporter kContribImageOps[] = {
    {"NhwcConv", 1, import_conv_of_channels_last},
};

}  // namespace

std::span<const OpImporter> contrib_image_ops() { return kContribImageOps; }

}  // namespace buda::onnx_frontend
