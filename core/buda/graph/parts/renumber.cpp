// SPDX-License-Identifier: Apache-2.0
// Nodes first, then edges: those of a cycle lead to later nodes.
#include <buda/graph/parts/renumber.hpp>

#include <buda/graph/graph.hpp>
#include <buda/graph/parts/contents.hpp>

#include <utility>
#include <vector>

namespace buda::graph {

Graph renumbered(const Graph& graph) {
  Graph out(graph.name, graph.level);
  out.tags = graph.tags;
  const std::vector<NodeId> order = graph.topological_order();
  std::vector<NodeId> ids(graph.id_bound());
  for (NodeId id : order) {
    const Node& n = graph.node(id);
    const NodeId copy = out.add(n.name(), n.op());
    copy_contents(n, out.node(copy));
    ids[id.index()] = copy;
  }
  for (NodeId id : order) {
    std::vector<Edge> inputs = graph.node(id).inputs();
    for (Edge& edge : inputs) edge.source.node = ids[edge.source.node.index()];
    out.set_inputs(ids[id.index()], std::move(inputs));
  }
  auto moved = [&](std::vector<NodeId> nodes) {
    for (NodeId& id : nodes) id = ids[id.index()];
    return nodes;
  };
  out.order_inputs(moved(graph.inputs()));
  out.order_outputs(moved(graph.outputs()));
  return out;
}

}  // namespace buda::graph
