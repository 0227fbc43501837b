// SPDX-License-Identifier: Apache-2.0
// The plan, its tensors and the host's graphs, without files in between.
#include <buda/compiler/compiled_model.hpp>

#include <buda/balance/emit/plan_builder.hpp>
#include <buda/graph/file/refer.hpp>
#include <buda/graph/graph.hpp>
#include <buda/netlist/text/parse.hpp>
#include <buda/ops/whole_graph/infer.hpp>

#include <utility>

namespace buda::compiler {

Result<runtime::Model> compiled_model(Placed placed, const device::DeviceDescriptor& device, const std::string& name) {
  runtime::Model model;
  model.path = name + ".yaml";
  balance::PlanFiles files;
  files.netlist = model.path;
  files.tensors = name + ".safetensors";
  balance::BuiltPlan built;
  if (placed.segments.device) {
    graph::forget_files(placed.balanced.graph);
    BUDA_ASSIGN(built, balance::build_plan(placed.balanced.graph, placed.balanced.problem, placed.balanced.built.queues, files));
  } else {
    built.plan.model = placed.balanced.problem.name;
    built.plan.device = device.name;
    built.plan.arch = device.arch;
  }
  auto add_host_graph = [&](const std::optional<graph::Graph>& segment, const std::string& file) -> Result<void> {
    if (!segment) return success();
    graph::Graph graph = *segment;
    BUDA_TRY(ops::infer_types(graph));
    BUDA_TRY(ops::check(graph));
    model.host_graphs.emplace(file, std::make_shared<const graph::Graph>(std::move(graph)));
    return success();
  };
  const balance::Segments& segments = placed.segments;
  if (segments.has_host()) balance::add_host_segments(built.plan, segments, name);
  for (std::size_t i = 0; i < segments.host.size(); ++i)
    BUDA_TRY(add_host_graph(segments.host[i], balance::host_graph_file(name, i, segments.device_segments)));
  BUDA_ASSIGN(model.parameters, runtime::parameters_from(built.plan, {{files.tensors, std::move(built.tensors)}}));
  netlist::ParseOptions parse;
  parse.arch = device.arch;
  BUDA_ASSIGN(model.program.netlist, netlist::parse_netlist(placed.netlist, model.path, parse));
  model.plan = std::move(built.plan);
  model.text = io::Bytes(std::move(placed.netlist));
  return model;
}

}  // namespace buda::compiler
