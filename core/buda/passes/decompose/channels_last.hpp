// SPDX-License-Identifier: Apache-2.0
// The layout in which values with places and channels live on a device: one row for each place, one column for each channel.
//
// Frameworks keep [samples, channels, size, …]. A chip multiplies rows by matrices, so that convolutions and pools work on
// [samples, 1, places, channels]. Decompositions go there and back around each op; passes cancel the pairs between neighbours.
#pragma once

#include <buda/ops/whole_graph/builder.hpp>

#pragma GCC visibility push(default)

namespace buda::passes {

// [samples, channels, sizes…] as [samples, 1, places, channels].
graph::Edge to_rows(ops::Builder& b, const graph::Edge& x);
// The way back, to `shape` = [samples, channels, sizes…].
graph::ValueRef from_rows(ops::Builder& b, const graph::Edge& rows, const Shape& shape);

// An axis filled up with zeros at its end; the value itself when there is nothing to add.
graph::Edge padded_to(ops::Builder& b, const graph::Edge& x, std::size_t axis, std::int64_t size);
// Its first `size` elements along an axis.
graph::Edge narrowed_to(ops::Builder& b, const graph::Edge& x, std::size_t axis, std::int64_t size);

// [samples, taps, places, channels] as [samples, 1, places, taps * channels]: taps side by side.
graph::Edge taps_to_columns(ops::Builder& b, const graph::Edge& x);

}  // namespace buda::passes

#pragma GCC visibility pop
