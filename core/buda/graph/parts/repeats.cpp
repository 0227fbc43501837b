// SPDX-License-Identifier: Apache-2.0
// Repeats are runs of places i at which the node at i is like the node at i + p, for a period p. They are taken greedily.
#include <buda/graph/graph.hpp>
#include <buda/graph/parts/repeats.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <unordered_map>

namespace buda::graph {
namespace {

class RepeatFinder {
 public:
  RepeatFinder(const Graph& graph, const std::vector<NodeId>& order) : graph_(graph), order_(order) {
    for (std::size_t i = 0; i < order.size(); ++i) places_.emplace(order[i], i);
    // Nodes that cannot be alike differ in this number, which is quick to compare.
    std::unordered_map<std::string, std::size_t> ops;
    for (NodeId id : order) ops_.push_back(ops.emplace(graph.node(id).op(), ops.size()).first->second);
  }

  // Those that save most nodes first; of equal ones the shorter block, then the earlier one.
  std::vector<Repeat> find() const {
    std::vector<Repeat> found = runs();
    std::sort(found.begin(), found.end(), [](const Repeat& a, const Repeat& b) {
      return std::tuple(saved(b), a.length, a.first) < std::tuple(saved(a), b.length, b.first);
    });
    std::vector<Repeat> out;
    std::vector<bool> taken(order_.size());
    auto place = [](std::size_t i) { return static_cast<std::ptrdiff_t>(i); };
    for (const Repeat& r : found) {
      auto begin = taken.begin() + place(r.first), end = taken.begin() + place(r.end());
      if (std::find(begin, end, true) != end) continue;
      std::fill(begin, end, true);
      out.push_back(r);
    }
    std::sort(out.begin(), out.end(), [](const Repeat& a, const Repeat& b) { return a.first < b.first; });
    return out;
  }

 private:
  static std::size_t saved(const Repeat& r) { return (r.times - 1) * r.length; }

  // For a period p there are at most n / p of them.
  std::vector<Repeat> runs() const {
    std::vector<Repeat> out;
    const std::size_t end = order_.size();
    for (std::size_t period = kMinRepeatLength; 2 * period <= end && period <= kMaxRepeatLength; ++period)
      for (std::size_t i = 0; i + period < end; ++i) {
        const std::size_t first = i;
        while (i + period < end && alike(i, period)) ++i;
        if (i - first >= period) out.push_back({first, period, (i - first) / period + 1});
      }
    return out;
  }

  bool alike(std::size_t i, std::size_t period) const {
    if (ops_[i] != ops_[i + period]) return false;
    const Node& a = graph_.node(order_[i]);
    const Node& b = graph_.node(order_[i + period]);
    if (!a.is_op() || a.inputs().size() != b.inputs().size() || a.outputs != b.outputs || a.attrs != b.attrs) return false;
    for (std::size_t k = 0; k < a.inputs().size(); ++k)
      if (!alike(a.inputs()[k], b.inputs()[k], period)) return false;
    return true;
  }

  bool alike(const Edge& a, const Edge& b, std::size_t period) const {
    if (a.tms != b.tms || a.source.port != b.source.port) return false;
    if (a.source == b.source) return true;
    auto from = places_.find(a.source.node), to = places_.find(b.source.node);
    if (from != places_.end() && to != places_.end()) return from->second + period == to->second;
    if (from != places_.end() || to != places_.end() || !graph_.contains(a.source.node) || !graph_.contains(b.source.node)) return false;
    return graph_.node(a.source.node).has_value() && graph_.node(b.source.node).has_value() &&
           graph_.node(a.source.node).outputs == graph_.node(b.source.node).outputs;
  }

  const Graph& graph_;
  const std::vector<NodeId>& order_;
  std::unordered_map<NodeId, std::size_t> places_;
  std::vector<std::size_t> ops_;
};

}  // namespace

std::vector<Repeat> repeated_blocks(const Graph& graph, const std::vector<NodeId>& order) { return RepeatFinder(graph, order).find(); }

}  // namespace buda::graph
