// What a netlist without a plan runs on.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/netlist/netlist.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace buda::runtime {

struct BareNetlist {
  netlist::Netlist netlist;
  device::DeviceDescriptor device;
};

// Parses a netlist, finds its device and checks it. With `device`, that is it. Without, it is the full grid of the netlist's architecture,
// with as many chips as the netlist uses; of several architectures the first of wormhole_b0 and grayskull whose rules the netlist keeps
// (what is wrong for the first, when it keeps none's). Of an architecture that has no descriptor only the shapes are checked, and
// wormhole_b0 stands in: warning RT025.
Result<BareNetlist> load_bare_netlist(Host& host, std::string_view text, const std::string& file,
                                      std::optional<device::DeviceDescriptor> device = std::nullopt);

}  // namespace buda::runtime
