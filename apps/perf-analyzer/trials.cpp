// SPDX-License-Identifier: Apache-2.0
// Overrides to try, and plans compared by their estimates.
#include "apps/perf-analyzer/trials.hpp"

#include <buda/base/text.hpp>
#include <buda/compiler/optimize.hpp>
#include <buda/compiler/place.hpp>
#include <buda/compiler/settings.hpp>
#include <buda/device/load.hpp>
#include <buda/graph/file/graph_file.hpp>
#include <buda/graph/graph.hpp>
#include <buda/io/process.hpp>
#include <buda/io/quiet_host.hpp>
#include <buda/screen/text.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace buda::perf_analyzer {
namespace {

using balance::PlacementReport, balance::ReportOp;
using perf::EpochSummary;

constexpr std::size_t kOpsOfEpoch = 3;
constexpr double kHelps = 1.01;  // times as fast; less is within what the estimate is sure of

std::map<std::string, const ReportOp*> ops_of(const PlacementReport& plan) {
  std::map<std::string, const ReportOp*> out;
  for (const auto& epoch : plan.epochs)
    for (const ReportOp& op : epoch.ops) out[op.name] = &op;
  return out;
}

// Numbers that divide `tiles` and are larger than `now`, the least ones.
std::vector<std::int32_t> larger_divisors(std::int64_t tiles, std::int32_t now, std::int32_t most) {
  constexpr std::size_t kFew = 2;
  std::vector<std::int32_t> out;
  for (std::int32_t n = now + 1; n <= most && out.size() < kFew; ++n)
    if (tiles % n == 0) out.push_back(n);
  return out;
}

std::string grid_text(GridShape grid) { return cat('[', grid.rows, ',', grid.cols, ']'); }

// Larger grids, more of the inner dimension at once, no streaming: what makes a kernel faster.
std::vector<std::pair<std::string, std::string>> for_kernel(const ReportOp& op, GridShape workers) {
  std::vector<std::pair<std::string, std::string>> out;
  const auto rows = larger_divisors(std::int64_t{op.grid.rows} * op.mblock.front() * op.ublock.front(), op.grid.rows, workers.rows);
  const auto cols = larger_divisors(std::int64_t{op.grid.cols} * op.mblock.back() * op.ublock.back(), op.grid.cols, workers.cols);
  for (const std::int32_t r : rows) out.emplace_back("grid", grid_text({r, op.grid.cols}));
  for (const std::int32_t c : cols) out.emplace_back("grid", grid_text({op.grid.rows, c}));
  if (!rows.empty() && !cols.empty()) out.emplace_back("grid", grid_text({rows.front(), cols.front()}));
  if (op.m_k > 1) out.emplace_back("u_kt", cat(op.u_kt * 2));
  if (op.t > 1) out.emplace_back("t-stream", "[1,1]");
  return out;
}

// The producer's grid, so that tensors need not be cut anew, and more room for what arrives.
std::vector<std::pair<std::string, std::string>> for_input(const ReportOp& op, const EpochSummary::Cause& cause, const EpochSummary& epoch,
                                                           const std::map<std::string, const ReportOp*>& ops) {
  constexpr int kBuffers = 4;
  std::vector<std::pair<std::string, std::string>> out;
  const auto measured = std::find_if(epoch.ops.begin(), epoch.ops.end(), [&](const auto& o) { return o.name == op.name; });
  if (cause.operand < 0 || measured == epoch.ops.end() || static_cast<std::size_t>(cause.operand) >= measured->inputs.size()) return out;
  const auto producer = ops.find(measured->inputs[static_cast<std::size_t>(cause.operand)].name);
  if (producer != ops.end() && producer->second->grid != op.grid) out.emplace_back("grid", grid_text(producer->second->grid));
  out.emplace_back("input-buffer-multiplier", cat(cause.operand, ':', kBuffers));
  return out;
}

// Those of the run's placement; without a file the usual ones.
Result<compiler::BalancerOptions> options_of(const Options& o, io::FileSystem& fs, compiler::PluginOptions& plugins) {
  std::string path = o.settings;
  constexpr std::string_view kGraph = ".device.graph.json";
  if (path.empty() && o.graph.ends_with(kGraph)) path = o.graph.substr(0, o.graph.size() - kGraph.size()) + ".balancer.json";
  if (path.empty() || (o.settings.empty() && !fs.exists(path))) return compiler::BalancerOptions{};
  BUDA_ASSIGN(const compiler::Settings settings, compiler::read_settings(fs, path));
  return compiler::balancer_options(settings, plugins);
}

// What ran and what the graph is placed as have the same ops on the same grids.
Result<void> check_same(const perf::SummaryFile& run, const PlacementReport& plan, const std::string& path) {
  const auto ops = ops_of(plan);
  for (const EpochSummary& epoch : run.epochs)
    for (const auto& op : epoch.ops) {
      const auto planned = ops.find(op.name);
      const bool same = planned != ops.end() && planned->second->grid.volume() == op.grid.volume() && planned->second->t == op.t;
      if (same) continue;
      Diagnostic d = input_error("AN006", {path}, cat("placed with these options, this graph is not what ran: op '", op.name, "' differs"));
      d.node = op.name;
      d.hint = "give the graph and the settings of 'buda compile --build-dir DIR': DIR/MODEL.device.graph.json, DIR/MODEL.balancer.json";
      return d;
    }
  return success();
}

// Cycles of the run in which epochs were changed, for each change.
double change_cycles(const perf::SummaryFile& run) {
  double switching = 0, changes = 0;
  for (const EpochSummary& epoch : run.epochs) {
    switching += epoch.switching.cycles();
    changes += static_cast<double>(epoch.executions);
  }
  return changes > 0 ? switching / changes : 0;
}

}  // namespace

std::vector<Trial> trials_for(const perf::SummaryFile& run, const PlacementReport& plan, GridShape workers, std::size_t most) {
  std::vector<std::size_t> order(run.epochs.size());
  for (std::size_t e = 0; e < order.size(); ++e) order[e] = e;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return run.epochs[a].total > run.epochs[b].total; });
  const auto ops = ops_of(plan);
  std::vector<Trial> out;
  for (const std::size_t e : order) {
    std::size_t concerned = 0;
    for (const auto& cause : run.epochs[e].causes) {
      const auto op = ops.find(cause.op);
      if (op == ops.end() || concerned == kOpsOfEpoch) continue;
      ++concerned;
      const bool by_input = cause.kind == EpochSummary::Cause::Kind::read || cause.kind == EpochSummary::Cause::Kind::send;
      auto overrides = for_kernel(*op->second, workers);
      if (by_input) {
        auto more = for_input(*op->second, cause, run.epochs[e], ops);
        overrides.insert(overrides.begin(), more.begin(), more.end());
      }
      for (auto& [key, value] : overrides) {
        Trial trial{e, cat(cause.op, '.', key), std::move(value)};
        if (std::find(out.begin(), out.end(), trial) == out.end()) out.push_back(std::move(trial));
        if (out.size() == most) return out;
      }
    }
  }
  return out;
}

double speedup(const PlacementReport& before, const PlacementReport& after, double cycles) {
  const auto whole = [&](const PlacementReport& plan) {
    return static_cast<double>(plan.totals.cycles) + cycles * static_cast<double>(plan.totals.epochs);
  };
  return whole(before) / std::max(whole(after), 1.0);
}

Result<void> try_advice(const Options& o, Run& run, cli::ToolHost& host) {
  host.progress("placing", 0, 0);
  compiler::PluginOptions plugin_options = host.plugin_options;
  BUDA_ASSIGN(compiler::BalancerOptions options, options_of(o, host.fs(), plugin_options));
  BUDA_ASSIGN(const graph::Graph graph, graph::read_graph(host.fs(), o.graph));
  const auto lowered = graph.tags.find(compiler::kLoweredFor);
  BUDA_ASSIGN(const auto device, device::load_device(host, !o.device.empty()             ? o.device
                                                           : lowered != graph.tags.end() ? lowered->second
                                                                                         : std::string("n150")));
  const compiler::PluginSet plugins{host.plugins, plugin_options};
  QuietHost quiet(host);
  BUDA_ASSIGN(const auto placed, compiler::place(graph::Graph(graph), device, options, plugins, quiet));
  const PlacementReport& before = placed.balanced.report;
  BUDA_TRY(check_same(run.report, before, o.graph));
  const double cycles = change_cycles(run.report);
  std::map<std::size_t, std::vector<std::pair<double, std::string>>> found;  // by epoch
  const auto trials = trials_for(run.report, before, device.grid(), static_cast<std::size_t>(o.tries));
  for (std::size_t i = 0; i < trials.size(); ++i) {
    host.progress("trying overrides", i, trials.size());
    compiler::BalancerOptions with = options;
    with.op_overrides[trials[i].key] = trials[i].value;
    const auto other = compiler::place(graph::Graph(graph), device, with, plugins, quiet);
    if (!other) continue;  // no legal implementation
    const double times = speedup(before, other->balanced.report, cycles);
    const std::string option = io::shell_line({"--set", cat("op.", trials[i].key, '=', trials[i].value)});
    host.log(1, cat(option, ": ", times, " times as fast by the balancer's estimate"));
    if (times < kHelps) continue;
    found[trials[i].epoch].emplace_back(times, cat(option, " predicts ", screen::number_text(run.report.inputs_per_second * times),
                                                   " inputs/s, ", screen::number_text(times, 2), " times as many"));
  }
  host.progress("trying overrides", trials.size(), trials.size());
  for (std::size_t e = 0; e < run.report.epochs.size(); ++e) {
    auto& tried = found[e];
    std::stable_sort(tried.begin(), tried.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    auto& advice = run.report.epochs[e].advice;
    advice.clear();
    for (auto& [times, text] : tried) advice.push_back(std::move(text));
  }
  run.epochs = run.report.epochs;
  return success();
}

}  // namespace buda::perf_analyzer
