// SPDX-License-Identifier: Apache-2.0
// What a netlist without a plan runs on.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/netlist/model/netlist.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace buda::runtime {

struct BareNetlist {
  netlist::Netlist netlist;
  device::DeviceDescriptor device;
};

// Parses a netlist, finds its device and checks it. With `device`, that is it. Without, it is the full grid of the netlist's architecture,
// with as many chips as the netlist uses; of several architectures the first of wormhole_b0, grayskull, wormhole and blackhole whose rules
// the netlist keeps (what is wrong for the first of these, when it keeps none's).
Result<BareNetlist> load_bare_netlist(Host& host, std::string_view text, const std::string& file,
                                      std::optional<device::DeviceDescriptor> device = std::nullopt);

}  // namespace buda::runtime
