// SPDX-License-Identifier: Apache-2.0
// A look at all nodes.
#include <buda/passes/simplify/candidates.hpp>

#include <algorithm>

namespace buda::passes {

std::vector<graph::NodeId> ops_of_types(const graph::Graph& graph, std::initializer_list<std::string_view> types) {
  std::vector<graph::NodeId> found = graph.ids();
  std::erase_if(found, [&](graph::NodeId id) { return std::find(types.begin(), types.end(), graph.node(id).op()) == types.end(); });
  if (found.size() < 2) return found;
  std::vector<char> is_found(graph.id_bound(), 0);
  for (graph::NodeId id : found) is_found[id.index()] = 1;
  found = graph.topological_order();
  std::erase_if(found, [&](graph::NodeId id) { return is_found[id.index()] == 0; });
  return found;
}

}  // namespace buda::passes
