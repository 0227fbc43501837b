// The estimate of the placement report for any netlist, whoever made its plan.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/netlist/model/netlist.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace buda::balance {

struct EpochTimes {
  std::string graph;
  std::int64_t cycles = 0;    // of all its inputs
  std::int64_t interval = 0;  // between inputs
  std::string limiter;        // what that is the time of: "kernel of op 'fc1'", "DRAM channel 3", "buffers between ops"
};

// Of each graph, in the order of their first execution; as the report counts a netlist of the balancer. Of a sparse matmul it is not known
// how much of it is zero, which is guessed. Errors are those of laying out streams.
Result<std::vector<EpochTimes>> netlist_times(const netlist::Netlist& netlist, const device::DeviceDescriptor& device, Host& host);

}  // namespace buda::balance
