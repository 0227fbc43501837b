// SPDX-License-Identifier: Apache-2.0
// Reading of tags.
#include <buda/graph/tags/training.hpp>

#include <buda/graph/graph.hpp>

#include <algorithm>

namespace buda::graph {

std::string training_of(const Node& node) {
  auto tag = node.tags.find(kTraining);
  return tag == node.tags.end() ? "" : tag->second;
}

bool adds_up_gradients(const Node& op) { return op.is_op() && training_of(op) == kTrainingGradient; }

bool runs_in_phases(const Graph& graph) {
  const auto ids = graph.ids();
  return std::any_of(ids.begin(), ids.end(), [&](NodeId id) { return adds_up_gradients(graph.node(id)); });
}

bool is_of_optimizer(const Node& node) {
  const auto phase = node.tags.find(kPhase);
  return phase != node.tags.end() && phase->second == kPhaseOptimizer;
}

}  // namespace buda::graph
