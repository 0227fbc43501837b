// SPDX-License-Identifier: Apache-2.0
// Parts of a graph as nodes of a drawing.
#include <buda/graph/drawing/dot_parts.hpp>

#include <buda/base/shortened.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/drawing/dot_labels.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/parts/order_parts.hpp>

#include <algorithm>
#include <map>

namespace buda::graph {
namespace {

// With more than these a drawing is neither legible nor laid out within seconds.
constexpr std::size_t kMaxParts = 150, kMaxEdges = 300;
constexpr std::size_t kMaxOps = 4;

// "matmul 12, add 8 and 3 more ops"
std::string op_counts(const Graph& graph, const std::vector<NodeId>& order, std::size_t begin, std::size_t end) {
  std::map<std::string, std::size_t> counts;
  for (std::size_t i = begin; i < end; ++i) ++counts[graph.node(order[i]).op()];
  std::vector<std::pair<std::string, std::size_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(sorted.size(), kMaxOps); ++i) texts.push_back(cat(sorted[i].first, ' ', sorted[i].second));
  return cat(join(texts, ", "), sorted.size() > kMaxOps ? cat(" and ", sorted.size() - kMaxOps, " more ops") : "");
}

std::vector<std::string> part_label(const Graph& graph, const std::vector<NodeId>& order, std::size_t begin, std::size_t end,
                                    const std::vector<Repeat>& repeats) {
  auto name = [&](std::size_t place) { return shortened_to_end(graph.node(order[place]).name(), kMaxLabelText); };
  std::string size = cat(end - begin, " nodes");
  for (const Repeat& r : repeats)
    if (r.first == begin && r.end() == end) size = cat(r.times, " times ", r.length, " nodes");
  return {size, op_counts(graph, order, begin, end), name(begin), cat("to ", name(end - 1))};
}

std::string part_edge(const Graph& graph, const std::vector<NodeId>& order, const OrderParts::Edge& edge) {
  std::string label = cat(edge.values, " values");
  if (edge.values == 1) {
    const ValueType* type = graph.type({order[edge.first_place], static_cast<std::uint32_t>(edge.first_port)});
    label = type == nullptr ? "" : dot_shape(*type);
  }
  return cat("  p", edge.from, " -> p", edge.to, label.empty() ? "" : cat(" [label=", dot_quoted({label}), ']'), ";\n");
}

}  // namespace

std::string dot_parts(const Graph& graph, const std::vector<NodeId>& order, const std::vector<Repeat>& repeats) {
  const OrderParts parts = parts_of_order(graph, order, repeats, kMaxParts, kMaxEdges);
  std::string out;
  for (std::size_t p = 0; p < parts.begins.size(); ++p) {
    const std::size_t begin = parts.begins[p], end = p + 1 < parts.begins.size() ? parts.begins[p + 1] : order.size();
    const Node& first = graph.node(order[begin]);
    const bool alone = end - begin == 1;
    out += cat("  p", p,
               " [label=", dot_quoted(alone ? node_label(graph, first, Detail::overview) : part_label(graph, order, begin, end, repeats)),
               ", ", alone ? node_style(first) : "shape=box3d, style=filled, fillcolor=\"#e6efe0\"", "];\n");
  }
  for (const OrderParts::Edge& edge : parts.edges) out += part_edge(graph, order, edge);
  return out;
}

}  // namespace buda::graph
