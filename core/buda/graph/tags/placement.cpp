// SPDX-License-Identifier: Apache-2.0
// The tag that puts nodes on the host.
#include <buda/graph/graph.hpp>
#include <buda/graph/tags/placement.hpp>

#include <algorithm>

namespace buda::graph {

bool on_host(const Node& n) {
  auto it = n.tags.find(kPlacement);
  return it != n.tags.end() && it->second == kHostPlacement;
}

bool on_host(const Graph& graph, const Node& n) {
  if (n.kind() != NodeKind::output) return on_host(n);
  return n.inputs().size() == 1 && graph.contains(n.inputs()[0].source.node) && on_host(graph.node(n.inputs()[0].source.node));
}

void put_on_host(Node& n) { n.tags[kPlacement] = kHostPlacement; }

Level level_of(const Graph& graph, const Node& n) { return on_host(graph, n) ? Level::tensor : graph.level; }

bool is_mixed(const Graph& graph) {
  if (graph.level != Level::device) return false;
  std::vector<NodeId> ids = graph.ids();
  return std::any_of(ids.begin(), ids.end(), [&](NodeId id) { return on_host(graph.node(id)); });
}

}  // namespace buda::graph
