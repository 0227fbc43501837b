// SPDX-License-Identifier: Apache-2.0
// Names of nodes and of their origins.
#include <buda/compiler/model_input.hpp>

#include <buda/graph/graph.hpp>

#include <algorithm>

namespace buda::compiler {

graph::NodeId input_of(const graph::Graph& graph, const std::string& name) {
  if (graph::NodeId id = graph.find(name); id.valid() && graph.node(id).kind() == graph::NodeKind::input) return id;
  for (graph::NodeId id : graph.inputs()) {
    const auto& origins = graph.node(id).origins;
    if (std::any_of(origins.begin(), origins.end(), [&](const graph::Origin& o) { return o.node == name; })) return id;
  }
  return {};
}

}  // namespace buda::compiler
