// SPDX-License-Identifier: Apache-2.0
// Elements of images that move between space, depth and samples, block by block; images are [samples, rows, columns, channels].
#pragma once

#include <buda/diag/result.hpp>
#include <buda/frontend/axes.hpp>
#include <buda/frontend/op_import.hpp>
#include <buda/tensor/shape.hpp>

#include <cstdint>

#pragma GCC visibility push(default)

namespace buda::frontend {

// The places inside a block of b x b become channels, and the way back.
Result<graph::ValueRef> space_to_depth(OpImport& op, graph::ValueRef x, const Shape& shape, std::int64_t b);
Result<graph::ValueRef> depth_to_space(OpImport& op, graph::ValueRef x, const Shape& shape, std::int64_t b);

// The places inside a block, one size for each of the axes behind the first, become samples, and the way back. `pairs` are paddings (crops)
// before and after each of these axes; the border that is added is `border`.
Result<graph::ValueRef> space_to_batch(OpImport& op, graph::ValueRef x, const Shape& shape, const Dims& block, const Dims& pairs,
                                       double border);
Result<graph::ValueRef> batch_to_space(OpImport& op, graph::ValueRef x, const Shape& shape, const Dims& block, const Dims& pairs);

// The attributes of a transposed convolution whose result is to have these sizes: it undoes a convolution of the same window, stride and
// padding ("same" or none). What is cut off less than the result needs is added at the end. All lists have an entry for each spatial axis.
Result<ops::AttrMap> transposed_window(const OpImport& op, const Dims& x, const Dims& kernel, const Dims& result, const Dims& stride,
                                       bool same);

}  // namespace buda::frontend

#pragma GCC visibility pop
