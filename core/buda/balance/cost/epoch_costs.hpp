// SPDX-License-Identifier: Apache-2.0
// What the ops of any netlist cost, epoch by epoch, by the estimate of the placement report.
#pragma once

#include <buda/balance/cost/cost.hpp>
#include <buda/balance/cost/epoch_loads.hpp>
#include <buda/cost/kernel_cycles.hpp>
#include <buda/cost/pipeline.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/netlist/model/netlist.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace buda::balance {

struct OpCost {
  const netlist::Op* op = nullptr;
  cost::KernelCycles kernel;
  OpCycles cycles;  // of one input

  std::string limiter() const;  // "math", "input 1", "output": what takes `cycles.running()`
};

// Whole cycles, as the report has them.
struct EpochCost {
  const netlist::Graph* graph = nullptr;
  bool executed = false;    // by a program
  std::vector<OpCost> ops;  // as in the graph
  std::int64_t cores = 0;
  double change = 0;            // cycles of the change to this epoch
  double hidden = 0;            // of these, those that pass while the epoch before still works (epoch_loop.hpp)
  EpochLoads loads;             // as streams are laid out; where they cannot be, what the ops move, spread over all channels
  std::int64_t latency = 0;     // of the longest path through the ops, each taking an input as a whole
  cost::PipelineTimes buffers;  // what the buffers between ops allow

  std::size_t slowest() const;    // of `ops`; 0 without any
  std::int64_t interval() const;  // between inputs: the slowest op, the busiest path, or the buffers between ops
  std::int64_t work() const;      // of all inputs
  std::int64_t cycles() const;    // of all inputs, and of the change to the epoch as far as it is waited for
  std::string limiter() const;    // of the interval: "math of op 'fc1'", "DRAM channel 3", "buffers between ops"
  double dram_bytes() const;
  double noc_bytes() const;
};

struct NetlistCosts {
  std::vector<EpochCost> epochs;  // all graphs, in the order of the file
  Failure no_loads;               // why streams cannot be laid out, so that loads are not known; empty where they can
};

// Queues that a program loads before the first input cost a share of their transfer for each input; where the programs do not run, none do.
// `counts`: how much of a sparse matmul is not zero, which its parameters tell, not the netlist; nothing where that is to be guessed.
using SparseCountsOf = std::function<std::optional<cost::SparseCounts>(const netlist::Op&)>;
NetlistCosts netlist_costs(const netlist::Netlist& netlist, const device::DeviceDescriptor& device, Host& host,
                           const SparseCountsOf& counts = nullptr);

}  // namespace buda::balance
