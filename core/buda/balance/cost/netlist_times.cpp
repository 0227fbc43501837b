// Ops by their kernels and transfers, edges by their routes, paths by the streams that are laid out.
#include <buda/balance/cost/netlist_times.hpp>

#include <buda/balance/cost/cost.hpp>
#include <buda/balance/cost/flow.hpp>
#include <buda/balance/cost/measure_loads.hpp>
#include <buda/balance/legalize/edge.hpp>
#include <buda/base/text.hpp>
#include <buda/cost/kernel_cycles.hpp>
#include <buda/netlist/model/index.hpp>
#include <buda/netlist/program/program_vm.hpp>
#include <buda/overlay/epoch_compiler.hpp>
#include <buda/overlay/usage.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

namespace buda::balance {
namespace {

using netlist::Graph;
using netlist::Op;

std::int64_t whole_cycles_of(double cycles) { return std::llround(std::min(cycles, 9e18)); }

// One graph, op after op.
class GraphTimes {
 public:
  GraphTimes(const netlist::Index& index, const std::set<std::string>& stored, const netlist::StaticEpoch& epoch,
             const device::DeviceDescriptor& device)
      : index_(index), stored_(stored), device_(device), graph_(index.netlist().graphs[epoch.graph]) {
    for (const auto& setting : epoch.settings)
      if (setting.prologue) prologues_.insert(index.netlist().queues[setting.queue].name);
    for (const Op& op : graph_.ops) by_name_[op.name] = &op;
  }

  EpochTimes run(const EpochLoads& loads) {
    for (const Op& op : graph_.ops) add(op);
    count(0, "nothing");
    if (const PathLoad* path = loads.slowest()) count(whole_cycles_of(path->cycles), path->busiest);
    const cost::PipelineTimes flow = cost::pipeline_times(pipeline_);
    count(whole_cycles_of(flow.interval), "buffers between ops");
    const PathLoad* path = loads.slowest();
    const std::int64_t busiest = path == nullptr ? 0 : whole_cycles_of(path->cycles);
    out_.graph = graph_.name;
    out_.cycles = std::max({latency_, busiest, whole_cycles_of(flow.first)}) + (std::max(graph_.input_count, 1) - 1) * out_.interval;
    return std::move(out_);
  }

 private:
  void count(std::int64_t cycles, const std::string& limiter) {
    if (cycles <= out_.interval && !out_.limiter.empty()) return;
    out_.interval = std::max(cycles, out_.interval);
    out_.limiter = limiter;
  }

  // After those of the graph that it takes from: the file may have them in any order.
  void add(const Op& op) {
    if (!added_.emplace(op.name, Added{}).second) return;
    for (const auto& in : op.inputs)
      if (const auto from = by_name_.find(in.name); from != by_name_.end()) add(*from->second);
    const Traffic traffic = traffic_of(op);
    const netlist::FusedOp* fused = op.attributes.fused_op_id.empty() ? nullptr : index_.find_fused_op(op.attributes.fused_op_id);
    const OpCycles cycles = estimate(op, cost::kernel_cycles(op, fused, device_).total, traffic, device_);
    const std::int64_t limiter = whole_cycles_of(cycles.limiter());
    count(limiter, cat(limiting(cycles), " of op '", op.name, "'"));
    std::int64_t start = 0;
    cost::PipelineOp flow = pipeline_op(op, cycles.kernel, traffic.output_to_dram ? cycles.output : 0);
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      const auto from = added_.find(op.inputs[i].name);
      if (from != added_.end()) start = std::max(start, from->second.done);
      if (traffic.input_prologue[i]) continue;
      flow.inputs.push_back(from == added_.end() ? queue_input(op, i, cycles.inputs[i], device_)
                                                 : pipeline_input(op, i, flow_of(op, i), from->second.number, device_));
    }
    added_[op.name] = {pipeline_.size(), start + limiter};
    latency_ = std::max(latency_, start + limiter);
    pipeline_.push_back(std::move(flow));
  }

  static std::string limiting(const OpCycles& cycles) {
    if (cycles.kernel >= cycles.limiter()) return "kernel";
    for (std::size_t i = 0; i < cycles.inputs.size(); ++i)
      if (cycles.inputs[i] >= cycles.limiter()) return cat("input ", i);
    return "output";
  }

  Traffic traffic_of(const Op& op) const {
    Traffic out;
    for (const auto& in : op.inputs) {
      out.input_from_dram.push_back(index_.queue(in.name).has_value());
      out.input_prologue.push_back(prologues_.contains(in.name));
    }
    out.output_to_dram = stored_.contains(op.name);
    out.inputs_per_epoch = graph_.input_count;
    return out;
  }

  // Edges that are not measured (to steps of a fused op that take fewer columns than it gives) cost latency alone.
  EdgeFlow flow_of(const Op& op, std::size_t input) const {
    const TileLayout from = tiling::layout_of(*by_name_.at(op.inputs[input].name), graph_.input_count);
    const auto cost = measure_edge(from, op.inputs[input].maps, op, input);
    const auto* known = std::get_if<EdgeCost>(&cost);
    return known == nullptr ? EdgeFlow{} : known->flow;
  }

  struct Added {
    std::size_t number = 0;  // in the pipeline
    std::int64_t done = 0;   // cycles until the first input is through
  };

  const netlist::Index& index_;
  const std::set<std::string>& stored_;
  const device::DeviceDescriptor& device_;
  const Graph& graph_;
  std::set<std::string> prologues_;
  std::map<std::string, const Op*> by_name_;
  std::map<std::string, Added> added_;
  std::vector<cost::PipelineOp> pipeline_;
  std::int64_t latency_ = 0;
  EpochTimes out_;
};

Result<std::map<const Graph*, EpochLoads>> loads_by_graph(const netlist::Netlist& netlist, const device::DeviceDescriptor& device,
                                                          Host& host) {
  std::map<const Graph*, EpochLoads> out;
  device::DeviceDescriptor chip = device;
  chip.chips = 1;
  BUDA_ASSIGN(auto compiler, overlay::EpochCompiler::make(netlist, std::move(chip), "", host));
  BUDA_ASSIGN(auto epochs, overlay::predict_usage(compiler, host.threads));
  for (std::size_t i = 0; i < epochs.size(); ++i)
    for (const Graph* graph : compiler.epochs()[i].graphs)
      out[graph] = loads_of(epochs[i].traffic, graph->target_device, graph->input_count, device);
  return out;
}

}  // namespace

Result<std::vector<EpochTimes>> netlist_times(const netlist::Netlist& netlist, const device::DeviceDescriptor& device, Host& host) {
  BUDA_ASSIGN(const auto loads, loads_by_graph(netlist, device, host));
  BUDA_ASSIGN(const auto epochs, netlist::static_epochs(netlist));
  const netlist::Index index(netlist);
  std::set<std::string> stored;
  for (const auto& queue : netlist.queues) stored.insert(queue.input);
  std::set<std::size_t> seen;
  std::vector<EpochTimes> out;
  for (const netlist::StaticEpoch& epoch : epochs) {
    if (!seen.insert(epoch.graph).second) continue;
    const auto known = loads.find(&netlist.graphs[epoch.graph]);
    out.push_back(GraphTimes(index, stored, epoch, device).run(known == loads.end() ? EpochLoads{} : known->second));
  }
  return out;
}

}  // namespace buda::balance
