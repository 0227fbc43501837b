// SPDX-License-Identifier: Apache-2.0
// Making selection matrices: the sparse matrices by which windows that slide over places, and other movements of rows, become products
// (sparse.hpp).
#pragma once

#include <buda/ops/spatial/window.hpp>
#include <buda/tensor/fwd.hpp>

#include <cstdint>
#include <optional>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::ops {

// For each tap of the window and each window the element at the tap's position: [1, taps, windows], taps and windows in row-major order.
// Taps outside the input name nothing.
Tensor tap_selection(const Window& window);

// The same where every tap names an element: one that lies outside gives way to the window's nearest tap inside, so that a maximum over
// taps is right whatever the sign of the data. Nothing when some window has no tap inside.
std::optional<Tensor> clamped_tap_selection(const Window& window);

// The other way round, for a transposed convolution: for each element those taps of windows that cover it, [terms, 1, elements]. Tap t
// of window o is row t * rows_per_tap + o.
Tensor scatter_selection(const Window& window, std::int64_t rows_per_tap);

// The same for products tap by tap: for each tap and each element the window whose tap stands there, [1, taps, elements].
Tensor window_selection(const Window& window);

// One row for each index: [1, 1, indices]. -1 names nothing.
Tensor row_selection(const std::vector<std::int64_t>& rows);

}  // namespace buda::ops

#pragma GCC visibility pop
