// SPDX-License-Identifier: Apache-2.0
// Counts of what a netlist holds.
#pragma once

#include <buda/netlist/model/netlist.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace buda::netlist {

struct NetlistStats {
  std::size_t queues = 0, rams = 0;  // elements of type queue and ram
  std::size_t host_fed = 0;          // of these, written from outside
  std::uint64_t dram_bytes = 0;      // of buffers with their headers; aliases share memory and are left out
  std::uint64_t host_bytes = 0;
  std::set<std::int32_t> chips;
  std::size_t graphs = 0, ops = 0, fused_ops = 0, sub_ops = 0;
  struct OpCount {
    std::size_t ops = 0;
    std::int64_t cores = 0;  // of all their grids
    std::int64_t tiles = 0;  // of all their outputs, for one input
  };
  std::map<std::string, OpCount> by_type;
  struct FormatCount {
    std::size_t queues = 0, outputs = 0;
  };
  std::map<std::string, FormatCount> by_format;
  std::map<std::string, std::size_t> by_fidelity;
  std::size_t programs = 0, instructions = 0, executes = 0;
  // Of one run of each program with all parameters 1; less than 0 when they do not run.
  std::int64_t epochs = -1;            // executed
  std::int64_t different_epochs = -1;  // compiled: the same graph with the same prologues and epilogues counts once
};

// Linear in the netlist and in the steps of its programs.
NetlistStats stats_of(const Netlist& netlist);

}  // namespace buda::netlist
