// SPDX-License-Identifier: Apache-2.0
// Kernels by core/buda/cost, transfers by the balancer's estimate, edges by their routes, the loads of paths by laying out streams.
#include <buda/balance/cost/epoch_costs.hpp>

#include <buda/balance/cost/epoch_loop.hpp>
#include <buda/balance/cost/flow.hpp>
#include <buda/balance/cost/laid_out.hpp>
#include <buda/balance/cost/measure_loads.hpp>
#include <buda/balance/cost/shared_ways.hpp>
#include <buda/balance/resources/edge.hpp>
#include <buda/balance/resources/resources.hpp>
#include <buda/base/text.hpp>
#include <buda/cost/transfer_model.hpp>
#include <buda/netlist/model/index.hpp>
#include <buda/netlist/program/program_vm.hpp>
#include <buda/ops/table/op_traits.hpp>
#include <buda/overlay/epoch_compiler.hpp>
#include <buda/overlay/usage.hpp>
#include <buda/tiling/tile_order.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <variant>

namespace buda::balance {
namespace {

using netlist::Graph;
using netlist::Op;

std::set<std::string> stored_ops(const netlist::Netlist& netlist) {
  std::set<std::string> out;
  for (const auto& queue : netlist.queues) out.insert(queue.input);
  return out;
}

std::int64_t whole_cycles(double cycles) { return std::llround(std::min(cycles, 9e18)); }

// The ops of a graph as a pipeline, each after those that it takes from, whatever their order in the file.
class EpochPipeline {
 public:
  EpochPipeline(const Graph& graph, const device::DeviceDescriptor& device) : graph_(graph), device_(device) {
    for (std::size_t i = 0; i < graph.ops.size(); ++i) number_.emplace(graph.ops[i].name, i);
    in_pipeline_.assign(graph.ops.size(), kNotAdded);
    done_.assign(graph.ops.size(), 0);
  }

  // `traffic`, `costs`: of each op of the graph.
  void add_all(const std::vector<Traffic>& traffic, const std::vector<OpCost>& costs) {
    std::vector<std::size_t> open;
    std::vector<bool> visited(graph_.ops.size(), false);
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
      open.push_back(i);
      while (!open.empty()) {
        const std::size_t at = open.back();
        const std::size_t before = open.size();
        if (!visited[at]) push_producers(at, visited, open);
        visited[at] = true;
        if (open.size() > before) continue;
        open.pop_back();
        if (in_pipeline_[at] == kNotAdded) add(at, traffic[at], costs[at].cycles);
      }
    }
  }

  std::int64_t latency() const { return latency_; }
  void lay_out(const EpochLoads& loads) { add_laid_out(pipeline_, loads, device_); }
  LoopedEpoch looped() const {
    LoopedEpoch out;
    for (const LaidOutOp& op : pipeline_) out.ops.push_back(op.pipeline);
    out.cores = cores_;
    out.chip = graph_.target_device;
    out.inputs = std::max(graph_.input_count, 1);
    return out;
  }

 private:
  static constexpr std::size_t kNotAdded = static_cast<std::size_t>(-1);

  // Number of the op that gives an input; kNotAdded where a queue does.
  std::size_t producer(const Op& op, std::size_t input) const {
    const auto found = number_.find(op.inputs[input].name);
    return found == number_.end() ? kNotAdded : found->second;
  }

  void push_producers(std::size_t at, const std::vector<bool>& visited, std::vector<std::size_t>& open) const {
    for (std::size_t k = 0; k < graph_.ops[at].inputs.size(); ++k)
      if (const std::size_t from = producer(graph_.ops[at], k); from != kNotAdded && !visited[from]) open.push_back(from);
  }

  // An op that takes from itself by others, which no valid netlist has, waits for nothing there.
  void add(std::size_t at, const Traffic& traffic, const OpCycles& cycles) {
    const Op& op = graph_.ops[at];
    std::int64_t start = 0;
    LaidOutOp out{op.name, pipeline_op(op, cycles.kernel, traffic.output_to_dram ? cycles.output : 0), {}, cycles.bytes_before};
    for (std::size_t k = 0; k < op.inputs.size(); ++k) {
      const std::size_t from = producer(op, k);
      const bool is_added = from != kNotAdded && in_pipeline_[from] != kNotAdded;
      if (is_added) start = std::max(start, done_[from]);
      if (traffic.input_prologue[k]) continue;
      out.operands.push_back(k);
      out.pipeline.inputs.push_back(is_added ? pipeline_input(op, k, flow_of(graph_.ops[from], op, k), in_pipeline_[from], device_)
                                             : queue_input(op, k, cycles.inputs[k], device_));
    }
    in_pipeline_[at] = pipeline_.size();
    pipeline_.push_back(std::move(out));
    cores_.push_back(ops::runs_on_ethernet(op.type) ? GridRect{} : op.occupied());
    done_[at] = start + whole_cycles(cycles.running());
    latency_ = std::max(latency_, done_[at]);
  }

  // Edges that are not measured (to steps of a fused op that take fewer columns than it gives) cost latency alone.
  EdgeFlow flow_of(const Op& producer, const Op& op, std::size_t input) const {
    const auto measured = measure_edge(tiling::layout_of(producer, graph_.input_count), op.inputs[input].maps, op, input);
    const auto* known = std::get_if<EdgeCost>(&measured);
    return known == nullptr ? EdgeFlow{} : known->flow;
  }

  const Graph& graph_;
  const device::DeviceDescriptor& device_;
  std::map<std::string, std::size_t> number_;  // of ops in the graph
  std::vector<LaidOutOp> pipeline_;
  std::vector<GridRect> cores_;           // of each
  std::vector<std::size_t> in_pipeline_;  // by number
  std::vector<std::int64_t> done_;        // by number: cycles until the first input is through
  std::int64_t latency_ = 0;
};

class GraphCosts {
 public:
  GraphCosts(const netlist::Index& index, const device::DeviceDescriptor& device, const SparseCountsOf& counts)
      : index_(index), device_(device), counts_(counts), stored_(stored_ops(index.netlist())) {
    const auto epochs = netlist::static_epochs(index.netlist());
    if (!epochs) return;
    for (const auto& epoch : *epochs) {
      executed_.insert(epoch.graph);
      for (const auto& setting : epoch.settings)
        if (setting.prologue) prologues_.emplace(epoch.graph, index.netlist().queues[setting.queue].name);
    }
  }

  // `loads`: null where they are not known. `looped`: takes what says how the epoch stands in the program's loop, but for its cycles.
  EpochCost epoch(std::size_t number, const EpochLoads* loads, LoopedEpoch& looped) const {
    const Graph& graph = index_.netlist().graphs[number];
    EpochCost out;
    out.graph = &graph;
    out.executed = executed_.contains(number);
    std::vector<Traffic> traffics;
    std::map<std::string, double> kernels;
    for (const Op& op : graph.ops) {
      out.cores += ops::runs_on_ethernet(op.type) ? 0 : op.grid.volume();
      traffics.push_back(traffic(op, number));
      out.ops.push_back(cost_of(op, traffics.back()));
      kernels[op.name] = out.ops.back().cycles.kernel;
    }
    out.loads = loads != nullptr ? *loads : loads_spread_evenly(out.dram_bytes(), device_);
    if (loads != nullptr) {
      add_contention(out.loads, kernels);
      for (std::size_t i = 0; i < graph.ops.size(); ++i) take_ways(graph.ops[i].name, traffics[i], out.loads, out.ops[i].cycles);
    }
    EpochPipeline pipeline(graph, device_);
    pipeline.add_all(traffics, out.ops);
    pipeline.lay_out(out.loads);
    looped = pipeline.looped();
    out.latency = pipeline.latency();
    out.buffers = cost::pipeline_times(looped.ops);
    out.change = cost::TransferModel(device_).epoch_change(out.cores);
    return out;
  }

 private:
  Traffic traffic(const Op& op, std::size_t graph) const {
    Traffic t;
    for (const auto& in : op.inputs) {
      t.input_from_dram.push_back(index_.queue(in.name).has_value());
      t.input_prologue.push_back(prologues_.count({graph, in.name}) > 0);
    }
    t.output_to_dram = stored_.count(op.name) > 0;
    t.inputs_per_epoch = index_.netlist().graphs[graph].input_count;
    return t;
  }

  OpCost cost_of(const Op& op, const Traffic& t) const {
    OpCost out;
    out.op = &op;
    const netlist::FusedOp* fused = op.attributes.fused_op_id.empty() ? nullptr : index_.find_fused_op(op.attributes.fused_op_id);
    const std::optional<cost::SparseCounts> counts = counts_ ? counts_(op) : std::nullopt;
    out.kernel = cost::kernel_cycles(op, fused, device_, counts ? &*counts : nullptr);
    out.cycles = estimate(op, out.kernel.total, t, device_);
    return out;
  }

  const netlist::Index& index_;
  const device::DeviceDescriptor& device_;
  const SparseCountsOf& counts_;
  std::set<std::string> stored_;
  std::set<std::size_t> executed_;                           // graphs
  std::set<std::pair<std::size_t, std::string>> prologues_;  // a graph, and a queue that is loaded before its first input
};

// Of each graph that some program executes.
Result<std::map<const Graph*, EpochLoads>> loads_of_graphs(const netlist::Netlist& netlist, const device::DeviceDescriptor& device,
                                                           Host& host) {
  std::map<const Graph*, EpochLoads> out;
  BUDA_ASSIGN(auto compiler, overlay::EpochCompiler::check_and_make(netlist, device, "", host));
  BUDA_ASSIGN(auto epochs, overlay::predict_usage(compiler, host.threads));
  for (std::size_t i = 0; i < epochs.size(); ++i)
    for (const Graph* graph : compiler.epochs()[i].graphs)
      out[graph] = loads_of(epochs[i], graph->target_device, graph->input_count, device);
  return out;
}

}  // namespace

std::string OpCost::limiter() const {
  const double most = cycles.running();
  if (cycles.kernel >= most) {
    if (kernel.math >= std::max(kernel.unpack, kernel.pack)) return "math";
    return kernel.unpack >= kernel.pack ? "unpack" : "pack";
  }
  for (std::size_t i = 0; i < cycles.inputs.size(); ++i)
    if (!cycles.is_before[i] && cycles.inputs[i] >= most) return cat("input ", i);
  return "output";
}

std::size_t EpochCost::slowest() const {
  auto slower = [](const OpCost& a, const OpCost& b) { return a.cycles.running() < b.cycles.running(); };
  return static_cast<std::size_t>(std::max_element(ops.begin(), ops.end(), slower) - ops.begin());
}

std::int64_t EpochCost::interval() const {
  const PathLoad* path = loads.slowest();
  const double by_paths = path == nullptr ? 0 : path->cycles;
  return std::max(whole_cycles(ops.empty() ? 0 : ops[slowest()].cycles.running()),
                  std::max(whole_cycles(by_paths), whole_cycles(buffers.interval)));
}

std::int64_t EpochCost::work() const {
  const PathLoad* path = loads.slowest();
  const std::int64_t busiest = path == nullptr ? 0 : whole_cycles(path->cycles);
  return std::max({latency, busiest, whole_cycles(buffers.first)}) + (std::max(graph->input_count, 1) - 1) * interval();
}

std::int64_t EpochCost::cycles() const { return whole_cycles(change) - whole_cycles(hidden) + work(); }

std::string EpochCost::limiter() const {
  if (ops.empty()) return "nothing";
  const OpCost& op = ops[slowest()];
  const PathLoad* path = loads.slowest();
  const bool by_path = path != nullptr && whole_cycles(path->cycles) == interval();
  // An input that takes as long as the path it comes over waits for that.
  const bool by_op = whole_cycles(op.cycles.running()) == interval() && !(by_path && op.limiter().starts_with("input"));
  if (by_op) return cat(op.limiter(), " of op '", op.op->name, '\'');
  return by_path ? path->busiest : kBetweenOps;
}

double EpochCost::dram_bytes() const {
  double sum = 0;
  for (const OpCost& op : ops) sum += op.cycles.dram_bytes;
  return sum;
}

double EpochCost::noc_bytes() const {
  double sum = 0;
  for (const OpCost& op : ops) sum += op.cycles.noc_bytes;
  return sum;
}

NetlistCosts netlist_costs(const netlist::Netlist& netlist, const device::DeviceDescriptor& device, Host& host,
                           const SparseCountsOf& counts) {
  const netlist::Index index(netlist);
  const GraphCosts costs(index, device, counts);
  NetlistCosts out;
  auto loads = loads_of_graphs(netlist, device, host);
  if (!loads) out.no_loads = loads.failure();
  std::vector<LoopedEpoch> loop(netlist.graphs.size());
  for (std::size_t i = 0; i < netlist.graphs.size(); ++i) {
    const EpochLoads* known = nullptr;
    if (loads)
      if (const auto found = loads->find(&netlist.graphs[i]); found != loads->end()) known = &found->second;
    const EpochCost& epoch = out.epochs.emplace_back(costs.epoch(i, known, loop[i]));
    loop[i].cycles = static_cast<double>(epoch.work());
    loop[i].change = epoch.change;
  }
  const std::vector<double> hidden = hidden_changes(loop);
  for (std::size_t i = 0; i < hidden.size(); ++i) out.epochs[i].hidden = hidden[i];
  return out;
}

}  // namespace buda::balance
