// SPDX-License-Identifier: Apache-2.0
// Whether stream programs are for the networks and cores of a device.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/overlay/blob/blob.hpp>

#include <string>

namespace buda::overlay {

// Cores and ports lie on the grid of the network, streams use one of its two networks, and their buffers end within L1: BB008. `file` is
// what diagnostics name.
Result<void> check_places(const Blob& blob, const device::DeviceDescriptor& device, const std::string& file);

}  // namespace buda::overlay
