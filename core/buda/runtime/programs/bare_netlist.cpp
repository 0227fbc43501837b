// SPDX-License-Identifier: Apache-2.0
// Choosing among a netlist's architectures.
#include <buda/runtime/programs/bare_netlist.hpp>

#include <buda/device/load.hpp>
#include <buda/netlist/check/require_rules.hpp>
#include <buda/netlist/check/validate.hpp>
#include <buda/netlist/text/parse.hpp>

#include <algorithm>

namespace buda::runtime {
namespace {

using device::DeviceDescriptor;
using netlist::Netlist;

// The order in which they are preferred.
constexpr const char* kArchs[] = {"wormhole_b0", "grayskull", "wormhole", "blackhole"};

Result<BareNetlist> checked(Host& host, Netlist netlist, DeviceDescriptor device) {
  BUDA_TRY(netlist::require_rules(netlist, device, host));
  return BareNetlist{std::move(netlist), std::move(device)};
}

Result<BareNetlist> on_full_grid(Host& host, Netlist netlist) {
  BUDA_ASSIGN(auto device, device::load_device(host, netlist.arch));
  device.chips = std::max(device.chips, netlist::chips_used(netlist));
  return checked(host, std::move(netlist), std::move(device));
}

}  // namespace

Result<BareNetlist> load_bare_netlist(Host& host, std::string_view text, const std::string& file, std::optional<DeviceDescriptor> device) {
  netlist::ParseOptions options;
  if (device) {
    options.arch = device->arch;
    BUDA_ASSIGN(auto netlist, netlist::parse_netlist(text, file, options));
    return checked(host, std::move(netlist), std::move(*device));
  }
  auto netlist = netlist::parse_netlist(text, file, options);
  if (netlist) return on_full_grid(host, std::move(*netlist));
  if (netlist.failure().diagnostics().front().code != "NL007") return netlist.failure();
  std::optional<Failure> reasons;
  for (const char* arch : kArchs) {
    options.arch = arch;
    netlist = netlist::parse_netlist(text, file, options);
    if (!netlist) {
      if (netlist.failure().diagnostics().front().code == "NL007") continue;  // not one of the netlist's
      return netlist.failure();
    }
    auto found = on_full_grid(host, std::move(*netlist));
    if (found) return found;
    if (!reasons) reasons = found.failure();
  }
  if (reasons) return std::move(*reasons);
  return netlist.failure();
}

}  // namespace buda::runtime
