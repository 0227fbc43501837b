// SPDX-License-Identifier: Apache-2.0
// The ring in which chips without Ethernet access each other's memory.
#pragma once

#include <buda/device/cluster.hpp>
#include <buda/pipes/plan/netlist_index.hpp>

#include <cstdint>
#include <optional>

namespace buda::pipes {

// The chips of a netlist form a ring, in order of their numbers. Whether `other` is the next chip after `chip` (true), or the one before
// it; of two chips, each is next to the other. Nothing for chips that are not neighbours, and where there is no such ring.
std::optional<bool> is_next_in_ring(const ChipRange& ring, const device::Cluster& cluster, std::int32_t chip, std::int32_t other);

// The address at which `chip` accesses byte `address` of the host window of chip `other`. Nothing for chips that are not neighbours in the
// ring, and where the device has no host window.
std::optional<std::uint64_t> peer_address(const ChipRange& ring, const device::DeviceDescriptor& device, const device::Cluster& cluster,
                                          std::int32_t chip, std::int32_t other, std::uint64_t address);

}  // namespace buda::pipes
