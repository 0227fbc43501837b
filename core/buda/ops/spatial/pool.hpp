// SPDX-License-Identifier: Apache-2.0
// Windows and divisors of pools.
#pragma once

#include <buda/ops/spatial/window.hpp>

#include <vector>

#pragma GCC visibility push(default)

namespace buda::ops {

// The window of a pool over x [samples, channels, …], whose attributes these are.
Result<Window> pool_window(const Shape& x, const Attrs& attrs, std::size_t rank);

// What a mean divides the sum of each window by, in row-major order. 0 for a window of padding alone, whose mean is 0.
std::vector<double> pool_divisors(const Window& window, const Attrs& attrs);

}  // namespace buda::ops

#pragma GCC visibility pop
