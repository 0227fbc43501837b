// SPDX-License-Identifier: Apache-2.0
// All that can be checked and known of runs without a device.
#include <buda/runtime/model_runs.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/host_plan/phase_parameters.hpp>
#include <buda/runtime/model/model_ports.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace buda::runtime {
namespace {

// What a graph takes must be there when its turn comes, in the type that it takes; at the end all outputs must be.
Result<void> check_host_graphs(const Model& model) {
  Failure failure;
  const host_plan::HostPlan& plan = model.plan;
  std::map<std::string, std::string> there;  // types by name
  std::set<std::string> outputs, given;
  auto type_text = [](const host_plan::PlanTensor& t) { return cat(t.dtype, ' ', Shape(t.shape).text()); };
  for (const auto& t : plan.inputs) there.emplace(t.name, type_text(t));
  for (const auto& t : plan.outputs) (t.queue.empty() ? outputs : given).insert(t.name);
  for (const auto& segment : plan.segments) {
    for (const auto& t : segment.inputs)
      if (auto it = there.find(t.name); it == there.end() || it->second != type_text(t))
        failure.add(input_error("RT016", {},
                                cat("the device takes '", t.name, "' (", type_text(t), "), which ",
                                    it == there.end() ? "no earlier segment provides" : cat("is ", it->second, " there"))));
    for (const auto& t : segment.outputs) there.emplace(t.name, type_text(t));
    if (segment.kind != host_plan::SegmentKind::host) continue;
    auto found = model.host_graphs.find(segment.file);
    if (found == model.host_graphs.end()) return internal_error(cat("the graph '", segment.file, "' was not loaded"));
    const graph::Graph& graph = *found->second;
    for (auto id : graph.inputs()) {
      const graph::Node& n = graph.node(id);
      auto it = there.find(n.name());
      const std::string wanted = cat(dtype_name(n.outputs[0].dtype), ' ', n.outputs[0].shape.text());
      if (it != there.end() && it->second == wanted) continue;
      failure.add(input_error("RT016", {segment.file},
                              cat("the graph takes '", n.name(), "' (", wanted, "), which ",
                                  it == there.end() ? "no earlier segment provides" : cat("is ", it->second, " there"))));
    }
    for (auto id : graph.outputs()) {
      const graph::Node& n = graph.node(id);
      const graph::ValueType& type = *graph.type(n.inputs()[0].source);
      if (outputs.contains(n.name())) {
        given.insert(n.name());
      } else {
        there.emplace(n.name(), cat(dtype_name(type.dtype), ' ', type.shape.text()));
      }
    }
  }
  for (const auto& name : outputs)
    if (!given.contains(name)) failure.add(input_error("RT016", {}, cat("no segment of the plan provides output '", name, "'")));
  if (!failure.empty()) return failure;
  return success();
}

Result<void> find_programs(const Model& model, ModelRuns& out) {
  const auto& netlist = model.program.netlist;
  const bool phases = host_plan::has_phases(model.plan);
  const std::vector<std::string> of_phases = {host_plan::kStateSlot, host_plan::kNextStateSlot, host_plan::kZeroGradients};
  for (const auto& segment : model.plan.segments) {
    if (segment.kind != host_plan::SegmentKind::device) continue;
    if (segment.phase == host_plan::SegmentPhase::optimizer) out.optimizer = out.programs.size();
    std::vector<RunProgram>& programs = out.programs.emplace_back();
    for (const auto& name : segment.programs) {
      auto program = std::find_if(netlist.programs.begin(), netlist.programs.end(), [&](const auto& p) { return p.name == name; });
      if (program == netlist.programs.end())
        return input_error("RT015", {netlist.file}, cat("the plan runs program '", name, "', which the netlist does not have"));
      RunProgram run{name, {}};
      for (const auto& instruction : program->instructions) {
        const auto* param = std::get_if<netlist::instruction::Param>(&instruction.what);
        if (param == nullptr) continue;
        for (const auto& p : param->names) {
          const bool is_known = p == kLoopCount || (phases && std::find(of_phases.begin(), of_phases.end(), p) != of_phases.end());
          if (!is_known)
            return input_error("RT015", {netlist.file},
                               cat("program '", name, "' has the parameter '", p, "'; a model's programs may have ", kLoopCount,
                                   phases ? cat(", ", join(of_phases, ", ")) : std::string(" only")));
          run.parameters.push_back(p);
        }
      }
      programs.push_back(std::move(run));
    }
    if (programs.empty()) return input_error("RT015", {netlist.file}, "the plan names no programs: nothing runs");
  }
  // Several programs of a segment hand their results on through queues of one batch's size; from segment to segment the host does.
  for (const auto& segment : model.plan.segments) out.per_turn = std::max(out.per_turn, segment.batches);
  bool loop = true;
  for (std::size_t i = 0; i < out.programs.size(); ++i)
    loop = loop && (i == out.optimizer || (out.programs[i].size() == 1 && out.programs[i].front().takes(kLoopCount)));
  out.max_at_once = loop ? std::max<std::int64_t>(out.ports.room, 1) : 1;
  if (out.max_at_once < out.per_turn)
    return input_error(
        "RT015", {netlist.file},
        cat("an iteration of the programs' loop processes ", out.per_turn, " batches; the model's queues hold ", out.max_at_once));
  out.max_at_once = out.max_at_once / out.per_turn * out.per_turn;
  return success();
}

}  // namespace

bool RunProgram::takes(std::string_view parameter) const {
  return std::find(parameters.begin(), parameters.end(), parameter) != parameters.end();
}

Result<ModelRuns> runs_of(const Model& model) {
  ModelRuns out;
  BUDA_ASSIGN(out.ports, ports_of(model));
  BUDA_TRY(check_host_graphs(model));
  out.has_phases = host_plan::has_phases(model.plan);
  if (model.uses_device()) BUDA_TRY(find_programs(model, out));
  return out;
}

}  // namespace buda::runtime
