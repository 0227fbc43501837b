// SPDX-License-Identifier: Apache-2.0
// Padding and counts of sliding windows.
#include <buda/frontend/windows.hpp>

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::frontend {
namespace {

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

Dims same_padding(const Dims& sizes, const WindowArguments& w, bool more_before) {
  std::size_t rank = w.rank();
  Dims padding(2 * rank, 0);
  for (std::size_t i = 0; i < rank; ++i) {
    std::int64_t windows = (sizes[i] + w.stride[i] - 1) / w.stride[i];
    std::int64_t total = std::max<std::int64_t>(0, (windows - 1) * w.stride[i] + (w.kernel[i] - 1) * w.dilation[i] + 1 - sizes[i]);
    std::int64_t before = more_before ? total - total / 2 : total / 2;
    padding[i] = before;
    padding[rank + i] = total - before;
  }
  return padding;
}

Result<Dims> window_counts(const OpImport& op, const Dims& sizes, const WindowArguments& w) {
  Dims out;
  for (std::size_t i = 0; i < w.rank(); ++i) {
    std::int64_t room = sizes[i] + w.padding[i] + w.padding[w.rank() + i] - ((w.kernel[i] - 1) * w.dilation[i] + 1);
    if (room < 0) return op.refuse(cat("its window ", list_text(w.kernel), " does not fit into ", list_text(sizes)));
    out.push_back(room / w.stride[i] + 1);
  }
  return out;
}

}  // namespace buda::frontend
