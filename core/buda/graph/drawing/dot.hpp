// SPDX-License-Identifier: Apache-2.0
// A drawing of a graph, for Graphviz.
#pragma once

#include <buda/graph/fwd.hpp>

#include <cstdint>
#include <string>

namespace buda::graph {

// overview: weights are named in the nodes that use them, blocks that follow one another several times are drawn once, long texts are cut;
// where more than 400 nodes remain, up to 150 parts of the graph are drawn instead, with their ops counted.
// full: every node, attribute and type.
enum class Detail : std::uint8_t { overview, full };

// The graph in Graphviz' language, from top to bottom: `dot -Tsvg`. A node shows name, op and attributes, an edge the shape of its value
// and the manipulations on it. Nodes come in topological order.
std::string dot_text(const Graph& graph, Detail detail = Detail::overview);

}  // namespace buda::graph
