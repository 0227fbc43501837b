// SPDX-License-Identifier: Apache-2.0
// Places ops on Ethernet cores.
//
// An ethernet_datacopy copies its input like any op, from the chip of its source to another: each core of its grid has a route, which is
// one link as a rule. The channels at both ends may be given; otherwise the least used links are chosen.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/pipes/interchip/core_positions.hpp>
#include <buda/pipes/interchip/route_allocator.hpp>
#include <buda/pipes/plan/epoch_plan.hpp>

namespace buda::pipes {

// Ops with given channels come first, so that the others do not use their links. PP034 and PP036 where there is no route (no_route()),
// PP035 where channels are given that have no link, or too few of them.
Result<CorePositions> place_ethernet_ops(const EpochPlan& plan, RouteAllocator& links);

}  // namespace buda::pipes
