// SPDX-License-Identifier: Apache-2.0
// A plan with one segment, which is the graph, or of a training step in programs with two.
#include <buda/runtime/model/graph_model.hpp>

#include <buda/balance/emit/segments.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/tags/training.hpp>
#include <buda/ops/rows/mixed_rows.hpp>
#include <buda/ops/whole_graph/infer.hpp>
#include <buda/runtime/reference/phase_graphs.hpp>

#include <memory>
#include <utility>

namespace buda::runtime {

Result<Model> model_of_graph(graph::Graph graph, const std::string& path) {
  BUDA_TRY(ops::infer_types(graph));
  BUDA_TRY(ops::check(graph));
  if (graph.level != graph::Level::tensor)
    return input_error("RT001", {path}, "the host executes graphs at tensor level, and this graph is at device level");
  ops::mark_mixed_rows(graph);
  Model out;
  out.path = path;
  out.plan.model = graph.name;
  for (graph::NodeId id : graph.inputs()) out.plan.inputs.push_back(balance::plan_tensor(graph, graph.node(id)));
  for (graph::NodeId id : graph.outputs()) out.plan.outputs.push_back(balance::plan_tensor(graph, graph.node(id)));
  out.plan.segments.push_back({host_plan::SegmentKind::host, path, {}});
  if (graph::runs_in_phases(graph)) {
    PhaseGraphs parts = phase_graphs(graph);
    const std::string optimizer = path + ".optimizer";
    out.plan.segments.back().phase = host_plan::SegmentPhase::forward;
    out.plan.segments.push_back({host_plan::SegmentKind::host, optimizer, {}});
    out.plan.segments.back().phase = host_plan::SegmentPhase::optimizer;
    out.host_graphs.emplace(path, std::make_shared<const graph::Graph>(std::move(parts.batch)));
    out.host_graphs.emplace(optimizer, std::make_shared<const graph::Graph>(std::move(parts.optimizer)));
    return out;
  }
  out.host_graphs.emplace(path, std::make_shared<const graph::Graph>(std::move(graph)));
  return out;
}

}  // namespace buda::runtime
