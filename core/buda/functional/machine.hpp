// SPDX-License-Identifier: Apache-2.0
// What the parts of the device share: the netlist, its queues, and what was counted.
#pragma once

#include <buda/arith/graph_plan.hpp>
#include <buda/arith/queue_memory.hpp>
#include <buda/functional/device.hpp>
#include <buda/functional/epoch.hpp>

#include <buda/io/host.hpp>
#include <buda/runtime/observer.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace buda::functional {

using arith::QueueMemory;

struct NumberCounts {
  std::size_t nan = 0, infinite = 0;
  std::size_t saturated = 0;  // at the limit of their format
};

struct WorkCounts {
  double epochs = 0, ops = 0, inputs = 0, tiles_moved = 0, flops = 0;
};

struct Machine {
  netlist::Netlist netlist;
  DeviceOptions options;
  Host& host;
  runtime::Observer* observer = nullptr;
  Plans plans = {};
  std::vector<QueueMemory> queues = {};  // in the order of the netlist
  // Outputs of ops that other graphs read, one per input, from the last execution of their graph.
  std::map<std::string, std::vector<ValuePtr>> exports = {};
  std::map<std::string, NumberCounts> numbers = {};  // by op, with check_nan
  WorkCounts counts = {};
};

// An error of a graph, at its place in the netlist; of a queue, or of an op that is read or written as one.
Diagnostic epoch_error(const Machine& machine, const Epoch& epoch, const char* code, const std::string& queue, const std::string& message);

}  // namespace buda::functional
