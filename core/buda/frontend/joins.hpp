// SPDX-License-Identifier: Apache-2.0
// Values joined along an axis, and cut along one.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/frontend/axes.hpp>
#include <buda/frontend/layouts.hpp>
#include <buda/frontend/op_import.hpp>
#include <buda/tensor/shape.hpp>

#include <vector>

#pragma GCC visibility push(default)

namespace buda::frontend {

struct Joined {
  graph::ValueRef value;
  bool channels_first = false;  // it is still to be brought into the file's order
};
// The parts, of this rank, after each other along the axis. Images that were all computed with channels first are joined so. `named` is set
// to give the name of the concatenation.
Joined joined(ops::Builder& named, const Layouts& layouts, const std::vector<graph::ValueRef>& parts, std::int64_t axis, std::size_t rank);

// The parts along a new axis; and the way back: `count` slices, without the axis.
graph::ValueRef stacked(OpImport& op, const std::vector<graph::ValueRef>& parts, std::int64_t axis);
std::vector<graph::ValueRef> unstacked(OpImport& op, graph::ValueRef x, std::int64_t axis, std::int64_t count);

// The sizes of `count` equal parts along the axis of a value of shape x.
Result<Dims> equal_sizes(const OpImport& op, const Shape& x, std::int64_t axis, std::int64_t count);
// The sizes as given, of which one may be -1: what the others leave.
Result<Dims> part_sizes(const OpImport& op, const Shape& x, std::int64_t axis, Dims given);
// The parts of these sizes.
std::vector<graph::ValueRef> parts_of(OpImport& op, graph::ValueRef x, std::int64_t axis, const Dims& sizes);

}  // namespace buda::frontend

#pragma GCC visibility pop
