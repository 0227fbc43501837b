// SPDX-License-Identifier: Apache-2.0
// Distances on the two networks, and the choices made by them: which network a pipe uses, which port of a DRAM channel.
#pragma once

#include <buda/device/descriptor.hpp>

#include <cstdint>

#pragma GCC visibility push(default)

namespace buda::pipes {

// Virtual channels: writes to DRAM have their own; multicasts must not wait behind unicasts.
inline constexpr std::int32_t kDramWriteChannel = 0;
inline constexpr std::int32_t kUnicastChannel = 2;
inline constexpr std::int32_t kMulticastChannel = 4;

// Both networks are tori; network 0 goes right and down, network 1 left and up.
std::int32_t hops(int noc, device::NocCoord from, device::NocCoord to, device::NocSize size);
// The network with fewer hops; 0 when equal.
int nearer_noc(device::NocCoord from, device::NocCoord to, device::NocSize size);
// The port of a channel nearest to a core, for reads by network 0; the first of equals. The channel must have a port.
std::int32_t nearest_port(const device::DramChannel& channel, device::NocCoord core, device::NocSize size);

}  // namespace buda::pipes

#pragma GCC visibility pop
