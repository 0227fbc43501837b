// SPDX-License-Identifier: Apache-2.0
// The resources of each core, and the order of its phases. Internal to the module.
#pragma once

#include <buda/device/cluster.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/overlay/blob/blob.hpp>
#include <buda/overlay/violations.hpp>

namespace buda::overlay {

// OV002 for phases of several pipes that overlap, OV011 for too many phases, OV012 for streams, OV016 for streams that read or write DRAM,
// OV017 for pipes that an output feeds. Bytes of L1 were counted when they were allocated (OV015).
void check_limits(const Blob& blob, const device::DeviceDescriptor& device, const device::EthCore& eth_core, Violations& violations);

}  // namespace buda::overlay
