// SPDX-License-Identifier: Apache-2.0
// What a graph needs before it can be balanced.
#include <buda/balance/problem/problem.hpp>
#include <buda/graph/editor.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/tags/loopback.hpp>

#include <set>
#include <string>
#include <utility>

namespace buda::balance {

namespace {

// Names of outputs that are inputs of the next step.
std::set<std::string> fed_back(const graph::Graph& graph) {
  std::set<std::string> out;
  for (graph::NodeId id : graph.inputs()) {
    const auto& tags = graph.node(id).tags;
    if (auto tag = tags.find(graph::kLoopback); tag != tags.end()) out.insert(tag->second);
  }
  return out;
}

// A sparse matmul holds the matrices of its result one below the other. Who reads an op's result undoes that, but a state is read as what
// it is for the host: matrix by matrix.
bool is_held_stacked(const graph::Node& producer, const graph::ValueType& value) {
  const auto identity = producer.attrs.find("identity");
  return identity != producer.attrs.end() && identity->second == graph::Attr(true) && value.shape.rank() == 4 && value.shape[1] > 1;
}

}  // namespace

std::vector<std::string> normalize(graph::Graph& graph) {
  const std::set<std::string> states = fed_back(graph);
  for (graph::NodeId id : graph.outputs()) {
    const graph::Node& output = graph.node(id);
    if (output.inputs().size() != 1) continue;
    graph::Edge edge = output.inputs()[0];
    if (!graph.contains(edge.source.node)) continue;
    const graph::Node& producer = graph.node(edge.source.node);
    auto type = graph.type(edge);
    if (!type) continue;
    const bool is_state = states.contains(output.name());
    if (producer.is_op() && edge.tms.empty() && !(is_state && is_held_stacked(producer, *type))) continue;
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
