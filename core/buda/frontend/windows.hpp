// SPDX-License-Identifier: Apache-2.0
// Sliding windows as models describe them: which padding "same" means, and how many windows there are.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/frontend/axes.hpp>
#include <buda/frontend/op_import.hpp>
#include <buda/ops/table/op.hpp>

#pragma GCC visibility push(default)

namespace buda::frontend {

struct WindowArguments {
  Dims kernel, stride, dilation;  // one entry per spatial axis
  Dims padding;                   // before each axis, then after each

  std::size_t rank() const { return kernel.size(); }
  // stride, dilation and padding as our ops have them, without those that have their standard values.
  ops::AttrMap attrs() const;
};

// The padding with which as many windows fit along each axis as strides begin inside. What that needs is shared between both ends; an odd
// one goes to the end, or to the beginning when `more_before`. `sizes` are those of the spatial axes, up to 2^30 like all that `window`
// has.
Dims same_padding(const Dims& sizes, const WindowArguments& window, bool more_before);

// How many windows fit along each axis, of these sizes. A window that does not fit is refused.
Result<Dims> window_counts(const OpImport& op, const Dims& sizes, const WindowArguments& window);

}  // namespace buda::frontend

#pragma GCC visibility pop
