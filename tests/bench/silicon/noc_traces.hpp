// SPDX-License-Identifier: Apache-2.0
// Traces of Wormhole's networks (tt-npe's noc_trace_json), replayed on the fabric of the simulator.
//
// Of a trace the program of each processor is taken: when its kernel starts, which reads it issues, where it waits for all of them. What
// it then costs to issue them is told by constants of the two kernels that were traced; when reads return is the fabric's. No time that
// was recorded after a kernel's start is used.
#pragma once

#include "varied_fabric.hpp"

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace buda::silicon {

struct TraceTime {
  std::string name;     // of the file
  double measured = 0;  // cycles from the first event to the last
  double predicted = 0;
  double error() const { return 100 * (predicted / measured - 1); }  // per cent
};

// What is left out of the fabric, to see what it is worth: nothing, the links, or all contention.
enum class Ablation { none, links, all };

struct Replay {
  Ablation ablation = Ablation::none;
  bool starts_only = false;  // forget the recorded times but those of kernels' starts; predictions are the same
  FabricChange change;
};

// All traces of a folder, by name.
Result<std::vector<TraceTime>> replay_traces(Host& host, const std::string& folder, const device::DeviceDescriptor& device,
                                             const Replay& how);

// Mean, median, 90th percentile and maximum of the absolute errors, per cent.
struct TraceErrors {
  double mean = 0, median = 0, p90 = 0, max = 0;
  // The goals for them: median 5, p90 12, maximum 20.
  bool reached() const { return median <= 5 && p90 <= 12 && max <= 20; }
};
TraceErrors errors_of(const std::vector<TraceTime>& times);
std::string trace_table(const std::vector<TraceTime>& times);
std::vector<TraceTime> worst_traces(std::vector<TraceTime> times, std::size_t count);

}  // namespace buda::silicon
