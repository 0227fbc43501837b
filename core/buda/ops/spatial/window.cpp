// SPDX-License-Identifier: Apache-2.0
// Sizes of sliding windows.
#include <buda/ops/spatial/window.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>
#include <buda/ops/table/rules.hpp>

#include <algorithm>

namespace buda::ops {
namespace {

// Products and sums of two such numbers do not overflow.
constexpr std::int64_t kLargest = std::int64_t{1} << 30;

Result<std::vector<std::int64_t>> list(const Attrs& attrs, std::string_view name, std::size_t size, std::int64_t standard,
                                       std::int64_t least) {
  const auto& given = attrs.integers(name);
  if (given.empty()) return std::vector<std::int64_t>(size, standard);
  if (given.size() != size) return shape_error(cat("'", name, "' ", list_text(given), " needs ", size, " numbers here"));
  for (std::int64_t v : given)
    if (v < least || v > kLargest)
      return shape_error(cat("'", name, "' ", list_text(given), " has ", v, "; ", least, " to ", kLargest, " is possible"));
  return given;
}

Window in_three_axes(const std::vector<WindowAxis>& axes) {
  Window window;
  std::copy(axes.begin(), axes.end(), window.axes.end() - static_cast<std::ptrdiff_t>(axes.size()));
  return window;
}

}  // namespace

WindowAxis::Range WindowAxis::inside(std::int64_t tap) const {
  std::int64_t at = tap * dilation - before;  // of window 0
  std::int64_t begin = at >= 0 ? 0 : (-at + stride - 1) / stride;
  std::int64_t end = at >= in ? 0 : (in - 1 - at) / stride + 1;
  begin = std::min(begin, out);
  return {begin, std::clamp(end, begin, out)};
}

WindowAxis::Range WindowAxis::taps() const {
  std::int64_t first_reach = before - (out - 1) * stride, last_reach = in - 1 + before;
  std::int64_t begin = first_reach <= 0 ? 0 : std::min(kernel, (first_reach + dilation - 1) / dilation);
  std::int64_t end = last_reach < 0 ? 0 : std::min(kernel, last_reach / dilation + 1);
  return {begin, std::max(begin, end)};
}

std::int64_t WindowAxis::taps_inside(std::int64_t o) const {
  WindowAxis one = *this;
  one.before -= o * stride;
  one.out = 1;
  Range range = one.taps();
  return range.end - range.begin;
}

bool Window::is_identity() const {
  return std::all_of(axes.begin(), axes.end(),
                     [](const WindowAxis& a) { return a.kernel == 1 && a.stride == 1 && a.before == 0 && a.after == 0; });
}

Shape Window::result(std::vector<std::int64_t> leading, std::size_t rank) const {
  for (std::size_t i = kMaxSpatialAxes - rank; i < kMaxSpatialAxes; ++i) leading.push_back(axes[i].out);
  return Shape(std::move(leading));
}

std::vector<AttrDef> window_attrs() {
  using Ints = std::vector<std::int64_t>;
  return {{"stride", AttrType::integers, Ints(), "elements between windows, for each axis; none: 1", {}},
          {"padding", AttrType::integers, Ints(), "elements added before the first of each axis, then those after the last; none: 0", {}},
          {"dilation", AttrType::integers, Ints(), "elements between neighbours in a window, for each axis; none: 1", {}}};
}

Result<std::vector<WindowAxis>> window_axes(const Attrs& attrs, const Shape& in, const std::vector<std::int64_t>& kernel) {
  std::size_t rank = kernel.size();
  BUDA_ASSIGN(auto stride, list(attrs, "stride", rank, 1, 1));
  BUDA_ASSIGN(auto dilation, list(attrs, "dilation", rank, 1, 1));
  BUDA_ASSIGN(auto padding, list(attrs, "padding", 2 * rank, 0, 0));
  std::vector<WindowAxis> axes(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    if (kernel[i] < 1 || kernel[i] > kLargest) return shape_error(cat("a window of ", list_text(kernel), " elements is impossible"));
    std::int64_t size = in[in.rank() - rank + i];
    if (size > kLargest * kLargest) return shape_error(cat("an axis of ", size, " elements is too long"));
    axes[i] = {size, 1, kernel[i], stride[i], dilation[i], padding[i], padding[rank + i]};
  }
  return axes;
}

Result<Window> sliding_window(const Attrs& attrs, const Shape& in, const std::vector<std::int64_t>& kernel, bool ceil_mode) {
  BUDA_ASSIGN(auto axes, window_axes(attrs, in, kernel));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    WindowAxis& a = axes[i];
    std::int64_t padded = a.in + a.before + a.after, reach = (a.kernel - 1) * a.dilation + 1;
    if (reach > padded)
      return shape_error(cat("a window of ", reach, " elements does not fit into axis ", in.rank() - axes.size() + i, " of ", in.text(),
                             ", which has ", padded, " with padding"));
    std::int64_t rest = padded - reach;
    a.out = (ceil_mode ? (rest + a.stride - 1) / a.stride : rest / a.stride) + 1;
    if (ceil_mode && (a.out - 1) * a.stride >= a.in + a.before && a.out > 1) --a.out;
  }
  return in_three_axes(axes);
}

Result<Window> transposed_window(const Attrs& attrs, const Shape& windows, const std::vector<std::int64_t>& kernel) {
  BUDA_ASSIGN(auto axes, window_axes(attrs, windows, kernel));
  BUDA_ASSIGN(auto more, list(attrs, "output_padding", kernel.size(), 0, 0));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    WindowAxis& a = axes[i];
    a.out = a.in;
    auto span = checked_mul(a.out - 1, a.stride);
    if (!span || *span > kLargest * kLargest) return shape_error(cat("an axis of ", a.out, " windows ", a.stride, " apart is too long"));
    a.in = *span + (a.kernel - 1) * a.dilation + 1 + more[i] - a.before - a.after;
    if (a.in < 0 || a.out == 0)
      return shape_error(cat("axis ", windows.rank() - axes.size() + i, " of the result would have ", a.in, " elements"));
  }
  return in_three_axes(axes);
}

Result<void> check_spatial_rank(const Shape& shape, std::size_t spatial, std::string_view what) {
  if (shape.rank() == spatial + 2) return success();
  return shape_error(cat(what, " is ", shape.text(), "; it needs ", spatial + 2, " axes: two and then ", spatial, " for the window"));
}

}  // namespace buda::ops
