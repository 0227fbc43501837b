// SPDX-License-Identifier: Apache-2.0
// gather_elements and scatter_elements of many lines: all lines at once, one place or update after the other.
//
// Their decompositions make a matrix of each line, and cores hold some hundreds of those. Along an axis with few places (or updates) the
// same comes from as many selections of whole tensors:
//
//   gather    y = 0;  for each place j:   y = index == j ? x[.., j, ..] : y
//   scatter   y = x;  for each update i:  y = index[.., i, ..] == 0, 1, 2, … ? update[.., i, ..] : y
#pragma once

#include <buda/graph/graph.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/passes/integers/step.hpp>

#include <cstdint>

namespace buda::passes {

// More selections than these are the host's.
inline constexpr std::int64_t kMaxSelections = 32;

// What the note says of the others.
inline constexpr const char* kNoRoomForLines = "since its lines, of which each is a matrix, are more than cores have room for";

// Whether the places of `op`'s axis are compared exactly in a selection.
bool selects_lines(const IntegerStep& s);

// A gather_elements of integers.
Exactness gathered_by_place(IntegerStep& s);

// `target`, one digit of x, with one digit of the updates where the index says. `at` and `source` have one element along the axis.
graph::ValueRef put_in_lines(ops::Builder& b, const IntegerStep& s, graph::ValueRef at, graph::ValueRef target, graph::ValueRef source);

}  // namespace buda::passes
