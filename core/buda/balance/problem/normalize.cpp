// What a graph needs before it can be balanced.
#include <buda/balance/problem/problem.hpp>
#include <buda/graph/editor.hpp>
#include <buda/graph/graph.hpp>

#include <utility>

namespace buda::balance {

std::vector<std::string> normalize(graph::Graph& graph) {
  for (graph::NodeId id : graph.outputs()) {
    const graph::Node& output = graph.node(id);
    if (output.inputs().size() != 1) continue;
    graph::Edge edge = output.inputs()[0];
    if (!graph.contains(edge.source.node)) continue;
    const graph::Node& producer = graph.node(edge.source.node);
    if (producer.is_op() && edge.tms.empty()) continue;
    auto type = graph.type(edge);
    if (!type) continue;
    graph::ValueType value = std::move(*type);
    graph::GraphEditor editor(graph, producer.id());
    editor.insert_on_edge({id, 0}, "nop", "nop", value);
  }
  graph::erase_dead_nodes(graph);
  std::vector<std::string> unused;
  for (graph::NodeId id : graph.inputs())
    if (graph.use_count(id) == 0) unused.push_back(graph.node(id).name());
  return unused;
}

}  // namespace buda::balance
