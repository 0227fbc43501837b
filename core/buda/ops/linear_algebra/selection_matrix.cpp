// SPDX-License-Identifier: Apache-2.0
// Selection matrices of windows and of rows.
#include <buda/ops/linear_algebra/selection_matrix.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <array>

namespace buda::ops {
namespace {

using Place = std::array<std::int64_t, kMaxSpatialAxes>;

// f(place) for all places of a box in row-major order.
template <class F>
void for_each_place(const Place& size, F&& f) {
  Place at{};
  for (at[0] = 0; at[0] < size[0]; ++at[0])
    for (at[1] = 0; at[1] < size[1]; ++at[1])
      for (at[2] = 0; at[2] < size[2]; ++at[2]) f(at);
}

Place kernel_of(const Window& w) { return {w.axes[0].kernel, w.axes[1].kernel, w.axes[2].kernel}; }
Place windows_of(const Window& w) { return {w.axes[0].out, w.axes[1].out, w.axes[2].out}; }

// The number of an element, from 1; 0 outside.
std::int32_t element_at(const Window& w, const Place& at) {
  std::int64_t index = 0;
  for (std::size_t i = 0; i < kMaxSpatialAxes; ++i) {
    if (at[i] < 0 || at[i] >= w.axes[i].in) return 0;
    index = index * w.axes[i].in + at[i];
  }
  return static_cast<std::int32_t>(index + 1);
}

Tensor selection_matrix(std::vector<std::int32_t> entries, std::int64_t terms, std::int64_t slices, std::int64_t rows) {
  return Tensor(Shape{terms, slices, rows}, std::move(entries));
}

// `tap_of` may put another tap along an axis in the place of the given one.
template <class F>
Tensor selection_of_taps(const Window& w, F&& tap_of) {
  std::vector<std::int32_t> entries;
  entries.reserve(static_cast<std::size_t>(w.taps() * w.out()));
  for_each_place(kernel_of(w), [&](const Place& tap) {
    for_each_place(windows_of(w), [&](const Place& o) {
      Place at{};
      for (std::size_t i = 0; i < kMaxSpatialAxes; ++i) at[i] = w.axes[i].first(o[i]) + tap_of(i, o[i], tap[i]) * w.axes[i].dilation;
      entries.push_back(element_at(w, at));
    });
  });
  return selection_matrix(std::move(entries), 1, w.taps(), w.out());
}

// Taps [begin, end) of window o that lie inside.
WindowAxis::Range taps_inside(const WindowAxis& axis, std::int64_t o) {
  WindowAxis one = axis;
  one.before -= o * axis.stride;
  one.out = 1;
  return one.taps();
}

}  // namespace

Tensor tap_selection(const Window& window) {
  return selection_of_taps(window, [](std::size_t, std::int64_t, std::int64_t tap) { return tap; });
}

std::optional<Tensor> clamped_tap_selection(const Window& window) {
  std::array<std::vector<WindowAxis::Range>, kMaxSpatialAxes> inside;
  for (std::size_t i = 0; i < kMaxSpatialAxes; ++i)
    for (std::int64_t o = 0; o < window.axes[i].out; ++o) {
      inside[i].push_back(taps_inside(window.axes[i], o));
      if (inside[i].back().begin >= inside[i].back().end) return std::nullopt;
    }
  return selection_of_taps(window, [&](std::size_t axis, std::int64_t o, std::int64_t tap) {
    const auto& range = inside[axis][static_cast<std::size_t>(o)];
    return std::clamp(tap, range.begin, range.end - 1);
  });
}

Tensor scatter_selection(const Window& window, std::int64_t rows_per_tap) {
  std::vector<std::vector<std::int32_t>> sources(static_cast<std::size_t>(window.in()));
  std::size_t terms = 1;
  std::int64_t tap_index = 0;
  for_each_place(kernel_of(window), [&](const Place& tap) {
    std::int64_t o_index = 0;
    for_each_place(windows_of(window), [&](const Place& o) {
      Place at{};
      for (std::size_t i = 0; i < kMaxSpatialAxes; ++i) at[i] = window.axes[i].first(o[i]) + tap[i] * window.axes[i].dilation;
      if (std::int32_t element = element_at(window, at); element != 0) {
        auto& list = sources[static_cast<std::size_t>(element - 1)];
        list.push_back(static_cast<std::int32_t>(tap_index * rows_per_tap + o_index + 1));
        terms = std::max(terms, list.size());
      }
      ++o_index;
    });
    ++tap_index;
  });
  std::vector<std::int32_t> entries(terms * sources.size(), 0);
  for (std::size_t e = 0; e < sources.size(); ++e)
    for (std::size_t k = 0; k < sources[e].size(); ++k) entries[k * sources.size() + e] = sources[e][k];
  return selection_matrix(std::move(entries), static_cast<std::int64_t>(terms), 1, window.in());
}

Tensor window_selection(const Window& window) {
  const Tensor selection = tap_selection(window);
  const auto elements = selection.as<std::int32_t>();
  std::vector<std::int32_t> entries(static_cast<std::size_t>(window.taps() * window.in()), 0);
  for (std::int64_t tap = 0; tap < window.taps(); ++tap)
    for (std::int64_t o = 0; o < window.out(); ++o)
      if (std::int32_t element = elements[static_cast<std::size_t>(tap * window.out() + o)]; element != 0)
        entries[static_cast<std::size_t>(tap * window.in() + element - 1)] = static_cast<std::int32_t>(o + 1);
  return selection_matrix(std::move(entries), 1, window.taps(), window.in());
}

Tensor row_selection(const std::vector<std::int64_t>& rows) {
  std::vector<std::int32_t> entries;
  for (std::int64_t row : rows) entries.push_back(static_cast<std::int32_t>(row + 1));
  return selection_matrix(std::move(entries), 1, 1, static_cast<std::int64_t>(rows.size()));
}

}  // namespace buda::ops
