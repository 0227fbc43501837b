// SPDX-License-Identifier: Apache-2.0
// The way from the inputs to the outputs.
#include <buda/ops/rows/mixed_rows.hpp>

#include <buda/graph/graph.hpp>
#include <buda/graph/tags/loopback.hpp>
#include <buda/graph/tags/mixed_rows.hpp>
#include <buda/ops/rows/free_values.hpp>
#include <buda/ops/rows/row_rules.hpp>
#include <buda/ops/table/registry.hpp>

#include <algorithm>
#include <optional>

namespace buda::ops {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using Kind = RowFlow::Kind;

// The rows of all inputs that a run cuts; nothing where they differ.
std::optional<std::int64_t> rows_of_batch(const Graph& graph) {
  std::optional<std::int64_t> batch;
  for (NodeId id : graph.inputs()) {
    const Node& n = graph.node(id);
    if (n.tags.contains(graph::kLoopback)) return std::nullopt;
    if (graph.use_count(id) == 0) continue;
    if (n.outputs.empty() || n.outputs[0].shape.rank() == 0) return std::nullopt;
    const std::int64_t rows = n.outputs[0].shape[0];
    if (rows < 1 || (batch && *batch != rows)) return std::nullopt;
    batch = rows;
  }
  return batch;
}

class Follower {
 public:
  Follower(const Graph& graph, std::int64_t batch) : graph_(graph), batch_(batch), flows_(graph.id_bound()) {}

  std::vector<MixedRows> run() {
    for (NodeId id : graph_.inputs()) flows_[id.index()] = {RowFlow{Kind::rows, 0, 1, 1, {}}};
    for (NodeId id : graph_.topological_order())
      if (graph_.node(id).is_op()) flows_[id.index()] = results(graph_.node(id));
    std::vector<MixedRows> out;
    for (NodeId id : graph_.outputs())
      if (const NodeId mixer = mixer_of(id); mixer.valid()) out.push_back({id, mixer});
    return out;
  }

 private:
  RowFlow flow(graph::ValueRef value) const {
    const auto& all = flows_[value.node.index()];
    return value.port < all.size() ? all[value.port] : RowFlow{};
  }

  // What only a rule can tell is left to it.
  std::optional<RowFlow> without_rule(const Node& n) const {
    bool any_rows = false, whole = false;
    for (const graph::Edge& edge : n.inputs()) {
      const RowFlow f = flow(edge.source);
      if (f.kind == Kind::mixed) return f;
      whole = whole || f.kind == Kind::whole;
      any_rows = any_rows || f.has_rows();
    }
    if (whole) return RowFlow{Kind::whole, 0, 1, 1, {}};
    if (!any_rows) return RowFlow{};
    return std::nullopt;
  }

  std::vector<RowFlow> results(const Node& n) const {
    if (auto known = without_rule(n)) return std::vector<RowFlow>(n.outputs.size(), *known);
    const OpDef* def = standard_ops().find(graph::Level::tensor, n.op());
    if (def == nullptr) return std::vector<RowFlow>(n.outputs.size(), RowFlow{Kind::mixed, 0, 1, 1, n.id()});
    RowCall call{graph_, n, Attrs(*def, n.attrs), batch_, {}, {}, {}};
    for (const graph::Edge& edge : n.inputs()) {
      call.flows.push_back(flow(edge.source));
      call.shapes.push_back(graph_.type(edge.source)->shape);
    }
    for (const ValueType& type : n.outputs) call.results.push_back(type.shape);
    const RowRule rule = row_rule(*def);
    std::vector<RowFlow> out = rule == nullptr ? std::vector<RowFlow>(n.outputs.size(), call.unclear()) : rule(call);
    for (RowFlow& f : out)
      if (batch_ == 1 && f.has_rows() && (f.outer != 1 || f.inner != 1)) f = call.unclear();
    return out;
  }

  // Positions that a maximum pool gives count all rows of the batch.
  bool counts_rows(graph::ValueRef value) const {
    auto op = [&]() -> const std::string& { return graph_.node(value.node).op(); };
    while (op() == "cast" || op() == "exact_cast" || op() == "nop") value = graph_.node(value.node).inputs()[0].source;
    return value.port == 1 && op().starts_with("max_pool");
  }

  // Invalid where the output's rows are those of the inputs.
  NodeId mixer_of(NodeId output) const {
    const graph::ValueRef source = graph_.node(output).inputs()[0].source;
    const RowFlow f = flow(source);
    const graph::ValueType* type = graph_.type(source);
    // An output of another size is never cut, which whoever runs the model is told.
    if (type == nullptr || type->shape.rank() == 0 || type->shape[0] != batch_) return {};
    if (f.kind == Kind::mixed) return f.mixer;
    const bool own = f.kind == Kind::whole || f == RowFlow{Kind::rows, 0, 1, 1, {}};
    if (f.is_free() ? same_rows(output) : own && (batch_ == 1 || !counts_rows(source))) return {};
    return graph_.node(source.node).is_op() ? source.node : output;
  }

  // Of an output that depends on no row.
  bool same_rows(NodeId output) const {
    const Node& n = graph_.node(output);
    const OpDef nothing;
    const RowCall call{graph_, n, Attrs(nothing, n.attrs), batch_, {RowFlow{}}, {graph_.type(n.inputs()[0].source)->shape}, {}};
    return same_for_all_rows(call, 0, 0, RowFlow{Kind::rows, 0, 1, 1, {}});
  }

  const Graph& graph_;
  const std::int64_t batch_;
  std::vector<std::vector<RowFlow>> flows_;  // by node and result
};

}  // namespace

std::vector<MixedRows> mixed_rows(const Graph& graph) {
  const auto batch = rows_of_batch(graph);
  if (!batch || graph.level != graph::Level::tensor) return {};
  return Follower(graph, *batch).run();
}

void mark_mixed_rows(Graph& graph) {
  for (const MixedRows& m : mixed_rows(graph)) graph.node(m.output).tags[graph::kRowsMixedBy] = graph.node(m.mixer).name();
}

}  // namespace buda::ops
