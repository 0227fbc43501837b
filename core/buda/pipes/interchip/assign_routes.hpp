// SPDX-License-Identifier: Apache-2.0
// Routes of all inter-chip pipes of an epoch.
//
// A link has few streams. First every edge gets one route, a detour where the direct ones are saturated, so that no edge is refused because
// of streams that others could share. Then edges with more pipes than routes get further ones in round-robin order, direct routes first,
// because a detour uses streams of more links. What is left goes to receivers of phased pipes, each of which gets a route of its own, if
// the edge has just one pipe to these receivers; so none waits for another at the end of a link.
//
// Pipes of different edges do not share a route: an op that waits for one edge could block the other, for whose data the first may wait.
// Nor do pipes of row pieces share one, because pieces are identified by their position in the list.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/netlist/model/netlist.hpp>
#include <buda/pipes/interchip/route_allocator.hpp>
#include <buda/pipes/interchip/transfer.hpp>

#include <vector>

namespace buda::pipes {

// Consecutive pipes of one edge and their routes: one that they share, or one for each receiver of a single pipe (receivers_of()).
struct RouteGroup {
  std::size_t first = 0, count = 0;
  std::vector<ChipRoute> routes;
};

// Every pipe is in exactly one group, and the groups are in the order of the pipes. The pipes of an edge must be consecutive. A pipe that
// ends on its chip has an empty route. An edge without a route is an error (no_route()).
Result<std::vector<RouteGroup>> assign_routes(const std::vector<InterChipPipe>& pipes, RouteAllocator& links,
                                              const netlist::Netlist& netlist, const device::DeviceDescriptor& device);

}  // namespace buda::pipes
