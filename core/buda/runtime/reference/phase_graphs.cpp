// SPDX-License-Identifier: Apache-2.0
// Copies of the parts.
#include <buda/runtime/reference/phase_graphs.hpp>

#include <buda/graph/parts/contents.hpp>
#include <buda/graph/tags/loopback.hpp>
#include <buda/graph/tags/training.hpp>

#include <map>
#include <utility>

namespace buda::runtime {
namespace {

using graph::Edge;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;
using graph::ValueRef;

class Part {
 public:
  explicit Part(const Graph& from) : from_(from), made_(from.name, from.level) {}

  void add(const Node& n) {
    std::vector<Edge> inputs;
    for (const Edge& edge : n.inputs()) inputs.emplace_back(value(edge.source));
    const NodeId copy = made_.add(n.name(), n.op(), std::move(inputs));
    graph::copy_contents(n, made_.node(copy));
    made_.node(copy).tags.erase(graph::kLoopback);  // its output may be in the other part
    for (std::uint32_t port = 0; port < n.outputs.size(); ++port) copies_.emplace(ValueRef(n.id(), port), ValueRef(copy, port));
  }

  void give(const Node& sum) { made_.add(sum.name(), std::string(graph::kOutputOp), {Edge(value(sum.id()))}); }

  Graph take() { return std::move(made_); }

 private:
  // Inputs and known values where they are first asked for; a sum of the other part is an input.
  ValueRef value(ValueRef v) {
    if (const auto found = copies_.find(v); found != copies_.end()) return found->second;
    const Node& n = from_.node(v.node);
    if (n.kind() != NodeKind::op) {
      add(n);
      return copies_.at(v);
    }
    const NodeId input = made_.add(n.name(), std::string(graph::kInputOp));
    made_.node(input).outputs = {*from_.type(v)};
    return copies_.emplace(v, ValueRef(input)).first->second;
  }

  const Graph& from_;
  Graph made_;
  std::map<ValueRef, ValueRef> copies_;
};

}  // namespace

PhaseGraphs phase_graphs(const Graph& graph) {
  Part batch(graph), optimizer(graph);
  for (NodeId id : graph.topological_order()) {
    const Node& n = graph.node(id);
    if (n.kind() == NodeKind::op) (graph::is_of_optimizer(n) ? optimizer : batch).add(n);
  }
  for (NodeId id : graph.outputs()) {
    const Node& source = graph.node(graph.node(id).inputs()[0].source.node);
    (graph::is_of_optimizer(source) ? optimizer : batch).add(graph.node(id));
  }
  for (NodeId id : graph.topological_order())
    if (graph::adds_up_gradients(graph.node(id))) batch.give(graph.node(id));
  return {batch.take(), optimizer.take()};
}

}  // namespace buda::runtime
