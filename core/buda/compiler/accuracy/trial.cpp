// SPDX-License-Identifier: Apache-2.0
// The stages in a row, without their messages.
#include <buda/compiler/accuracy/trial.hpp>

#include <buda/compiler/accuracy/simulated_run.hpp>
#include <buda/compiler/compiled_model.hpp>
#include <buda/compiler/optimize.hpp>
#include <buda/graph/parts/renumber.hpp>
#include <buda/graph/tags/placement.hpp>
#include <buda/io/quiet_host.hpp>
#include <buda/ops/device/device_layout.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace buda::compiler {
namespace {

// Of values at tensor level; lowering keeps the names of those that it makes the same values of.
void note_sizes(const graph::Graph& graph, std::map<std::string, Shape>& sizes) {
  for (const graph::NodeId id : graph.ids()) {
    const graph::Node& n = graph.node(id);
    if (n.outputs.size() != 1) continue;
    if (auto four = ops::four_axes(n.outputs[0].shape)) sizes[n.name()] = *four;
  }
}

// The ops of the netlist that nodes have become, where a node has become one.
std::map<std::string, std::string> ops_of_nodes(const balance::PlacementReport& report) {
  std::map<std::string, std::string> out;
  std::set<std::string> several;
  for (const balance::ReportEpoch& epoch : report.epochs)
    for (const balance::ReportOp& op : epoch.ops)
      if (!out.emplace(op.node, op.name).second) several.insert(op.node);
  for (const std::string& node : several) out.erase(node);
  return out;
}

// Of each of them the results for one batch.
std::map<std::string, std::int64_t> kept_results(const graph::Graph& graph, const std::map<std::string, std::string>& ops) {
  std::map<std::string, std::int64_t> out;
  for (const graph::NodeId id : graph.ids()) {
    const graph::Node& n = graph.node(id);
    const auto op = ops.find(n.name());
    if (op != ops.end() && n.is_op() && n.outputs.size() == 1 && n.outputs[0].shape.rank() == 4) out[op->second] = n.outputs[0].shape[0];
  }
  return out;
}

bool is_no_fit(const Failure& failure) {
  return std::any_of(failure.diagnostics().begin(), failure.diagnostics().end(), [](const Diagnostic& d) { return d.fault == Fault::fit; });
}

// Ops that wait for each other in the simulation (sim/epoch_run.cpp): a plan that nobody wants to be chosen, and no reason to try no other.
bool is_stalled(const Failure& failure) {
  return std::any_of(failure.diagnostics().begin(), failure.diagnostics().end(), [](const Diagnostic& d) { return d.code == "SM003"; });
}

}  // namespace

Result<std::optional<Trial>> try_rules(const TrialSetting& setting, const std::vector<std::string>& rules, const NamedTensors& inputs,
                                       const NamedTensors& expected, double floor, TrialKind kind, Host& host) {
  const bool keep_ops = kind == TrialKind::first;
  QuietHost quiet(host);
  OptimizerOptions options = setting.optimizer;
  options.mixed_precision.insert(options.mixed_precision.end(), rules.begin(), rules.end());
  Trial out;
  out.graph = setting.graph;
  OptimizeControl control;
  control.pipeline = setting.pipeline;
  control.after_pass = [&](const passes::PassRun&, const graph::Graph& graph) -> Result<void> {
    if (graph.level == graph::Level::tensor && keep_ops) {
      out.data.clear();
      note_sizes(graph, out.data);
    }
    return success();
  };
  BUDA_TRY(optimize(out.graph, setting.device, options, setting.plugins, quiet, control));
  out.graph = graph::renumbered(out.graph);
  auto placed = place(out.graph, setting.device, setting.balancer, setting.plugins, quiet);
  if (!placed) {
    if (is_no_fit(placed.failure())) return std::optional<Trial>();
    return std::move(placed).failure();
  }
  out.netlist = placed->balanced.built.netlist;
  out.report = placed->balanced.report;
  BUDA_ASSIGN(auto model, compiled_model(std::move(*placed), setting.device, setting.graph.name));
  out.ops = ops_of_nodes(out.report);
  const auto kept = keep_ops ? kept_results(out.graph, out.ops) : std::map<std::string, std::int64_t>();
  BUDA_ASSIGN(out.run, run_on_golden(model, setting.device, arith::Mode::bits, inputs, kept, quiet));
  BUDA_ASSIGN(out.score, score_outputs(expected, out.run.outputs, floor));
  if (out.score.holds) {
    // Whoever runs the image does so in mode exact first, whose sums come in another order.
    BUDA_ASSIGN(const GoldenRun exact, run_on_golden(model, setting.device, arith::Mode::exact, inputs, {}, quiet));
    BUDA_ASSIGN(Score score, score_outputs(expected, exact.outputs, floor));
    if (!score.holds || score.largest_miss() > out.score.largest_miss()) out.score = std::move(score);
  }
  if (!out.score.holds && kind == TrialKind::other) return std::optional<Trial>(std::move(out));
  auto cycles = simulated_cycles(std::move(model), setting.device, inputs, quiet);
  if (!cycles && !is_stalled(cycles.failure())) {
    if (is_no_fit(cycles.failure())) return std::optional<Trial>();
    return std::move(cycles).failure();
  }
  out.is_simulated = cycles.ok();
  out.cycles = out.is_simulated ? *cycles : out.report.totals.cycles;
  return std::optional<Trial>(std::move(out));
}

}  // namespace buda::compiler
