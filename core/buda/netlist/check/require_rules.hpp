// SPDX-License-Identifier: Apache-2.0
// The rules of netlists as a condition of later stages.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/netlist/model/netlist.hpp>

namespace buda::netlist {

// All errors that check_netlist finds, as a failure; its warnings go to the host.
Result<void> require_rules(const Netlist& netlist, const device::DeviceDescriptor& device, Host& host);

}  // namespace buda::netlist
