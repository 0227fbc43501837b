// SPDX-License-Identifier: Apache-2.0
// Conditions and provenance of fusions.
#include <buda/passes/fuse/fusing.hpp>

#include <buda/graph/editor.hpp>
#include <buda/graph/tags/constraint_tags.hpp>
#include <buda/graph/tags/placement.hpp>

#include <algorithm>
#include <vector>

namespace buda::passes {

bool may_fuse(const graph::Node& n) { return !n.tags.contains(kDontFuse) && !graph::on_host(n); }

bool only_feeds(const graph::Graph& graph, const graph::Node& producer, const graph::Node& user) {
  return graph.use_count(producer.id()) == 1 && graph.users(producer.id()).front().node == user.id();
}

bool is_row_of(const Shape& row, const Shape& of) {
  return row.rank() >= 1 && of.rank() >= 1 && row[row.rank() - 1] == of[of.rank() - 1] && row.volume() == of[of.rank() - 1];
}

void take_over_marks(graph::Graph& graph, graph::NodeId to, graph::NodeId from) {
  graph::GraphEditor(graph, to).merge_origins(to, from);
  auto& tags = graph.node(to).tags;
  for (const auto& [name, text] : graph.node(from).tags) tags.emplace(name, text);
  graph::merge_constraints(graph.node(to), graph.node(from));
}

void put_origins_first(graph::Graph& graph, graph::NodeId node, graph::NodeId producer) {
  const std::vector<graph::Origin>& first = graph.node(producer).origins;
  auto& all = graph.node(node).origins;
  std::stable_partition(all.begin(), all.end(),
                        [&](const graph::Origin& o) { return std::find(first.begin(), first.end(), o) != first.end(); });
}

}  // namespace buda::passes
