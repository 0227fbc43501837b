// SPDX-License-Identifier: Apache-2.0
// The drawing of a graph that has too many nodes to draw them.
#pragma once

#include <buda/graph/fwd.hpp>
#include <buda/graph/node_id.hpp>
#include <buda/graph/parts/repeats.hpp>

#include <string>
#include <vector>

namespace buda::graph {

// Nodes and edges in Graphviz' language, without the frame of the file: a node for each part of `order` (order_parts.hpp), with the ops in
// it and the names of its first and last node. A part of one node is drawn as that node.
std::string dot_parts(const Graph& graph, const std::vector<NodeId>& order, const std::vector<Repeat>& repeats);

}  // namespace buda::graph
