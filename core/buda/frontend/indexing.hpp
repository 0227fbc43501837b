// SPDX-License-Identifier: Apache-2.0
// Elements by their places, as TensorFlow and TensorFlow Lite describe them.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/frontend/axes.hpp>
#include <buda/frontend/op_import.hpp>
#include <buda/tensor/dtype.hpp>
#include <buda/tensor/shape.hpp>

#pragma GCC visibility push(default)

namespace buda::frontend {

// The slices of a table (of this shape) along an axis that indices (of the other shape) name. `batch` is how many leading axes both share,
// or counts from the end of the indices' axes; other than 0 it must be the axis.
Result<graph::ValueRef> gathered(OpImport& op, graph::ValueRef table, const Shape& shape, graph::ValueRef indices, const Shape& of_indices,
                                 std::int64_t axis, std::int64_t batch);

// Along a new axis of size `depth`: `on` at the index, and `off` elsewhere, as elements of this type.
graph::ValueRef one_hot(OpImport& op, graph::ValueRef indices, std::int64_t depth, double on, double off, DType dtype, std::int64_t axis);

}  // namespace buda::frontend

#pragma GCC visibility pop
