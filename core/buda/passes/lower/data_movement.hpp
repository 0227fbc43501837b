// Ops of the tensor level that only change the shape or the order of elements, and chains of them.
#pragma once

#include <buda/graph/graph.hpp>
#include <buda/passes/layout/rearrangement.hpp>

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

}  // namespace buda::passes
