// SPDX-License-Identifier: Apache-2.0
// Running a graph file: inputs by the names of its nodes, outputs in its order.
#include "apps/runner/graph.hpp"

#include <buda/graph/file/graph_file.hpp>
#include <buda/graph/graph.hpp>

#include <utility>

namespace buda::runner {
namespace {

std::vector<std::string> names_of_nodes(const graph::Graph& graph, const std::vector<graph::NodeId>& ids) {
  std::vector<std::string> names;
  for (graph::NodeId id : ids) names.push_back(graph.node(id).name());
  return names;
}

}  // namespace

std::vector<std::string> names_of_outputs(const graph::Graph& graph) { return names_of_nodes(graph, graph.outputs()); }

Result<EvaluatedGraph> evaluate_graph(const io::Bytes& bytes, const std::string& path, runtime::Arithmetic arithmetic,
                                      const ReadInputs& read_inputs, Host& host) {
  BUDA_ASSIGN(auto graph, graph::parse_graph(host.fs(), bytes.view(), path));
  BUDA_ASSIGN(auto inputs, read_inputs(graph, names_of_nodes(graph, graph.inputs())));
  EvaluatedGraph done;
  done.outputs = names_of_outputs(graph);
  BUDA_ASSIGN(done.run, runtime::run_graph(std::move(graph), inputs, host, arithmetic));
  return done;
}

}  // namespace buda::runner
