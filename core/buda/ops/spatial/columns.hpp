// SPDX-License-Identifier: Apache-2.0
// Windows as columns of a matrix (im2col), and back (col2im): a convolution is then a product of matrices.
#pragma once

#include <buda/ops/spatial/window.hpp>

#include <algorithm>
#include <cstdint>

namespace buda::ops {

// f(tap, d, h, w of the tap) for each tap of a window, in row-major order.
template <class F>
void for_each_tap(const Window& window, F&& f) {
  const auto& [d, h, w] = window.axes;
  std::int64_t tap = 0;
  for (std::int64_t i = 0; i < d.kernel; ++i)
    for (std::int64_t j = 0; j < h.kernel; ++j)
      for (std::int64_t k = 0; k < w.kernel; ++k) f(tap++, i, j, k);
}

// The same for those taps alone that lie inside in some window.
template <class F>
void for_each_tap_inside(const Window& window, F&& f) {
  const auto& [d, h, w] = window.axes;
  auto used = [](const WindowAxis& axis, std::int64_t tap) {
    auto range = axis.inside(tap);
    return range.begin < range.end;
  };
  for (std::int64_t i = d.taps().begin; i < d.taps().end; ++i) {
    if (!used(d, i)) continue;
    for (std::int64_t j = h.taps().begin; j < h.taps().end; ++j) {
      if (!used(h, j)) continue;
      for (std::int64_t k = w.taps().begin; k < w.taps().end; ++k) f(i, j, k);
    }
  }
}

// For one tap: f(windows, elements, count) for each run of windows that differ in the last axis alone and whose tap lies inside. `windows`
// and `elements` are the offsets of the first; the next window is 1 further, its element stride of the last axis.
template <class F>
void for_each_run(const Window& window, std::int64_t td, std::int64_t th, std::int64_t tw, F&& f) {
  const auto& [d, h, w] = window.axes;
  auto in_d = d.inside(td), in_h = h.inside(th), in_w = w.inside(tw);
  if (in_w.begin == in_w.end) return;
  for (std::int64_t od = in_d.begin; od < in_d.end; ++od)
    for (std::int64_t oh = in_h.begin; oh < in_h.end; ++oh) {
      std::int64_t row = ((d.first(od) + td * d.dilation) * h.in + h.first(oh) + th * h.dilation) * w.in;
      f((od * h.out + oh) * w.out + in_w.begin, row + w.first(in_w.begin) + tw * w.dilation, in_w.end - in_w.begin);
    }
}

// Matrix of channels * taps rows and one column per window from an image of `channels` channels; 0 outside.
template <class T>
void to_columns(const Window& window, std::int64_t channels, const T* image, T* columns) {
  std::int64_t in = window.in(), out = window.out(), step = window.axes.back().stride;
  for (std::int64_t c = 0; c < channels; ++c)
    for_each_tap(window, [&](std::int64_t tap, std::int64_t d, std::int64_t h, std::int64_t w) {
      T* row = columns + (c * window.taps() + tap) * out;
      std::fill(row, row + out, T{0});
      for_each_run(window, d, h, w, [&](std::int64_t to, std::int64_t from, std::int64_t count) {
        const T* x = image + c * in + from;
        for (std::int64_t i = 0; i < count; ++i) row[to + i] = x[i * step];
      });
    });
}

// Adds each element of the columns to where it came from.
template <class T>
void add_columns(const Window& window, std::int64_t channels, const T* columns, T* image) {
  std::int64_t in = window.in(), out = window.out(), step = window.axes.back().stride;
  for (std::int64_t c = 0; c < channels; ++c)
    for_each_tap(window, [&](std::int64_t tap, std::int64_t d, std::int64_t h, std::int64_t w) {
      const T* row = columns + (c * window.taps() + tap) * out;
      for_each_run(window, d, h, w, [&](std::int64_t from, std::int64_t to, std::int64_t count) {
        T* y = image + c * in + to;
        for (std::int64_t i = 0; i < count; ++i) y[i * step] += row[from + i];
      });
    });
}

}  // namespace buda::ops
