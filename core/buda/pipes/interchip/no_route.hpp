// SPDX-License-Identifier: Apache-2.0
// Errors about routes that do not exist, or have no free stream.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/diagnostic.hpp>
#include <buda/netlist/model/netlist.hpp>
#include <buda/pipes/interchip/route_allocator.hpp>

#include <cstdint>

namespace buda::pipes {

// Why `links` gives no route for tiles of `op`. PP036 (Fault::fit) where links are saturated, with up to 16 of them as notes; PP034 where
// the chips are not connected.
Diagnostic no_route(const netlist::Netlist& netlist, const device::DeviceDescriptor& device, RouteAllocator& links, const netlist::Op& op,
                    std::int32_t from, std::int32_t to);

}  // namespace buda::pipes
