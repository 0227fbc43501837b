// What the ops of a built netlist use of L1, streams and phases, as stream programs are laid out for them.
#pragma once

#include <buda/balance/legalize/resources.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/netlist/model/netlist.hpp>

#include <map>
#include <string>
#include <vector>

namespace buda::balance {

// By the op's name in the netlist: usages of Resource::l1, streams and phases, each of the op's core that uses most of it.
using LaidOutUsages = std::map<std::string, std::vector<Usage>, std::less<>>;

// Exactly what `pipegen` will say (overlay/usage.hpp), while the usages of resources.hpp are estimates for ops whose neighbours are not
// known yet. Empty where the device does not say enough for stream programs. What does not fit is an error, and so is what the next tools
// cannot do: better here than two tools later.
Result<LaidOutUsages> laid_out_usages(const netlist::Netlist& netlist, const device::DeviceDescriptor& device, Host& host);

}  // namespace buda::balance
