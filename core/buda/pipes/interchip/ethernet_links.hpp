// Which cables a netlist may count on.
#pragma once

#include <buda/device/cluster.hpp>
#include <buda/netlist/model/netlist.hpp>

#include <vector>

namespace buda::pipes {

// Those of the cluster. Where it names none, those that the netlist's ethernet_datacopy ops name by their channels, since it was written
// for chips that are joined so, and of the device's mesh those that have their channels for themselves.
std::vector<device::EthLink> cables_of(const netlist::Netlist& netlist, const device::DeviceDescriptor& device,
                                       const device::Cluster& cluster);

}  // namespace buda::pipes
