// SPDX-License-Identifier: Apache-2.0
// What of a core's L1 there is for buffers, and what pointers of queues take of it.
#pragma once

#include <buda/device/cluster.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/overlay/blob/blob.hpp>

#include <cstdint>

namespace buda::overlay {

// The L1 of a core. Ethernet cores have less, which `eth_core` describes.
device::L1Map l1_map_of(const Core& core, const device::DeviceDescriptor& device, const device::EthCore& eth_core);

// Buffers of queues, or ends of links over PCIe, whose pointers a core tracks for a stream. `reads_pcie`: its sender is on another chip.
std::int64_t tracked_buffers(const Stream& stream, bool reads_pcie);
// Bytes of L1 for the pointers of that many buffers: private memory has room for some.
std::uint64_t tracking_bytes(std::int64_t buffers, const device::DeviceDescriptor& device);

// The room for a stream program is a multiple of this; bytes.
inline constexpr std::int64_t kProgramStep = 4096;

// Bytes of L1 that the stream program takes beyond what is reserved for it anyway.
std::uint64_t excess_program_bytes(std::int64_t program_bytes, const device::L1Map& l1);

}  // namespace buda::overlay
