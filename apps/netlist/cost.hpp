// What the ops of a netlist cost, epoch by epoch, as the balancer would estimate it.
#pragma once

#include <buda/balance/cost/cost.hpp>
#include <buda/balance/cost/epoch_loads.hpp>
#include <buda/cost/kernel_cycles.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/io/host.hpp>
#include <buda/netlist/model/netlist.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace buda::netlist_tool {

struct OpCost {
  const netlist::Op* op = nullptr;
  cost::KernelCycles kernel;
  balance::OpCycles cycles;  // of one input

  std::string limiter() const;  // "math", "input 1", "output": what takes `cycles.limiter()`
};

struct EpochCost {
  const netlist::Graph* graph = nullptr;
  std::vector<OpCost> ops;  // as in the graph
  std::int64_t cores = 0;
  balance::EpochLoads loads;  // as streams are laid out; where they cannot be, what the ops move, spread over all channels

  std::size_t slowest() const;  // of `ops`; 0 without any
  double cycles() const;        // between inputs: the slowest op, or the busiest path
  std::string limiter() const;  // the slowest op and what limits it, or the path: "DRAM channel 3"
  double dram_bytes() const;
  double noc_bytes() const;
};

// All graphs, in the order of the file. Queues that a program loads before the first input cost a share of their transfer for each input;
// where the programs do not run, none do. A warning (NT002) says why streams cannot be laid out.
std::vector<EpochCost> epoch_costs(const netlist::Netlist& netlist, const device::DeviceDescriptor& device, Host& host);

}  // namespace buda::netlist_tool
