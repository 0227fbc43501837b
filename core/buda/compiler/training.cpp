// Decompositions as functions on graphs.
#include <buda/compiler/training.hpp>

#include <buda/graph/graph.hpp>
#include <buda/passes/decompose/decompose_nodes.hpp>
#include <buda/plugin/decomposition.hpp>

#include <set>
#include <utility>

namespace buda::compiler {

Result<autograd::TrainingStep> training_step(graph::Graph graph, autograd::StepOptions options, const PluginSet& plugins, Host& host) {
  BUDA_ASSIGN(const passes::DecompositionSet decompositions, plugin::make_decompositions(plugins.registries, plugins.options, host));
  options.decompose = [&](graph::Graph& g, const std::set<graph::NodeId>& nodes) {
    return passes::decompose_nodes(g, nodes, decompositions, host);
  };
  return autograd::training_step(std::move(graph), options);
}

}  // namespace buda::compiler
