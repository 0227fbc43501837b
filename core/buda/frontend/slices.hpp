// SPDX-License-Identifier: Apache-2.0
// Slices with open borders, new axes and indices, as TensorFlow and what derives from it describe them; and mirrored borders.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/frontend/axes.hpp>
#include <buda/frontend/layouts.hpp>
#include <buda/frontend/op_import.hpp>
#include <buda/tensor/shape.hpp>

#include <cstdint>

#pragma GCC visibility push(default)

namespace buda::frontend {

inline constexpr std::int64_t kLargestBorder = std::int64_t{1} << 30;

// x[begin:end:steps] of Python, one entry for each part between the commas. A bit of a mask is for the entry of its number.
struct StridedSlice {
  Dims begin, end, steps;
  std::uint32_t open_begin = 0, open_end = 0;  // the border is left out
  std::uint32_t ellipsis = 0;                  // "...": all axes that have no entry
  std::uint32_t new_axis = 0;                  // an axis of size 1
  std::uint32_t only_index = 0;                // one element, and the axis goes
};

Result<graph::ValueRef> strided_slice(OpImport& op, graph::ValueRef x, const Shape& shape, const StridedSlice& slice);

// `size` elements along each axis from `begin` on; -1: all that follow.
Result<graph::ValueRef> sized_slice(OpImport& op, graph::ValueRef x, const Shape& shape, const Dims& begin, const Dims& size);

// Elements added before and after each axis.
struct Borders {
  Dims before, after;
};
// From pairs for each axis, [before, after, before, after, …].
Result<Borders> borders_of(const OpImport& op, const Dims& pairs, std::size_t rank);

// x with these borders of one number. An image that was computed with channels first gets them there.
graph::ValueRef padded(OpImport& op, Layouts& layouts, graph::ValueRef x, const Borders& borders, double number);

// The elements along each of the axes (which are not negative) in the opposite order.
graph::ValueRef reversed(OpImport& op, graph::ValueRef x, const Dims& axes);

// A border that mirrors x: at its first and last element, or (`repeats`) at its edges, so that these stand there twice.
Result<graph::ValueRef> mirrored(OpImport& op, graph::ValueRef x, const Shape& shape, const Borders& borders, bool repeats);

}  // namespace buda::frontend

#pragma GCC visibility pop
