// SPDX-License-Identifier: Apache-2.0
// Ops of the tensor level that only change the shape or the order of elements, and chains of them.
#pragma once

#include <buda/graph/graph.hpp>
#include <buda/passes/layout/rearrangement.hpp>
#include <buda/passes/lower/axes.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace buda::passes {

// Whether the node gives the elements of its only input under another shape, in the same order: reshapes, and transposes that move only
// axes of size 1.
bool is_reshape(const graph::Graph& graph, const graph::Node& n);
// Whether it moves elements, one to one: reshapes and transposes.
bool is_rearrangement(const graph::Node& n);

// A chain of reshapes and transposes: the value with which it begins, and what it does to that value.
struct Chain {
  graph::Edge root;
  Rearrangement how;
};

// The longest chain that ends with the value and is one rearrangement; for the result of another op the value itself, not rearranged.
Chain chain_to(const graph::Graph& graph, const graph::Edge& edge);

// Rows of a value in another order: for each row of the result, in row-major order, that of the root, likewise.
struct RowOrder {
  graph::Edge root;
  std::vector<std::int64_t> rows;
};

// What several chains, one after the other, do together, if that leaves all columns (of four axes) in their rows and the batch alone: axes
// that are cut into 8 times 7 and, by the next chain, into 7 times 8 do not combine, but whole rows move all the same. As many chains as
// possible; nothing where a chain alone is all there is.
std::optional<RowOrder> row_order_to(const graph::Graph& graph, const graph::Edge& edge, Batch batch);

}  // namespace buda::passes
