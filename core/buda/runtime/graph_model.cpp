// A plan with one segment, which is the graph.
#include <buda/runtime/graph_model.hpp>

#include <buda/balance/emit/segments.hpp>
#include <buda/graph/graph.hpp>
#include <buda/ops/rows/mixed_rows.hpp>
#include <buda/ops/whole_graph/infer.hpp>

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
  out.host_graphs.emplace(path, std::make_shared<const graph::Graph>(std::move(graph)));
  return out;
}

}  // namespace buda::runtime
