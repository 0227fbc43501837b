// SPDX-License-Identifier: Apache-2.0
// The fabric of the simulator with other rates: to see what a figure that nobody has measured is worth.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/overlay/blob/blob.hpp>
#include <buda/sim/network/fabric.hpp>
#include <buda/sim/network/topology.hpp>

#include <cstdint>
#include <vector>

namespace buda::silicon {

// Factors.
struct FabricChange {
  double links = 1, interfaces = 1, memories = 1;  // of rates
  double core_latency = 1, memory_latency = 1;     // of paths between cores, and from and to DRAM
  double issue = 1;                                // of what it costs a processor to issue a request
};

// What Topology makes, changed. Transfers start and end on `fabric()`.
class VariedFabric {
 public:
  VariedFabric(const device::DeviceDescriptor& device, FabricChange change) : change_(change), topology_(device, unchanged_) {}

  sim::Path between(const overlay::Core& from, const overlay::Core& to, std::int32_t noc);
  sim::Path read(const overlay::DramBuffer& buffer, const overlay::Core& to, std::int32_t noc);
  sim::Path write(const overlay::Core& from, const overlay::DramBuffer& buffer, std::int32_t noc);
  sim::Fabric& fabric() { return fabric_; }

 private:
  sim::Path changed(sim::Path path, double latency);

  FabricChange change_;
  sim::Fabric unchanged_, fabric_;
  sim::Topology topology_;
};

}  // namespace buda::silicon
