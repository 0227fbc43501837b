// SPDX-License-Identifier: Apache-2.0
// A graph whose ids follow the order of its nodes.
#pragma once

#include <buda/graph/fwd.hpp>

namespace buda::graph {

// The graph as it comes out of a graph file that it is written to: ids from 0 in topological order, without gaps. Where nodes are equal in
// all else, stages go by ids; so a stage that is handed a graph decides as one that reads it. Tensors are shared. O((n + e) log n).
Graph renumbered(const Graph& graph);

}  // namespace buda::graph
