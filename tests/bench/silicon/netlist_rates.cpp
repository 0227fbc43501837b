// SPDX-License-Identifier: Apache-2.0
// Sections performance-check, and the summaries of runs beside them.
#include "netlist_rates.hpp"

#include <buda/timed/device.hpp>

#include <buda/base/text.hpp>
#include <buda/cost/kernel_cycles.hpp>
#include <buda/runtime/programs/bare_netlist.hpp>
#include <buda/runtime/session/stimulus.hpp>
#include <buda/runtime/streams.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string_view>
#include <utility>
#include <variant>

namespace buda::silicon {
namespace {

constexpr std::string_view kSection = "performance-check";
constexpr std::string_view kMetrics[] = {"cycles-per-tensor", "tensors-per-second", "math-utilization", "output-bw"};

// Goals by what a path contains, per cent; the first that fits. 0: the measurement is no evidence, or its cause is known to be missing.
constexpr std::pair<std::string_view, double> kGoals[] = {{"blackhole/", 0},
                                                          {"netlist_encoder_device_tilize", 0},
                                                          {"device_to_host_bw", 0},
                                                          {"wormhole_b0/netlist_encoder_grid", 10},
                                                          {"netlist_encoder_grid", 20},
                                                          {"bert_tiny", 15},
                                                          {"test_perf_matmul", 10}};
constexpr double kGoalOfOthers = 25;

double goal_of(const std::string& netlist) {
  for (const auto& [part, goal] : kGoals)
    if (netlist.find(part) != std::string::npos) return goal;
  return kGoalOfOthers;
}

class GridTarget final : public runtime::Target {
 public:
  explicit GridTarget(timed::DeviceOptions options) : options_(std::move(options)) {}
  Result<std::unique_ptr<runtime::Device>> open(const runtime::Program& program, const device::DeviceDescriptor& device,
                                                Host& host) override {
    return timed::make_device(program, device, options_, host);
  }
  runtime::Needs needs() const override { return {.streams = true}; }

 private:
  timed::DeviceOptions options_;
};

std::string text_of(const io::Node& config, std::string_view key) {
  const io::Node* value = config.find(key);
  if (value != nullptr && value->is_list()) value = value->items().empty() ? nullptr : &value->items().front();
  if (value == nullptr) return "";
  auto text = value->as_name();
  return text ? *text : "";
}

double number_of(const io::Node& metric, std::string_view key) {
  const io::Node* value = metric.find(key);
  if (value == nullptr) return 0;
  auto number = value->as_double();
  return number ? *number : 0;
}

std::vector<Expectation> expectations_of(const netlist::Netlist& netlist) {
  std::vector<Expectation> out;
  for (const auto& [name, section] : netlist.other) {
    if (name != kSection || !section.is_map()) continue;
    for (const io::Node& config : section.items())
      for (std::string_view metric : kMetrics) {
        const io::Node* found = config.find(metric);
        if (found == nullptr || !found->is_map()) continue;
        const double expected = number_of(*found, "expected"), bound = number_of(*found, "min_bound");
        if (expected == 0 && bound == 0) continue;
        out.push_back({text_of(config, "graph-name"), text_of(config, "target-ops"), std::string(metric), expected != 0 ? expected : bound,
                       expected == 0});
      }
  }
  return out;
}

// Files below a folder, by path.
Result<void> add_files(io::FileSystem& fs, const std::string& folder, const std::string& within, std::vector<std::string>& out) {
  BUDA_ASSIGN(auto names, fs.list(folder));
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    const std::string path = cat(folder, '/', name);
    if (fs.is_directory(path)) {
      BUDA_TRY(add_files(fs, path, cat(within, name, '/'), out));
    } else if (name.ends_with(".yaml")) {
      out.push_back(within + name);
    }
  }
  return success();
}

// Parameters without a value are 1.
void add_parameters(const netlist::Netlist& netlist, runtime::Parameters& parameters) {
  for (const auto& program : netlist.programs)
    for (const auto& instruction : program.instructions)
      if (const auto* param = std::get_if<netlist::instruction::Param>(&instruction.what))
        for (const auto& name : param->names) parameters.emplace(name, 1);
}

Result<void> prepare(CheckedNetlist& checked, Host& host) {
  netlist::Netlist& netlist = checked.program.netlist;
  add_parameters(netlist, checked.options.parameters);
  BUDA_ASSIGN(auto config, runtime::read_test_config(netlist));
  BUDA_ASSIGN(auto entries, runtime::entries_read(netlist, checked.options));
  BUDA_ASSIGN(checked.inputs, runtime::stimulate(netlist, config, host.seed, entries));
  return runtime::complete_program(checked.program, {.streams = true}, {}, checked.device, host);
}

double kernel_factor(const netlist::Op& op, const device::DeviceDescriptor& device, const NetlistSettings& settings) {
  if (op.type == netlist::OpType::fused_op) return settings.fused;
  switch (cost::kernel_cycles(op, nullptr, device).basis) {
    case cost::Basis::measured:
      return 1;
    case cost::Basis::other_format:
      return settings.other_format;
    default:
      return settings.assumed;
  }
}

const perf::EpochSummary* epoch_of(const perf::Summary& summary, const std::string& graph) {
  for (const auto& epoch : summary.epochs)
    if (epoch.graph == graph || graph.empty()) return &epoch;
  return nullptr;
}

// What a matmul's products take of a core at the peak of its math unit, for one input.
double peak_cycles(const netlist::Netlist& netlist, const std::string& name, const device::DeviceDescriptor& device) {
  for (const auto& graph : netlist.graphs)
    for (const auto& op : graph.ops)
      if (op.name == name)
        return static_cast<double>(op.block.t * op.block.mblock_m * op.block.mblock_n * op.block.ublock_tiles()) *
               static_cast<double>(op.inner_tiles()) * device.cost.math_cycles_per_tile * netlist::fidelity_phases(op.fidelity);
  return 0;
}

double predicted(const Expectation& e, const perf::EpochSummary& epoch, const perf::Clock& clock, double peak) {
  const double cycles = epoch.mean_period.cycles();
  if (e.metric == "cycles-per-tensor") return cycles;
  if (e.metric == "tensors-per-second") return clock.hz / cycles;
  for (const auto& op : epoch.ops) {
    if (op.name != e.op) continue;
    if (e.metric == "math-utilization") return 100 * peak / op.kernel.cycles();
    return static_cast<double>(op.output.bytes) * static_cast<double>(op.cores) / cycles * clock.hz / 1e9;
  }
  return 0;
}

std::string limiter_of(const perf::EpochSummary& epoch) {
  if (epoch.causes.empty()) return "";
  char share[32];
  std::snprintf(share, sizeof share, " (%.0f %%)", 100 * epoch.causes.front().share);
  return epoch.causes.front().what + share;
}

}  // namespace

bool NetlistRate::reached() const {
  if (expected.at_least) return predicted >= expected.value;
  return tolerance == 0 || (error() <= tolerance && error() >= -tolerance);
}

Result<std::vector<CheckedNetlist>> checked_netlists(Host& host, const std::string& folder) {
  std::vector<std::string> files;
  BUDA_TRY(add_files(host.fs(), folder, "", files));
  std::vector<CheckedNetlist> out;
  for (const std::string& file : files) {
    const std::string path = cat(folder, '/', file);
    BUDA_ASSIGN(io::Bytes bytes, host.fs().read(path));
    if (bytes.view().find(kSection) == std::string_view::npos) continue;
    auto bare = runtime::load_bare_netlist(host, bytes.view(), path);
    if (!bare) continue;  // invalid on purpose, or for other chips
    CheckedNetlist checked;
    checked.name = file;
    checked.expectations = expectations_of(bare->netlist);
    if (checked.expectations.empty()) continue;
    checked.program.netlist = std::move(bare->netlist);
    checked.device = std::move(bare->device);
    BUDA_TRY(prepare(checked, host));
    out.push_back(std::move(checked));
  }
  return out;
}

Result<std::vector<NetlistRate>> netlist_rates(const CheckedNetlist& checked, const device::DeviceDescriptor& device,
                                               const NetlistSettings& settings, Host& host) {
  timed::DeviceOptions options;
  options.check_tiles = false;
  options.switch_cycles = device.cost.transfers.epoch_switch_cycles * settings.switch_cycles;
  for (const auto& graph : checked.program.netlist.graphs)
    for (const auto& op : graph.ops)
      if (const double factor = kernel_factor(op, device, settings); factor != 1) options.scale[op.name] = factor;
  GridTarget target(std::move(options));
  BUDA_ASSIGN(auto run, runtime::run_netlist(checked.program, target, device, checked.inputs, checked.options, host));
  std::vector<NetlistRate> out;
  for (const Expectation& e : checked.expectations) {
    const perf::EpochSummary* epoch = epoch_of(*run.summary, e.graph);
    if (epoch == nullptr) return input_error("SI020", {checked.name}, cat(kSection, ": no epoch of graph '", e.graph, "' has run"));
    const double peak = peak_cycles(checked.program.netlist, e.op, device);
    out.push_back(
        {checked.name, device.arch, e, predicted(e, *epoch, run.summary->clock, peak), goal_of(checked.name), limiter_of(*epoch)});
  }
  return out;
}

std::string rate_table(const std::vector<NetlistRate>& rates) {
  std::string out =
      "| netlist | chip | metric | expected | predicted | error % | goal % | limited by |\n|---|---|---|--:|--:|--:|--:|---|\n";
  for (const NetlistRate& r : rates) {
    char text[128], goal[32] = "none";
    if (r.tolerance > 0) std::snprintf(goal, sizeof goal, "±%.0f", r.tolerance);
    if (r.expected.at_least) std::snprintf(goal, sizeof goal, "at least");
    std::snprintf(text, sizeof text, "%.6g | %.6g | %+.1f | %s%s", r.expected.value, r.predicted, r.error(), goal,
                  r.reached() ? "" : ", missed");
    out += cat("| ", r.netlist, ", ", r.expected.graph, " | ", r.arch, " | ", r.expected.metric, " | ", text, " | ", r.limiter, " |\n");
  }
  return out;
}

}  // namespace buda::silicon
