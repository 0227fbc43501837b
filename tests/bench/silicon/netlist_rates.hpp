// SPDX-License-Identifier: Apache-2.0
// Netlists whose section performance-check says what TT-Buda's own tests expected of silicon, executed by target grid.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/netlist/model/netlist.hpp>
#include <buda/runtime/program.hpp>
#include <buda/runtime/session/netlist_run.hpp>

#include <string>
#include <vector>

namespace buda::silicon {

// What a netlist is expected to do.
struct Expectation {
  std::string graph, op, metric;  // as the netlist has them
  double value = 0;
  bool at_least = false;  // a lower bound
};

// A netlist with expectations, and with all that a run needs.
struct CheckedNetlist {
  std::string name;  // path within the folder
  std::vector<Expectation> expectations;
  runtime::Program program;
  device::DeviceDescriptor device;
  NamedTensors inputs;
  runtime::NetlistRunOptions options;
};

// All netlists below the folder that expect something else than 0 of a metric that the simulator has, by path; the folder is only read.
Result<std::vector<CheckedNetlist>> checked_netlists(Host& host, const std::string& folder);

struct NetlistRate {
  std::string netlist, arch;
  Expectation expected;
  double predicted = 0;
  double tolerance = 0;  // per cent; 0: there is no goal
  std::string limiter;   // what the epoch is limited by, with its part of the critical path
  double error() const { return 100 * (predicted / expected.value - 1); }
  bool reached() const;
};

// What is not known beside the device's figures: the time of a core between two epochs, and factors of kernels whose ops are fused, or have
// been measured with operands of another format only, or not at all.
struct NetlistSettings {
  double switch_cycles = 1;  // a factor
  double fused = 1, other_format = 1, assumed = 1;
};

Result<std::vector<NetlistRate>> netlist_rates(const CheckedNetlist& checked, const device::DeviceDescriptor& device,
                                               const NetlistSettings& settings, Host& host);
std::string rate_table(const std::vector<NetlistRate>& rates);

}  // namespace buda::silicon
