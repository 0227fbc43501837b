// SPDX-License-Identifier: Apache-2.0
// Stage after stage, so that copies are copied again.
#include <buda/balance/chips/forwarded_values.hpp>

#include <buda/graph/editor.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/tags/placement.hpp>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

namespace buda::balance {
namespace {

using graph::Graph;
using graph::NodeId;
using Stages = std::map<NodeId, OpStage>;

class Forwarder {
 public:
  Forwarder(Graph& graph, Stages& stages) : graph_(graph), stages_(stages) {}

  // The copies of what goes into this stage.
  std::vector<NodeId> into(const OpStage& stage) {
    std::vector<NodeId> out;
    for (NodeId id : graph_.ids()) {
      if (!comes_from_before(id, stage)) continue;
      for (std::uint32_t port = 0; port < graph_.node(id).outputs.size(); ++port)
        if (auto copy = copied({id, port}, stage)) out.push_back(*copy);
    }
    return out;
  }

 private:
  bool comes_from_before(NodeId id, const OpStage& stage) const {
    const graph::Node& node = graph_.node(id);
    if (const auto own = stages_.find(id); own != stages_.end())
      return own->second.segment == stage.segment && own->second.stage < stage.stage;
    if (node.kind() != graph::NodeKind::input || is_read_as_rows(graph_, id)) return false;
    const auto users = graph_.users(id);
    return std::any_of(users.begin(), users.end(), [&](const graph::Use& use) {
      const auto user = stages_.find(use.node);
      return user != stages_.end() && user->second.segment == stage.segment && user->second.stage < stage.stage;
    });
  }

  // Those from this stage on read the copy.
  std::optional<NodeId> copied(graph::ValueRef value, const OpStage& stage) {
    std::vector<graph::Use> later;
    for (const graph::Use& use : graph_.users(value)) {
      const auto user = stages_.find(use.node);
      if (user != stages_.end() && user->second.segment == stage.segment && user->second.stage >= stage.stage) later.push_back(use);
    }
    if (later.empty()) return std::nullopt;
    const NodeId copy = copy_for(graph_, value, later);
    stages_[copy] = {stage.segment, stage.stage, true};
    return copy;
  }

  Graph& graph_;
  Stages& stages_;
};

}  // namespace

bool is_read_as_rows(const Graph& graph, NodeId input) {
  const auto users = graph.users(input);
  return std::any_of(users.begin(), users.end(), [&](const graph::Use& use) {
    const std::string_view op = graph.node(use.node).op();
    return op == "tilizer" || op == "embedding";
  });
}

graph::NodeId copy_for(graph::Graph& graph, graph::ValueRef value, const std::vector<graph::Use>& uses) {
  graph::GraphEditor editor(graph, value.node);
  const graph::NodeId copy = editor.add("copy", "nop", {graph::Edge(value)}, {*graph.type(value)});
  // What else the tags ask for is asked of the op itself.
  std::erase_if(graph.node(copy).tags, [](const auto& tag) { return tag.first != graph::kSegment; });
  for (const graph::Use& use : uses) {
    graph::Edge edge = graph.node(use.node).inputs()[use.input];
    edge.source = copy;
    graph.set_input(use.node, use.input, std::move(edge));
  }
  return copy;
}

void forward_values(Graph& graph, std::vector<NodeId>& order, Stages& stages) {
  std::set<OpStage> all;
  for (const auto& [op, stage] : stages) all.insert(stage);
  Forwarder forwarder(graph, stages);
  for (const OpStage& stage : all) {
    if (stage.stage == 0) continue;
    for (NodeId copy : forwarder.into(stage)) order.push_back(copy);
  }
  const auto key = [&](NodeId op) {
    const OpStage& stage = stages.at(op);
    return std::tuple(stage.segment, stage.stage, !stage.copies);
  };
  std::stable_sort(order.begin(), order.end(), [&](NodeId a, NodeId b) { return key(a) < key(b); });
}

}  // namespace buda::balance
