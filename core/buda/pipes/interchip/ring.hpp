// How chips without ethernet reach each other.
#pragma once

#include <buda/device/cluster.hpp>
#include <buda/pipes/plan/netlist_index.hpp>

#include <cstdint>
#include <optional>

namespace buda::pipes {

// The chips of a netlist form a ring, in order of their numbers. Whether `other` stands after `chip` in it (true), or before it;
// of two chips, each stands after the other. Nothing for chips that are not next to each other, and where there is no such ring.
std::optional<bool> stands_after(const ChipRange& ring, const device::Cluster& cluster, std::int32_t chip, std::int32_t other);

// The address at which `chip` sees byte `address` of the host window of chip `other`. Nothing for chips that are not
// next to each other in the ring, and where the device has no such way.
std::optional<std::uint64_t> peer_address(const ChipRange& ring, const device::DeviceDescriptor& device, const device::Cluster& cluster,
                                          std::int32_t chip, std::int32_t other, std::uint64_t address);

}  // namespace buda::pipes
