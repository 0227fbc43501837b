// SPDX-License-Identifier: Apache-2.0
// Computing constant values.
#include <buda/frontend/known_values.hpp>

#include <buda/graph/graph.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <set>

namespace buda::frontend {

using graph::NodeId;
using graph::NodeKind;

KnownValues::KnownValues(const graph::Graph& graph) : graph_(&graph) {}
KnownValues::KnownValues(KnownValues&&) noexcept = default;
KnownValues& KnownValues::operator=(KnownValues&&) noexcept = default;
KnownValues::~KnownValues() = default;

const Tensor* KnownValues::find(graph::ValueRef value) {
  if (!value.valid() || !graph_->contains(value.node)) return nullptr;
  states_.resize(graph_->id_bound(), State::unvisited);
  results_.resize(graph_->id_bound());
  visit(value.node);
  const auto& results = results_[value.node.index()];
  return states_[value.node.index()] == State::known && value.port < results.size() ? &results[value.port] : nullptr;
}

// Depth first with a stack of its own, since chains may be long.
void KnownValues::visit(NodeId start) {
  std::vector<NodeId> stack{start};
  while (!stack.empty()) {
    NodeId id = stack.back();
    State& state = states_[id.index()];
    if (state == State::known || state == State::unknown) {
      stack.pop_back();
      continue;
    }
    const auto& node = graph_->node(id);
    if (node.kind() == NodeKind::input || node.kind() == NodeKind::output) {
      state = State::unknown;
      continue;
    }
    bool all_known = true, any_unknown = false;
    for (const auto& edge : node.inputs()) {
      State s = states_[edge.source.node.index()];
      all_known = all_known && s == State::known;
      any_unknown = any_unknown || s == State::unknown;
    }
    if (any_unknown) {
      state = State::unknown;
    } else if (all_known) {
      compute(id);
    } else if (state == State::open) {
      state = State::unknown;  // a cycle, which the check of the whole graph reports
    } else {
      state = State::open;
      for (const auto& edge : node.inputs())
        if (states_[edge.source.node.index()] == State::unvisited) stack.push_back(edge.source.node);
    }
  }
}

void KnownValues::compute(NodeId id) {
  const auto& node = graph_->node(id);
  for (const auto& type : node.outputs)
    if (tensor_bytes(type.dtype, type.shape).value_or(kLargestKnown + 1) > kLargestKnown) {
      states_[id.index()] = State::unknown;
      return;
    }
  std::vector<Tensor> inputs;
  for (const auto& edge : node.inputs()) {
    const auto& results = results_[edge.source.node.index()];
    if (edge.source.port >= results.size()) {
      states_[id.index()] = State::unknown;
      return;
    }
    inputs.push_back(results[edge.source.port]);
  }
  auto results = ops::evaluate_node(node, graph_->level, inputs);
  states_[id.index()] = results ? State::known : State::unknown;
  if (results) results_[id.index()] = std::move(*results);
}

std::vector<std::string> KnownValues::inputs_behind(graph::ValueRef value) const {
  std::set<NodeId> seen, inputs;
  std::vector<NodeId> stack;
  if (value.valid()) stack.push_back(value.node);
  while (!stack.empty()) {
    NodeId id = stack.back();
    stack.pop_back();
    if (!graph_->contains(id) || !seen.insert(id).second) continue;
    const auto& node = graph_->node(id);
    if (node.kind() == NodeKind::input) inputs.insert(id);
    for (const auto& edge : node.inputs()) stack.push_back(edge.source.node);
  }
  std::vector<std::string> names;
  for (NodeId id : inputs) names.push_back(graph_->node(id).name());
  return names;
}

// Producers have smaller ids than their users here, so one pass from the end is enough.
void KnownValues::erase_unused(graph::Graph& graph) const {
  for (std::size_t i = states_.size(); i-- > 0;) {
    NodeId id(static_cast<NodeId::rep>(i));
    if (states_[i] == State::known && graph.contains(id) && graph.use_count(id) == 0) graph.erase(id);
  }
}

}  // namespace buda::frontend
