// A drawing of a graph, for Graphviz.
#pragma once

#include <buda/graph/graph.hpp>

#include <string>

namespace buda::graph {

// The graph in Graphviz' language, from top to bottom: `dot -Tsvg`. A node shows name, op and attributes, an edge the type of its value and
// the manipulations on it. Parameters and constants are small and grey. Nodes come in topological order.
std::string dot_text(const Graph& graph);

}  // namespace buda::graph
