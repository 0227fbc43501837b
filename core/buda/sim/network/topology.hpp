// SPDX-License-Identifier: Apache-2.0
// The chips as the fabric sees them: which resources a transfer passes through, and how long its first byte takes.
//
// A transfer on a network leaves by the network interface of its node, crosses links and enters by the interface of its target. Reads from
// DRAM begin at the port of the channel, behind which each half of the channel is served by itself where there are two.
#pragma once

#include <buda/cost/transfer_model.hpp>
#include <buda/device/cluster.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/overlay/blob/blob.hpp>
#include <buda/sim/network/fabric.hpp>
#include <buda/sim/time/time_scale.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace buda::sim {

class Topology {
 public:
  // Adds resources to the fabric as paths need them. Both must outlive it. With several chips the names of resources say which.
  Topology(const device::DeviceDescriptor& device, Fabric& fabric, bool several_chips = false, TimeScale scale = {})
      : device_(device), model_(device), fabric_(fabric), several_chips_(several_chips), scale_(scale) {}

  // From a core to one or several on the same chip, a multicast.
  Path send(const overlay::Core& from, std::int32_t noc, const std::vector<const overlay::Core*>& to);
  // Between the ethernet cores at both ends of an Ethernet link.
  Path ethernet(const overlay::Core& from, const overlay::Core& to);
  // To a core of another chip, which is reached at a port.
  Path pcie(const overlay::Core& from, std::int32_t noc, device::NocCoord port, const overlay::Core& to);
  Path read(const overlay::DramBuffer& buffer, const overlay::Core& to, std::int32_t noc);
  Path write(const overlay::Core& from, const overlay::DramBuffer& buffer, std::int32_t noc);

 private:
  enum class Side : std::uint8_t { source, sink };
  ResourceId link(std::int32_t chip, std::int32_t noc, device::NocCoord from, device::NocCoord to);
  ResourceId interface(std::int32_t chip, std::int32_t noc, device::NocCoord node, Side side);
  ResourceId memory(const overlay::DramBuffer& buffer);
  ResourceId known(const std::string& name, double bytes_per_cycle, Part part);
  Ticks latency(double of_network, double beyond) const;
  void set_latency(Path& path, std::size_t hops, bool host) const;
  std::size_t add_way(Path& path, std::int32_t chip, std::int32_t noc, device::NocCoord from, const std::vector<device::NocCoord>& to);

  const device::DeviceDescriptor& device_;
  cost::TransferModel model_;
  Fabric& fabric_;
  bool several_chips_;
  TimeScale scale_;
  std::map<std::string, ResourceId> known_;
};

}  // namespace buda::sim
