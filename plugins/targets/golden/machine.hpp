// What the parts of the device share: the netlist, its queues, and what was counted.
#pragma once

#include <buda/arith/graph_plan.hpp>
#include <buda/arith/queue_memory.hpp>
#include "epoch.hpp"

#include <buda/io/host.hpp>
#include <buda/runtime/observer.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace buda::golden {

using arith::QueueMemory;

struct DeviceOptions {
  Mode mode = Mode::exact;
  bool check_nan = false;  // count NaN, infinities and saturated numbers by op, and report the first that each makes
  // Numbers of manipulated inputs of an op that are laid out at once: more are worked on t by t where the op allows it.
  std::int64_t most_numbers = std::int64_t{1} << 27;
};

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

}  // namespace buda::golden
