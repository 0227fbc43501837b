// SPDX-License-Identifier: Apache-2.0
// Which Ethernet links a netlist can use.
#pragma once

#include <buda/device/cluster.hpp>
#include <buda/netlist/model/netlist.hpp>

#include <vector>

namespace buda::pipes {

// The links of the cluster. Where it names none, first those that the netlist's ethernet_datacopy ops name by their channels, since it was
// written for chips that are connected so; then those of the device's mesh whose channels are still free.
std::vector<device::EthLink> available_links(const netlist::Netlist& netlist, const device::DeviceDescriptor& device,
                                             const device::Cluster& cluster);

}  // namespace buda::pipes
