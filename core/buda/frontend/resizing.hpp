// SPDX-License-Identifier: Apache-2.0
// Images of other sizes, as TensorFlow and TensorFlow Lite describe them: with channels last, and by two flags.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/frontend/axes.hpp>
#include <buda/frontend/layouts.hpp>
#include <buda/frontend/op_import.hpp>
#include <buda/tensor/shape.hpp>

#pragma GCC visibility push(default)

namespace buda::frontend {

// How elements of the result lie between those of the input: the attributes of our op `resize`.
ops::AttrMap bilinear_attrs(bool align_corners, bool half_pixel_centers);
ops::AttrMap nearest_attrs(bool align_corners, bool half_pixel_centers);

// x, of shape [samples, rows, columns, channels], with `size` rows and columns.
Result<graph::ValueRef> resized(OpImport& op, Layouts& layouts, graph::ValueRef x, const Shape& shape, const Dims& size,
                                ops::AttrMap attrs);

}  // namespace buda::frontend

#pragma GCC visibility pop
