// SPDX-License-Identifier: Apache-2.0
// Who waits for whom, when nothing goes on. Internal to the module.
#pragma once

#include <buda/sim/machine/machine.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace buda::sim {

// Streams, kernels and queues, numbered one after the other.
using WaitNode = std::uint32_t;

struct Waiting {
  WaitNode on = 0;          // who would have to do something
  std::string text;         // "'mul_4' [2, 5] waits for input 1: 12 of 64 tiles"
  std::int64_t queue = -1;  // of those that wait for a queue of the host: in Blob::dram
  bool for_room = false;    // of such
  StreamId full = kNone;    // of those that wait for room in a kernel's input: that input
};

// By node. A node that waits for nothing has no edges.
std::vector<std::vector<Waiting>> wait_graph(const Machine& m);

// The shortest cycle: the edges along it, one node after the other. Empty where there is none.
std::vector<Waiting> shortest_cycle(const std::vector<std::vector<Waiting>>& graph);

}  // namespace buda::sim
