// SPDX-License-Identifier: Apache-2.0
// Cuts at the places over which the fewest values pass. Parts are consecutive in a topological order, so their graph has no cycle.
#include <buda/graph/graph.hpp>
#include <buda/graph/parts/order_parts.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace buda::graph {
namespace {

struct Edges {
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> into;  // by place: producing place and port of each input
  std::vector<std::size_t> passing;                                    // values that pass from before a place to it or a later one
};

Edges edges_of(const Graph& graph, const std::vector<NodeId>& order) {
  std::unordered_map<NodeId, std::size_t> places;
  for (std::size_t i = 0; i < order.size(); ++i) places.emplace(order[i], i);
  Edges out;
  out.into.resize(order.size());
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> last_use;  // by value
  for (std::size_t i = 0; i < order.size(); ++i)
    for (const Edge& edge : graph.node(order[i]).inputs()) {
      auto from = places.find(edge.source.node);
      if (from == places.end()) continue;
      const std::pair value(from->second, static_cast<std::size_t>(edge.source.port));
      out.into[i].push_back(value);
      last_use[value] = i;
    }
  std::vector<std::ptrdiff_t> change(order.size() + 1, 0);
  for (const auto& [value, last] : last_use) {
    ++change[value.first + 1];
    --change[last + 1];
  }
  std::ptrdiff_t live = 0;
  for (std::size_t i = 0; i < order.size(); ++i) out.passing.push_back(static_cast<std::size_t>(live += change[i]));
  return out;
}

// The begins of parts of half to one and a half times `size` places within [first, end), each where least passes.
void cut_range(std::size_t first, std::size_t end, std::size_t size, const std::vector<std::size_t>& passing,
               std::vector<std::size_t>& out) {
  std::size_t begin = first;
  out.push_back(begin);
  while (end - begin > size + size / 2) {
    auto at = [&](std::size_t place) { return passing.begin() + static_cast<std::ptrdiff_t>(place); };
    const auto from = at(begin + std::max<std::size_t>(size / 2, 1)), to = at(begin + size + size / 2);
    begin = static_cast<std::size_t>(std::min_element(from, to + 1) - passing.begin());
    out.push_back(begin);
  }
}

std::vector<std::size_t> begins_for_size(const std::vector<std::size_t>& passing, const std::vector<Repeat>& repeats, std::size_t size) {
  std::vector<std::size_t> out;
  std::size_t done = 0;
  auto cut_until = [&](std::size_t end) {
    if (done < end) cut_range(done, end, size, passing, out);
    done = end;
  };
  for (const Repeat& r : repeats) {
    if (r.end() - r.first < size) continue;
    cut_until(r.first);
    out.push_back(r.first);
    done = r.end();
  }
  cut_until(passing.size());
  return out;
}

// The values that pass from each part to each other, counted.
std::vector<OrderParts::Edge> edges_between(const std::vector<std::size_t>& begins, const Edges& edges) {
  std::map<std::pair<std::size_t, std::size_t>, std::set<std::pair<std::size_t, std::size_t>>> values;
  auto part_of = [&](std::size_t place) {
    return static_cast<std::size_t>(std::upper_bound(begins.begin(), begins.end(), place) - begins.begin()) - 1;
  };
  for (std::size_t i = 0; i < edges.into.size(); ++i)
    for (const auto& value : edges.into[i])
      if (const std::size_t from = part_of(value.first), to = part_of(i); from != to) values[{from, to}].insert(value);
  std::vector<OrderParts::Edge> out;
  for (const auto& [parts, passed] : values)
    out.push_back({parts.first, parts.second, passed.size(), passed.begin()->first, passed.begin()->second});
  return out;
}

}  // namespace

OrderParts parts_of_order(const Graph& graph, const std::vector<NodeId>& order, const std::vector<Repeat>& repeats, std::size_t max_parts,
                          std::size_t max_edges) {
  const Edges edges = edges_of(graph, order);
  std::size_t size = std::max<std::size_t>(1, order.size() / max_parts);
  while (true) {
    OrderParts parts;
    parts.begins = begins_for_size(edges.passing, repeats, size);
    parts.edges = edges_between(parts.begins, edges);
    if ((parts.begins.size() <= max_parts && parts.edges.size() <= max_edges) || size >= order.size()) return parts;
    size += size / 2 + 1;
  }
}

}  // namespace buda::graph
