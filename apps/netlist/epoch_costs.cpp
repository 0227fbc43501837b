// Kernels by core/buda/cost, the ways in and out by the balancer's estimate.
#include "apps/netlist/cost.hpp"

#include <buda/balance/legalize/resources.hpp>
#include <buda/base/text.hpp>
#include <buda/netlist/model/index.hpp>
#include <buda/netlist/program/program_vm.hpp>
#include <buda/tiling/tile_order.hpp>

#include <algorithm>
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
    out.dram_cycles = out.dram_bytes() / balance::dram_rate(device_);
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

double EpochCost::cycles() const { return ops.empty() ? 0 : std::max(ops[slowest()].cycles.limiter(), dram_cycles); }

std::string EpochCost::limiter() const {
  if (ops.empty()) return "nothing";
  const OpCost& op = ops[slowest()];
  return dram_cycles > op.cycles.limiter() ? "DRAM" : cat('\'', op.op->name, "' ", op.limiter());
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

std::vector<EpochCost> epoch_costs(const netlist::Netlist& netlist, const device::DeviceDescriptor& device) {
  const netlist::Index index(netlist);
  const GraphCosts costs(index, device);
  std::vector<EpochCost> out;
  for (std::size_t i = 0; i < netlist.graphs.size(); ++i) out.push_back(costs.epoch(i));
  return out;
}

}  // namespace buda::netlist_tool
