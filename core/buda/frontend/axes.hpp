// SPDX-License-Identifier: Apache-2.0
// Axes and shapes as models name them: counted from the end, left open, seen as a matrix.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/frontend/op_import.hpp>
#include <buda/tensor/shape.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::frontend {

using Dims = std::vector<std::int64_t>;

// An axis of a value of this rank, counted from the end where negative.
Result<std::int64_t> axis_of(const OpImport& op, std::int64_t axis, std::size_t rank);
// The same for several, sorted; a repetition is an error.
Result<Dims> axes_of(const OpImport& op, const Dims& axes, std::size_t rank);

// The order of a transpose, with axes counted from the start; one that is not an order of all axes is an error.
Result<Dims> permutation_of(const OpImport& op, const Dims& given, std::size_t rank);

// The shape [product of the sizes before the axis, product of the others].
Result<Shape> as_matrix(const OpImport& op, const Shape& shape, std::int64_t axis);

// The shape that a value of shape `from` is reshaped to: one -1 is what the other sizes leave, and a 0 takes over the size of `from` when
// `zero_copies`.
Result<Shape> reshape_target(const OpImport& op, const Shape& from, const Dims& wanted, bool zero_copies);

// `shape`, with axes of size 1 at its end so that its first axis meets `axis` of a value of shape `onto` in NumPy's broadcasting.
Result<Shape> aligned_from(const OpImport& op, Shape shape, const Shape& onto, std::int64_t axis);

// [1, channels, 1, …, 1]: one number for each channel, for elementwise operations with a value [samples, channels, …] of this rank.
Shape channel_shape(std::int64_t channels, std::size_t rank);

}  // namespace buda::frontend

#pragma GCC visibility pop
