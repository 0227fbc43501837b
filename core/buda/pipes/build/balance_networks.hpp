// SPDX-License-Identifier: Apache-2.0
// Shares the transfers of an epoch out among the two networks and the ports of DRAM channels.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/pipes/graph/pipe_graph.hpp>
#include <buda/pipes/plan/netlist_index.hpp>

namespace buda::pipes {

// The networks that choose_nocs() gives are the nearer ones, whatever else passes their links. Here pipes that pass the busiest links take
// the other network, and buffers of queues another port of their channel, as long as that makes the busiest links less busy. What goes from
// chip to chip, multicasts, and ports that the netlist asks for stay as they are. O(rounds * transfers * (hops + links of the chip)).
void balance_networks(const NetlistIndex& index, const device::DeviceDescriptor& device, PipeGraph& graph);

}  // namespace buda::pipes
