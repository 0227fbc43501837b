// SPDX-License-Identifier: Apache-2.0
// Attributes of sliding windows.
#include "window.hpp"

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::onnx_frontend {
namespace {

using Dims = NodeImport::Dims;

constexpr std::int64_t kLargest = std::int64_t{1} << 30;  // so that nothing overflows below

Result<Dims> list(const NodeImport& n, std::string_view name, std::size_t size, std::int64_t standard, std::int64_t least) {
  Dims given = n.has(name) ? n.integers(name) : Dims(size, standard);
  if (given.size() != size) return n.refuse(cat("its ", name, ' ', list_text(given), " needs ", size, " numbers"));
  for (auto v : given)
    if (v < least || v > kLargest)
      return n.refuse(cat("its ", name, ' ', list_text(given), " has ", v, "; ", least, " to ", kLargest, " is read"));
  return given;
}

Result<Dims> automatic_padding(const NodeImport& n, const Shape& x, const WindowArguments& w) {
  std::string how = n.text("auto_pad", "NOTSET");
  if (how == "VALID") return Dims(2 * w.rank(), 0);
  if (how != "SAME_UPPER" && how != "SAME_LOWER") return n.refuse(cat("its auto_pad '", how, "' is unknown to ONNX"));
  return frontend::same_padding(Dims(x.begin() + 2, x.end()), w, how == "SAME_LOWER");
}

Result<WindowArguments> arguments(const NodeImport& n, const Shape& x, Dims kernel) {
  WindowArguments w;
  std::size_t rank = kernel.size();
  if (rank < 1 || rank > 3 || x.rank() != rank + 2)
    return n.refuse(cat("its window ", list_text(kernel), " does not fit its input ", x.text(),
                        "; one to three axes after the first two are supported"));
  for (auto size : x)
    if (size > kLargest) return n.refuse(cat("its input ", x.text(), " is too large"));
  for (auto k : kernel)
    if (k < 1 || k > kLargest) return n.refuse(cat("its kernel ", list_text(kernel), " is impossible"));
  w.kernel = std::move(kernel);
  BUDA_ASSIGN(w.stride, list(n, "strides", rank, 1, 1));
  BUDA_ASSIGN(w.dilation, list(n, "dilations", rank, 1, 1));
  if (n.text("auto_pad", "NOTSET") == "NOTSET") {
    BUDA_ASSIGN(w.padding, list(n, "pads", 2 * rank, 0, 0));
  } else {
    BUDA_ASSIGN(w.padding, automatic_padding(n, x, w));
  }
  return w;
}

}  // namespace

Result<WindowArguments> window_arguments(const NodeImport& n, const Shape& x) {
  if (!n.has("kernel_shape")) return n.refuse("has no kernel_shape");
  return arguments(n, x, n.integers("kernel_shape"));
}

Result<WindowArguments> window_arguments(const NodeImport& n, const Shape& x, const Shape& weights) {
  if (weights.rank() < 3)
    return n.refuse(cat("its weights are ", weights.text(), "; a kernel of one to three axes after the first two is supported"));
  Dims kernel(weights.begin() + 2, weights.end());
  if (n.has("kernel_shape") && n.integers("kernel_shape") != kernel)
    return n.refuse(cat("its kernel_shape ", list_text(n.integers("kernel_shape")), " is not that of its weights ", weights.text()));
  return arguments(n, x, std::move(kernel));
}

}  // namespace buda::onnx_frontend
