// SPDX-License-Identifier: Apache-2.0
// Dinic's algorithm: levels by breadth first search, ways along them by depth first search.
#include <buda/passes/saved/min_cut.hpp>

#include <algorithm>

namespace buda::passes {
namespace {

constexpr std::size_t kUnreached = std::numeric_limits<std::size_t>::max();

std::int64_t sum(std::int64_t a, std::int64_t b) { return a > FlowNetwork::kUnlimited - b ? FlowNetwork::kUnlimited : a + b; }

}  // namespace

void FlowNetwork::connect(std::size_t from, std::size_t to, std::int64_t capacity) {
  edges_of_[from].push_back(edges_.size());
  edges_.push_back({to, capacity});
  edges_of_[to].push_back(edges_.size());
  edges_.push_back({from, 0});
}

bool FlowNetwork::find_levels(std::size_t source, std::size_t sink) {
  level_.assign(edges_of_.size(), kUnreached);
  level_[source] = 0;
  std::vector<std::size_t> queue{source};
  for (std::size_t at = 0; at < queue.size(); ++at)
    for (std::size_t e : edges_of_[queue[at]])
      if (edges_[e].left > 0 && level_[edges_[e].to] == kUnreached) {
        level_[edges_[e].to] = level_[queue[at]] + 1;
        queue.push_back(edges_[e].to);
      }
  return level_[sink] != kUnreached;
}

// Without recursion: a model may be deeper than the stack.
bool FlowNetwork::add_way(std::size_t source, std::size_t sink) {
  std::vector<std::size_t> way;
  std::size_t at = source;
  while (at != sink) {
    const auto& edges = edges_of_[at];
    std::size_t& next = next_[at];
    while (next < edges.size() && (edges_[edges[next]].left == 0 || level_[edges_[edges[next]].to] != level_[at] + 1)) ++next;
    if (next < edges.size()) {
      way.push_back(edges[next]);
      at = edges_[edges[next]].to;
      continue;
    }
    if (way.empty()) return false;
    at = reverse(way.back()).to;
    ++next_[at];
    way.pop_back();
  }
  std::int64_t flow = kUnlimited;
  for (std::size_t e : way) flow = std::min(flow, edges_[e].left);
  for (std::size_t e : way) {
    if (edges_[e].left != kUnlimited) edges_[e].left -= flow;
    reverse(e).left = sum(reverse(e).left, flow);
  }
  return true;
}

std::vector<bool> FlowNetwork::sink_side(std::size_t source, std::size_t sink) {
  while (find_levels(source, sink)) {
    next_.assign(edges_of_.size(), 0);
    while (add_way(source, sink)) {
    }
  }
  // All from which the sink can still be reached.
  std::vector<bool> out(edges_of_.size());
  out[sink] = true;
  std::vector<std::size_t> queue{sink};
  for (std::size_t at = 0; at < queue.size(); ++at)
    for (std::size_t e : edges_of_[queue[at]])
      if (reverse(e).left > 0 && !out[edges_[e].to]) {
        out[edges_[e].to] = true;
        queue.push_back(edges_[e].to);
      }
  return out;
}

}  // namespace buda::passes
