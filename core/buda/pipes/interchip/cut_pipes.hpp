// SPDX-License-Identifier: Apache-2.0
// Cuts pipes between chips into segments.
//
// Tiles pass through the relays between segments in their order:
//
//   sources ─▶ relay on a worker ─▶ ethernet core ═link═▶ ethernet core ─▶ … ─▶ destinations
//
// The first segment does all of the re-blocking; the last one distributes the tiles over cores. The relay on a worker gathers what comes
// from several cores or from DRAM, which Ethernet cores do not read. One pass of the pipe is one pass of each segment, so the block of a
// relay is all that a pass transfers.
//
// Pipes that share a route have a common first segment, which transfers what all of them take in a pass, one after the other. At the end
// of the last link each takes its part:
//
//   sources of A, then of B ─▶ relay ─▶ ethernet core ═link═▶ ethernet core ─┬▶ destinations of A
//                                                                           └▶ destinations of B
//
// Receivers with routes of their own are separated at the producers:
//
//   sources ─┬▶ relay of round 0 ─▶ ethernet core ═link═▶ ethernet core ─▶ receiver of round 0
//            └▶ relay of round 1 ─▶ …
#pragma once

#include <buda/pipes/interchip/assign_routes.hpp>
#include <buda/pipes/interchip/relays.hpp>
#include <buda/pipes/interchip/segments.hpp>

#include <vector>

namespace buda::pipes {

// `groups` as assign_routes() returns them for `pipes`. The last segment of each pipe keeps its id.
Segments cut_pipes(std::vector<InterChipPipe> pipes, const std::vector<RouteGroup>& groups, RelayAllocator& relays);

}  // namespace buda::pipes
