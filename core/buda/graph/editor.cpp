// SPDX-License-Identifier: Apache-2.0
// Rewrites that keep names and provenance.
#include <buda/graph/editor.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/values/value.hpp>

#include <algorithm>

namespace buda::graph {

NodeId GraphEditor::add(std::string_view suffix, std::string op, std::vector<Edge> inputs, std::vector<ValueType> types, AttrMap attrs) {
  std::string base = graph_->contains(basis_) ? cat(graph_->node(basis_).name(), '.', suffix) : std::string(suffix);
  NodeId id = graph_->add(graph_->fresh_name(base), std::move(op), std::move(inputs));
  Node& n = graph_->node(id);
  n.outputs = std::move(types);
  n.attrs = std::move(attrs);
  if (graph_->contains(basis_)) {
    const Node& b = graph_->node(basis_);
    n.origins = b.origins;
    n.tags = b.tags;
    n.loc = b.loc;
  }
  added_.push_back(id);
  return id;
}

NodeId GraphEditor::add_constant(std::string_view suffix, Tensor tensor) {
  ValueType type{tensor.dtype(), tensor.shape(), std::nullopt};
  NodeId id = add(suffix, std::string(kConstantOp), {}, {std::move(type)});
  graph_->node(id).value = Value(std::move(tensor));
  return id;
}

NodeId GraphEditor::insert_on_edge(Use use, std::string_view suffix, std::string op, ValueType type, AttrMap attrs) {
  Edge edge = graph_->node(use.node).inputs()[use.input];
  NodeId id = add(suffix, std::move(op), {std::move(edge)}, {std::move(type)}, std::move(attrs));
  graph_->set_input(use.node, use.input, Edge(id));
  return id;
}

void GraphEditor::replace(NodeId old, ValueRef by) {
  // Several results map one to one; of a single one every port goes to `by`.
  bool by_port = graph_->node(old).outputs.size() > 1;
  for (const Use& use : graph_->users(old)) {
    if (std::find(added_.begin(), added_.end(), use.node) != added_.end()) continue;  // `by` is computed from the old result
    Edge edge = graph_->node(use.node).inputs()[use.input];
    edge.source = by_port ? ValueRef(by.node, edge.source.port) : by;
    graph_->set_input(use.node, use.input, std::move(edge));
  }
  merge_origins(by.node, old);
  if (graph_->use_count(old) != 0) return;
  std::string name = graph_->node(old).name();
  bool made_here = std::find(added_.begin(), added_.end(), by.node) != added_.end();
  erase_unused(old);
  if (made_here && !graph_->contains(old)) graph_->rename(by.node, std::move(name));
}

void GraphEditor::merge_origins(NodeId to, NodeId from) {
  if (to == from) return;
  auto& into = graph_->node(to).origins;
  for (const auto& origin : graph_->node(from).origins)
    if (std::find(into.begin(), into.end(), origin) == into.end()) into.push_back(origin);
}

void GraphEditor::erase_unused(NodeId id) {
  std::vector<NodeId> pending{id};
  while (!pending.empty()) {
    NodeId next = pending.back();
    pending.pop_back();
    if (!graph_->contains(next) || graph_->use_count(next) != 0) continue;
    NodeKind kind = graph_->node(next).kind();
    if (kind == NodeKind::input || kind == NodeKind::output) continue;
    for (const auto& edge : graph_->node(next).inputs()) pending.push_back(edge.source.node);
    graph_->erase(next);
  }
}

// Users are visited before their producers, so that a producer is unused by its turn if only dead nodes used it.
std::size_t erase_dead_nodes(Graph& graph) {
  std::size_t erased = 0;
  std::vector<NodeId> order = graph.topological_order();
  for (auto id = order.rbegin(); id != order.rend(); ++id) {
    NodeKind kind = graph.node(*id).kind();
    if (graph.use_count(*id) != 0 || kind == NodeKind::input || kind == NodeKind::output) continue;
    graph.erase(*id);
    ++erased;
  }
  return erased;
}

}  // namespace buda::graph
