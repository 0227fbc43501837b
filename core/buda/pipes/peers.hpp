// How chips without ethernet see each other's DRAM.
#pragma once

#include <buda/device/cluster.hpp>
#include <buda/netlist/netlist.hpp>

#include <cstdint>
#include <optional>

namespace buda::pipes {

// The address at which `chip` sees byte `address` of the host window of chip `other`: the chips that the netlist names form a ring. Nothing
// for chips that are not next to each other in it, and where the device has no such way.
std::optional<std::uint64_t> peer_address(const netlist::Netlist& netlist, const device::DeviceDescriptor& device,
                                          const device::Cluster& cluster, std::int32_t chip, std::int32_t other, std::uint64_t address);

}  // namespace buda::pipes
