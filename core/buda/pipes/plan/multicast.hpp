// SPDX-License-Identifier: Apache-2.0
// How pipes into an input are multicast.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/netlist/model/netlist.hpp>
#include <buda/tiling/tile_order.hpp>

#include <cstddef>

namespace buda::pipes {

// Along which axis of the op's grid, and on which network.
struct Multicast {
  tiling::MulticastAxis axis = tiling::MulticastAxis::core;
  bool noc1 = false;
};

// Rows and columns use different networks. A fused op may multicast two inputs along the same axis; the second uses the other network.
// PP008 if a fused op multicasts more than two inputs.
Result<Multicast> multicast_of(const netlist::Netlist& netlist, const netlist::Op& op, std::size_t input, tiling::MulticastAxis axis);

}  // namespace buda::pipes
