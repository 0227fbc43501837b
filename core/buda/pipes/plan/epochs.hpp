// SPDX-License-Identifier: Apache-2.0
// Which graphs run at the same time, and how they use queues: the temporal epochs of a netlist, as pipes need to know them.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/netlist/model/netlist.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace buda::pipes {

// How an execution uses a queue: read into L1 before, written back after.
struct QueueUse {
  bool prologue = false;
  bool epilogue = false;
  friend bool operator==(const QueueUse&, const QueueUse&) = default;
};

// Graphs that run side by side, one per chip, in the order of the file.
struct Epoch {
  std::int32_t number = 0;
  std::vector<const netlist::Graph*> graphs;
  std::map<std::string, QueueUse> queues;  // those that executions mention; others are neither prologue nor epilogue
  QueueUse use_of(const std::string& queue) const {
    auto it = queues.find(queue);
    return it == queues.end() ? QueueUse{} : it->second;
  }
};

// The epochs of all graphs that some program executes, as netlist::temporal_epochs numbers them. The pointers live as long as the netlist.
// Every execution of a graph must use its queues alike.
Result<std::vector<Epoch>> epochs_of(const netlist::Netlist& netlist, const device::DeviceDescriptor& device);

}  // namespace buda::pipes
