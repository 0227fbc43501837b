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

// SAME: as many windows as strides begin inside; what padding that needs is shared between both ends, an odd one at the end (UPPER) or the
// beginning (LOWER).
Result<Dims> automatic_padding(const NodeImport& n, const Shape& x, const WindowArguments& w) {
  std::string how = n.text("auto_pad", "NOTSET");
  std::size_t rank = w.rank();
  Dims padding(2 * rank, 0);
  if (how == "VALID") return padding;
  if (how != "SAME_UPPER" && how != "SAME_LOWER") return n.refuse(cat("its auto_pad '", how, "' is unknown to ONNX"));
  for (std::size_t i = 0; i < rank; ++i) {
    std::int64_t in = x[i + 2], windows = (in + w.stride[i] - 1) / w.stride[i];
    std::int64_t total = std::max<std::int64_t>(0, (windows - 1) * w.stride[i] + (w.kernel[i] - 1) * w.dilation[i] + 1 - in);
    std::int64_t before = how == "SAME_UPPER" ? total / 2 : total - total / 2;
    padding[i] = before;
    padding[rank + i] = total - before;
  }
  return padding;
}

Result<WindowArguments> arguments(const NodeImport& n, const Shape& x, Dims kernel) {
  WindowArguments w;
  std::size_t rank = kernel.size();
  if (rank < 1 || rank > 3 || x.rank() != rank + 2)
    return n.refuse(
        cat("its window ", list_text(kernel), " does not fit its input ", x.text(), "; one to three axes after the first two are read"));
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

bool all(const Dims& dims, std::int64_t value) {
  return std::all_of(dims.begin(), dims.end(), [value](std::int64_t v) { return v == value; });
}

}  // namespace

ops::AttrMap WindowArguments::attrs() const {
  ops::AttrMap out;
  if (!all(stride, 1)) out["stride"] = stride;
  if (!all(dilation, 1)) out["dilation"] = dilation;
  if (!all(padding, 0)) out["padding"] = padding;
  return out;
}

Result<WindowArguments> window_arguments(const NodeImport& n, const Shape& x) {
  if (!n.has("kernel_shape")) return n.refuse("has no kernel_shape");
  return arguments(n, x, n.integers("kernel_shape"));
}

Result<WindowArguments> window_arguments(const NodeImport& n, const Shape& x, const Shape& weights) {
  if (weights.rank() < 3)
    return n.refuse(cat("its weights are ", weights.text(), "; a kernel of one to three axes after the first two is read"));
  Dims kernel(weights.begin() + 2, weights.end());
  if (n.has("kernel_shape") && n.integers("kernel_shape") != kernel)
    return n.refuse(cat("its kernel_shape ", list_text(n.integers("kernel_shape")), " is not that of its weights ", weights.text()));
  return arguments(n, x, std::move(kernel));
}

Result<Dims> window_counts(const NodeImport& n, const Dims& sizes, const WindowArguments& w) {
  Dims out;
  for (std::size_t i = 0; i < w.rank(); ++i) {
    std::int64_t room = sizes[i] + w.padding[i] + w.padding[w.rank() + i] - ((w.kernel[i] - 1) * w.dilation[i] + 1);
    if (room < 0) return n.refuse(cat("its window ", list_text(w.kernel), " does not fit into ", list_text(sizes)));
    out.push_back(room / w.stride[i] + 1);
  }
  return out;
}

}  // namespace buda::onnx_frontend
