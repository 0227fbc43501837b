// SPDX-License-Identifier: Apache-2.0
// Decompositions as functions on graphs.
#include <buda/compiler/training.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/editor.hpp>
#include <buda/graph/graph.hpp>
#include <buda/passes/decompose/decompose_nodes.hpp>
#include <buda/plugin/decomposition.hpp>

#include <map>
#include <set>
#include <string>
#include <utility>

namespace buda::compiler {

Result<autograd::TrainingStep> training_step(graph::Graph graph, autograd::StepOptions options, const PluginSet& plugins, Host& host) {
  BUDA_ASSIGN(const passes::DecompositionSet decompositions, plugin::make_decompositions(plugins.registries, plugins.options, host));
  std::map<std::string, int> priorities;
  options.decompose = [&](graph::Graph& g, const std::set<graph::NodeId>& nodes) {
    return passes::decompose_nodes(g, nodes, decompositions, host);
  };
  for (const passes::NamedDecomposition& d : decompositions)
    for (const std::string& op : d.rule->differentiates()) {
      const std::string from =
          d.file.empty() ? cat("decomposition '", d.name, '\'') : cat("decomposition '", d.name, "' (from ", d.file, ')');
      auto [found, is_new] = options.gradients.try_emplace(op);
      if (!is_new && priorities[op] >= d.rule->priority()) continue;
      priorities[op] = d.rule->priority();
      found->second = {from, [&rule = *d.rule](graph::GraphEditor& editor, graph::NodeId id, const std::vector<graph::ValueRef>& incoming) {
                         return rule.gradient(editor, id, incoming);
                       }};
    }
  return autograd::training_step(std::move(graph), options);
}

}  // namespace buda::compiler
