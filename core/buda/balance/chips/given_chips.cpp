// SPDX-License-Identifier: Apache-2.0
// Chips along the order of ops, then copies, then levels.
#include <buda/balance/chips/given_chips.hpp>

#include <buda/balance/chips/forwarded_values.hpp>
#include <buda/balance/legalize/overrides.hpp>
#include <buda/balance/problem/segment_order.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/tags/constraint_tags.hpp>

#include <algorithm>
#include <optional>
#include <tuple>

namespace buda::balance {
namespace {

using graph::Graph;
using graph::NodeId;
using graph::ValueRef;

class ChipPlacer {
 public:
  ChipPlacer(Graph& graph, std::vector<NodeId>& order, const std::vector<std::int32_t>& chips)
      : graph_(graph), order_(order), chips_(chips), segments_(segments_of(graph)) {}

  std::map<NodeId, PlacedOnChip> run(const std::map<NodeId, std::int32_t>& given) {
    for (NodeId op : order_) {
      PlacedOnChip& own = ops_[op];
      own.segment = segments_[op.index()];
      own.chip = chip_for(op, given);
      own.level = level_for(op, own);
    }
    for (std::size_t i = 0, count = order_.size(); i < count; ++i) copy_to_other_chips(order_[i]);
    for (NodeId id : graph_.ids())
      if (graph_.node(id).kind() == graph::NodeKind::input && !is_read_as_rows(graph_, id)) copy_to_other_chips(id);
    std::stable_sort(order_.begin(), order_.end(), [&](NodeId a, NodeId b) { return key(a) < key(b); });
    return std::move(ops_);
  }

 private:
  std::size_t place_of(std::int32_t chip) const {
    return static_cast<std::size_t>(std::find(chips_.begin(), chips_.end(), chip) - chips_.begin());
  }

  std::size_t chip_for(NodeId op, const std::map<NodeId, std::int32_t>& given) const {
    if (const auto own = given.find(op); own != given.end()) return place_of(own->second);
    std::size_t out = 0;
    for (const graph::Edge& edge : graph_.node(op).inputs())
      if (const auto from = ops_.find(edge.source.node); from != ops_.end()) out = from->second.chip;
    return out;
  }

  std::int32_t level_for(NodeId op, const PlacedOnChip& own) const {
    std::int32_t out = 0;
    for (const graph::Edge& edge : graph_.node(op).inputs())
      if (const auto from = ops_.find(edge.source.node); from != ops_.end() && from->second.segment == own.segment)
        out = std::max(out, from->second.level + (from->second.chip == own.chip ? 0 : 1));
    return out;
  }

  // Where a value is: with the op that makes it; an input of the model with the op that reads it first.
  std::optional<PlacedOnChip> home_of(NodeId id, std::int32_t segment) const {
    if (const auto own = ops_.find(id); own != ops_.end()) return own->second;
    std::optional<PlacedOnChip> out;
    for (const graph::Use& use : graph_.users(id))
      if (const auto user = ops_.find(use.node); user != ops_.end() && user->second.segment == segment)
        if (!out || user->second < *out) out = user->second;
    return out;
  }

  // Readers on other chips read copies there. Those of later segments read from the host's queues.
  void copy_to_other_chips(NodeId id) {
    for (std::uint32_t port = 0; port < graph_.node(id).outputs.size(); ++port) {
      std::map<std::pair<std::int32_t, std::size_t>, std::vector<graph::Use>> others;  // by segment and chip
      for (const graph::Use& use : graph_.users(ValueRef{id, port})) {
        const auto user = ops_.find(use.node);
        if (user == ops_.end()) continue;
        const auto home = home_of(id, user->second.segment);
        if (home && home->segment == user->second.segment && home->chip != user->second.chip)
          others[{user->second.segment, user->second.chip}].push_back(use);
      }
      // An input of the model is there from the beginning.
      const std::int32_t later = ops_.contains(id) ? 1 : 0;
      for (const auto& [where, uses] : others) {
        const PlacedOnChip home = *home_of(id, where.first);
        copy({id, port}, uses, {where.first, home.level + later, where.second, true});
      }
    }
  }

  void copy(ValueRef value, const std::vector<graph::Use>& uses, const PlacedOnChip& place) {
    const NodeId copy = copy_for(graph_, value, uses);
    ops_[copy] = place;
    order_.push_back(copy);
    for (const graph::Use& use : uses) raise(use.node, place.level);
  }

  // An op comes no earlier than this level, nor do those that read its result.
  void raise(NodeId op, std::int32_t level) {
    std::vector<std::pair<NodeId, std::int32_t>> open{{op, level}};
    while (!open.empty()) {
      const auto [id, least] = open.back();
      open.pop_back();
      PlacedOnChip& own = ops_.at(id);
      if (own.level >= least) continue;
      own.level = least;
      for (const graph::Use& use : graph_.users(id))
        if (const auto user = ops_.find(use.node); user != ops_.end() && user->second.segment == own.segment)
          open.emplace_back(use.node, own.level + (user->second.chip == own.chip ? 0 : 1));
    }
  }

  std::tuple<std::int32_t, std::int32_t, std::size_t, bool> key(NodeId op) const {
    const PlacedOnChip& own = ops_.at(op);
    return {own.segment, own.level, own.chip, !own.copies};
  }

  Graph& graph_;
  std::vector<NodeId>& order_;
  const std::vector<std::int32_t>& chips_;
  std::vector<std::int32_t> segments_;  // by node id, of those that the graph had at first
  std::map<NodeId, PlacedOnChip> ops_;
};

}  // namespace

Result<std::map<NodeId, std::int32_t>> given_chips(const Graph& graph, const Problem& problem,
                                                   const std::map<std::string, std::string>& overrides) {
  std::map<NodeId, std::int32_t> out;
  BUDA_ASSIGN(const std::vector<OpOverride> of_ops, parse_overrides(problem, overrides));
  for (std::size_t i = 0; i < problem.ops.size(); ++i) {
    const graph::Node& node = graph.node(problem.ops[i].node);
    BUDA_ASSIGN(std::optional<std::int32_t> chip, graph::chip_of(node));
    if (of_ops[i].chip) chip = of_ops[i].chip;
    if (!chip) continue;
    const std::int32_t chips = problem.device->chips;
    if (*chip >= chips) {
      const std::string there = chips == 1 ? "1 chip, 0" : cat(chips, " chips, 0 to ", chips - 1);
      Diagnostic d =
          usage_error("BL050", cat("op '", node.name(), "' is to run on chip ", *chip, "; ", problem.device->name, " has ", there));
      d.node = node.name();
      return d;
    }
    out[problem.ops[i].node] = *chip;
  }
  return out;
}

std::map<NodeId, PlacedOnChip> place_on_given_chips(Graph& graph, std::vector<NodeId>& order, const std::map<NodeId, std::int32_t>& given,
                                                    const std::vector<std::int32_t>& chips) {
  return ChipPlacer(graph, order, chips).run(given);
}

void alternate_chips(const Problem& problem, const std::map<NodeId, PlacedOnChip>& places, Choice& choice) {
  const auto count = static_cast<std::size_t>(choice.epochs());
  std::vector<PlacedOnChip> of_epoch(count);
  for (std::size_t i = 0; i < choice.ops.size(); ++i) {
    PlacedOnChip& place = of_epoch[static_cast<std::size_t>(choice.ops[i].epoch)];
    place = places.at(problem.ops[i].node);
    place.copies = false;
  }
  // By segment, level, number among the epochs of its chip there, and chip.
  std::map<PlacedOnChip, std::int32_t> epochs_on_chip;
  std::vector<std::tuple<std::int32_t, std::int32_t, std::int32_t, std::size_t, std::size_t>> order;
  for (std::size_t e = 0; e < count; ++e) {
    const PlacedOnChip& place = of_epoch[e];
    order.emplace_back(place.segment, place.level, epochs_on_chip[place]++, place.chip, e);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::int32_t> number(count, 0);
  for (std::size_t i = 0; i < count; ++i) number[std::get<4>(order[i])] = static_cast<std::int32_t>(i);
  for (PlacedOp& op : choice.ops) op.epoch = number[static_cast<std::size_t>(op.epoch)];
}

}  // namespace buda::balance
