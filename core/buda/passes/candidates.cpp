// A look at all nodes.
#include <buda/passes/candidates.hpp>

#include <algorithm>

namespace buda::passes {

std::vector<graph::NodeId> ops_of_types(const graph::Graph& graph, std::initializer_list<std::string_view> types) {
  auto is_meant = [&](graph::NodeId id) { return std::find(types.begin(), types.end(), graph.node(id).op()) != types.end(); };
  std::vector<graph::NodeId> found = graph.ids();
  std::erase_if(found, [&](graph::NodeId id) { return !is_meant(id); });
  if (found.size() < 2) return found;
  found = graph.topological_order();
  std::erase_if(found, [&](graph::NodeId id) { return !is_meant(id); });
  return found;
}

}  // namespace buda::passes
