// SPDX-License-Identifier: Apache-2.0
// Tags, and what follows from them.
#include <buda/balance/problem/segment_order.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/tags/placement.hpp>

#include <algorithm>

namespace buda::balance {

std::vector<std::int32_t> segments_of(const graph::Graph& graph) {
  std::vector<std::int32_t> out(graph.id_bound(), 0);
  auto tagged = [&](const graph::Node& n, std::int32_t& segment) {
    auto tag = n.tags.find(graph::kSegment);
    if (tag == n.tags.end()) return false;
    segment = std::max(segment, static_cast<std::int32_t>(parse_int(tag->second).value_or(0)));
    return true;
  };
  for (graph::NodeId id : graph.topological_order()) {
    const graph::Node& n = graph.node(id);
    if (!n.is_op()) continue;
    std::int32_t& segment = out[id.index()];
    if (tagged(n, segment)) continue;
    for (const graph::Edge& edge : n.inputs()) {
      segment = std::max(segment, out[edge.source.node.index()]);
      if (graph.node(edge.source.node).kind() != graph::NodeKind::input) continue;
      for (const graph::Use& use : graph.users(edge.source.node)) tagged(graph.node(use.node), segment);
    }
  }
  return out;
}

void order_by_segment(const graph::Graph& graph, std::vector<graph::NodeId>& schedule) {
  const std::vector<std::int32_t> segments = segments_of(graph);
  std::stable_sort(schedule.begin(), schedule.end(),
                   [&](graph::NodeId a, graph::NodeId b) { return segments[a.index()] < segments[b.index()]; });
}

}  // namespace buda::balance
