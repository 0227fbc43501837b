// SPDX-License-Identifier: Apache-2.0
// What the ops of a built netlist use of L1, streams and phases, and what its epochs move, as stream programs are laid out for them.
#pragma once

#include <buda/balance/cost/epoch_loads.hpp>
#include <buda/balance/resources/resources.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/netlist/model/netlist.hpp>

#include <map>
#include <string>
#include <vector>

namespace buda::device {
struct Cluster;
}  // namespace buda::device

namespace buda::balance {

// By the op's name in the netlist: usages of Resource::l1, streams and phases, each of the op's core that uses most of it.
using LaidOutUsages = std::map<std::string, std::vector<Usage>, std::less<>>;

struct LaidOut {
  LaidOutUsages usages;
  std::vector<EpochLoads> loads;  // of each graph of the netlist, in its order
};

// Exactly what `pipegen` will say (overlay/usage.hpp), while the usages of resources.hpp are estimates for ops whose neighbours are not
// known yet. Empty where the device does not say enough for stream programs. What does not fit is an error, and so is what the next tools
// cannot do: better here than two tools later.
Result<LaidOut> lay_out(const netlist::Netlist& netlist, const device::DeviceDescriptor& device, const device::Cluster& cluster,
                        Host& host);

// The same, where ops whose stream programs have more phases than expected get the room for them (overlay_size) if L1 has it. Numbers of
// inputs that go together with nothing make phases that the usages of ops do not foresee.
Result<LaidOut> lay_out_with_room(netlist::Netlist& netlist, const device::DeviceDescriptor& device, const device::Cluster& cluster,
                                  Host& host);

}  // namespace buda::balance
