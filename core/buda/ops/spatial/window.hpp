// SPDX-License-Identifier: Apache-2.0
// Windows that slide over the last axes of a value: what convolutions and pools have in common.
#pragma once

#include <buda/ops/table/op.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::ops {

inline constexpr std::size_t kMaxSpatialAxes = 3;

// A window along one axis. Tap t of window o stands at element o * stride + t * dilation - before, which may lie outside.
struct WindowAxis {
  std::int64_t in = 1;      // elements
  std::int64_t out = 1;     // windows
  std::int64_t kernel = 1;  // taps
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t before = 0;  // padding
  std::int64_t after = 0;

  std::int64_t first(std::int64_t o) const { return o * stride - before; }
  // Windows [begin, end) whose tap t lies inside.
  struct Range {
    std::int64_t begin, end;
  };
  Range inside(std::int64_t tap) const;
  // Taps [begin, end) beside which none lies inside in any window. A kernel may be far larger than what it slides over.
  Range taps() const;
  // How many taps of window o lie inside.
  std::int64_t taps_inside(std::int64_t o) const;
};

// Always over three axes; those that a value does not have come first and have size 1.
struct Window {
  std::array<WindowAxis, kMaxSpatialAxes> axes;

  std::int64_t in() const { return axes[0].in * axes[1].in * axes[2].in; }
  std::int64_t out() const { return axes[0].out * axes[1].out * axes[2].out; }
  std::int64_t taps() const { return axes[0].kernel * axes[1].kernel * axes[2].kernel; }
  // Is each window one element, and each element one window?
  bool is_identity() const;
  // The last `rank` axes' windows after the given axes of a result.
  Shape result(std::vector<std::int64_t> leading, std::size_t rank) const;
};

// "stride", "dilation" and "padding", as lists.
std::vector<AttrDef> window_attrs();

// Stride, dilation and padding of a node, one entry per axis, with the axes' sizes and the kernel's. A list of the wrong length or with
// impossible numbers is an error. The result has `rank` axes, without numbers of windows.
Result<std::vector<WindowAxis>> window_axes(const Attrs& attrs, const Shape& in, const std::vector<std::int64_t>& kernel);

// The window of a convolution or a pool over a value of shape [samples, channels, …]. With `ceil_mode` a last window may reach beyond the
// padding, if it begins before it.
Result<Window> sliding_window(const Attrs& attrs, const Shape& in, const std::vector<std::int64_t>& kernel, bool ceil_mode = false);

// The same the other way: of a transposed convolution, from whose windows (its input) elements (its output) are made. `in` of each axis
// is then the output's size.
Result<Window> transposed_window(const Attrs& attrs, const Shape& windows, const std::vector<std::int64_t>& kernel);

// An error unless the value has [samples, channels, and `spatial` axes].
Result<void> check_spatial_rank(const Shape& shape, std::size_t spatial, std::string_view what);

}  // namespace buda::ops

#pragma GCC visibility pop
