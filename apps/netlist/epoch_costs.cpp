// Kernels by core/buda/cost, the ways in and out by the balancer's estimate, the loads of paths by laying out streams.
#include "apps/netlist/cost.hpp"

#include <buda/balance/cost/measure_loads.hpp>
#include <buda/balance/legalize/resources.hpp>
#include <buda/base/text.hpp>
#include <buda/netlist/model/index.hpp>
#include <buda/netlist/program/program_vm.hpp>
#include <buda/overlay/epoch_compiler.hpp>
#include <buda/overlay/usage.hpp>
#include <buda/tiling/tile_order.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace buda::netlist_tool {
namespace {

using netlist::Graph;
using netlist::Op;
using netlist::OpClass;

// Pairs of a graph and a queue that is loaded before its first input.
std::set<std::pair<std::size_t, std::string>> prologues(const netlist::Netlist& netlist) {
  std::set<std::pair<std::size_t, std::string>> out;
  auto epochs = netlist::static_epochs(netlist);
  if (!epochs) return out;
  for (const auto& epoch : *epochs)
    for (const auto& setting : epoch.settings)
      if (setting.prologue) out.emplace(epoch.graph, netlist.queues[setting.queue].name);
  return out;
}

std::set<std::string> stored_ops(const netlist::Netlist& netlist) {
  std::set<std::string> out;
  for (const auto& queue : netlist.queues) out.insert(queue.input);
  return out;
}

class GraphCosts {
 public:
  GraphCosts(const netlist::Index& index, const device::DeviceDescriptor& device)
      : index_(index), device_(device), stored_(stored_ops(index.netlist())), prologues_(prologues(index.netlist())) {}

  EpochCost epoch(std::size_t number) const {
    const Graph& graph = index_.netlist().graphs[number];
    EpochCost out;
    out.graph = &graph;
    for (const Op& op : graph.ops) {
      out.cores += netlist::op_class(op.type) == OpClass::ethernet ? 0 : op.grid.volume();
      out.ops.push_back(cost_of(op, traffic(op, number)));
    }
    out.loads = balance::loads_spread_evenly(out.dram_bytes(), device_);
    return out;
  }

 private:
  balance::Traffic traffic(const Op& op, std::size_t graph) const {
    balance::Traffic t;
    for (const auto& in : op.inputs) {
      t.input_from_dram.push_back(index_.queue(in.name).has_value());
      t.input_prologue.push_back(prologues_.count({graph, in.name}) > 0);
    }
    t.output_to_dram = stored_.count(op.name) > 0;
    t.inputs_per_epoch = index_.netlist().graphs[graph].input_count;
    return t;
  }

  OpCost cost_of(const Op& op, const balance::Traffic& t) const {
    OpCost out;
    out.op = &op;
    const netlist::FusedOp* fused = op.attributes.fused_op_id.empty() ? nullptr : index_.find_fused_op(op.attributes.fused_op_id);
    out.kernel = cost::kernel_cycles(op, fused, device_);
    out.cycles = balance::estimate(op, out.kernel.total, t, device_);
    return out;
  }

  const netlist::Index& index_;
  const device::DeviceDescriptor& device_;
  std::set<std::string> stored_;
  std::set<std::pair<std::size_t, std::string>> prologues_;
};

// Of each graph that some program executes; what is wrong with the netlist is told once, as a warning.
std::map<const Graph*, balance::EpochLoads> loads_of_graphs(const netlist::Netlist& netlist, const device::DeviceDescriptor& device,
                                                            Host& host) {
  std::map<const Graph*, balance::EpochLoads> out;
  auto report = [&](const Failure& failure) {
    const Diagnostic& first = failure.diagnostics().front();
    host.report(warning(
        "NT002", first.loc,
        cat("on ", device.name, ", loads of DRAM channels and links are not known, because streams cannot be laid out: ", first.message)));
  };
  auto compiler = overlay::EpochCompiler::check_and_make(netlist, device, "", host);
  if (!compiler) {
    report(compiler.failure());
    return out;
  }
  auto epochs = overlay::predict_usage(*compiler, host.threads);
  if (!epochs) {
    report(epochs.failure());
    return out;
  }
  for (std::size_t i = 0; i < epochs->size(); ++i)
    for (const Graph* graph : compiler->epochs()[i].graphs)
      out[graph] = balance::loads_of((*epochs)[i].traffic, graph->target_device, graph->input_count, device);
  return out;
}

}  // namespace

std::string OpCost::limiter() const {
  double most = cycles.limiter();
  if (cycles.kernel >= most) {
    if (kernel.math >= std::max(kernel.unpack, kernel.pack)) return "math";
    return kernel.unpack >= kernel.pack ? "unpack" : "pack";
  }
  for (std::size_t i = 0; i < cycles.inputs.size(); ++i)
    if (cycles.inputs[i] >= most) return cat("input ", i);
  return "output";
}

std::size_t EpochCost::slowest() const {
  auto slower = [](const OpCost& a, const OpCost& b) { return a.cycles.limiter() < b.cycles.limiter(); };
  return static_cast<std::size_t>(std::max_element(ops.begin(), ops.end(), slower) - ops.begin());
}

double EpochCost::cycles() const {
  const balance::PathLoad* path = loads.slowest();
  return std::max(ops.empty() ? 0 : ops[slowest()].cycles.limiter(), path == nullptr ? 0 : path->cycles);
}

std::string EpochCost::limiter() const {
  if (ops.empty()) return "nothing";
  const OpCost& op = ops[slowest()];
  const balance::PathLoad* path = loads.slowest();
  return path != nullptr && path->cycles > op.cycles.limiter() ? path->busiest : cat('\'', op.op->name, "' ", op.limiter());
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

std::vector<EpochCost> epoch_costs(const netlist::Netlist& netlist, const device::DeviceDescriptor& device, Host& host) {
  const netlist::Index index(netlist);
  const GraphCosts costs(index, device);
  std::vector<EpochCost> out;
  auto loads = loads_of_graphs(netlist, device, host);
  for (std::size_t i = 0; i < netlist.graphs.size(); ++i) {
    out.push_back(costs.epoch(i));
    if (auto known = loads.find(&netlist.graphs[i]); known != loads.end()) out.back().loads = std::move(known->second);
  }
  return out;
}

}  // namespace buda::netlist_tool
