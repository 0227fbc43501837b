// SPDX-License-Identifier: Apache-2.0
// A balancing problem from an existing netlist: the same ops with the same formats and inputs per epoch, whose grids, blocks, places,
// epochs and queues are open again.
#pragma once

#include <buda/balance/problem/problem.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/netlist/model/netlist.hpp>

namespace buda::balance {

// The ops come in the order in which the programs execute their graphs first. Queues that ops write are edges again; what the host fills
// are inputs, and what is in rams, or is loaded before an epoch, are parameters. A fused op whose first steps compute one column of tiles
// that later steps spread over many becomes two ops, so that each can have a grid of its own. Outputs leave as tiles.
//
// The netlist must be valid for the device. BL045: it has what no graph for one chip has: several chips, different numbers of inputs per
// epoch, queues that are read before they are written, or op types that are not balanced.
Result<Problem> problem_from_netlist(const netlist::Netlist& netlist, const device::DeviceDescriptor& device);

}  // namespace buda::balance
