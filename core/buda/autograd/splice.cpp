// SPDX-License-Identifier: Apache-2.0
// Node by node, in topological order.
#include <buda/autograd/splice.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/parts/contents.hpp>

#include <map>
#include <utility>

namespace buda::autograd {

std::vector<graph::ValueRef> splice(graph::Graph& graph, const graph::Graph& part, const std::vector<graph::ValueRef>& inputs,
                                    std::string_view prefix) {
  std::map<graph::ValueRef, graph::ValueRef> copies;
  for (std::size_t i = 0; i < inputs.size(); ++i) copies.emplace(part.inputs()[i], inputs[i]);
  for (graph::NodeId id : part.topological_order()) {
    const graph::Node& n = part.node(id);
    if (n.kind() == graph::NodeKind::input || n.kind() == graph::NodeKind::output) continue;
    std::vector<graph::Edge> edges;
    for (const graph::Edge& edge : n.inputs()) edges.emplace_back(copies.at(edge.source));
    const graph::NodeId copy = graph.add(graph.fresh_name(cat(prefix, n.name())), n.op(), std::move(edges));
    graph::copy_contents(n, graph.node(copy));
    for (std::uint32_t port = 0; port < n.outputs.size(); ++port) copies.emplace(graph::ValueRef(id, port), graph::ValueRef(copy, port));
  }
  std::vector<graph::ValueRef> out;
  for (graph::NodeId id : part.outputs()) out.push_back(copies.at(part.node(id).inputs()[0].source));
  return out;
}

}  // namespace buda::autograd
