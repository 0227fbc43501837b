// SPDX-License-Identifier: Apache-2.0
// Parts what is wrong from what is only said.
#include <buda/netlist/check/require_rules.hpp>

#include <buda/netlist/check/check.hpp>

#include <utility>

namespace buda::netlist {

Result<void> require_rules(const Netlist& netlist, const device::DeviceDescriptor& device, Host& host) {
  Failure failure;
  for (Diagnostic& d : check_netlist(netlist, device)) {
    if (d.severity == Severity::error) {
      failure.add(std::move(d));
    } else {
      host.report(d);
    }
  }
  if (!failure.empty()) return failure;
  return success();
}

}  // namespace buda::netlist
