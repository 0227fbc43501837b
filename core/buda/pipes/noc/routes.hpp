// SPDX-License-Identifier: Apache-2.0
// The routes of messages on the networks on chip.
#pragma once

#include <buda/device/descriptor.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

#pragma GCC visibility push(default)

namespace buda::pipes {

enum class NocAxis : std::uint8_t { x, y };

// The node that network `noc` sends to along an axis: network 0 to the right or down, network 1 to the left or up, round the edges of the
// grid.
device::NocCoord neighbour(std::int32_t noc, NocAxis axis, device::NocCoord at, device::NocSize size);

// Number of the link by which a node sends along an axis; the chip has 4 for each node.
inline std::size_t link_number(std::int32_t noc, NocAxis axis, device::NocCoord node, device::NocSize size) {
  const auto lane = static_cast<std::size_t>(2 * noc + (axis == NocAxis::x ? 0 : 1));
  return (lane * static_cast<std::size_t>(size.y) + static_cast<std::size_t>(node.y)) * static_cast<std::size_t>(size.x) +
         static_cast<std::size_t>(node.x);
}

// How a node gives to a network and takes from it: each is as wide as a link.
enum class NocPort : std::uint8_t { output, input };

// Number of a node's port, after those of all links; the chip has 4 for each node.
inline std::size_t port_number(std::int32_t noc, NocPort port, device::NocCoord node, device::NocSize size) {
  const auto lane = static_cast<std::size_t>(4 + 2 * noc + (port == NocPort::output ? 0 : 1));
  return (lane * static_cast<std::size_t>(size.y) + static_cast<std::size_t>(node.y)) * static_cast<std::size_t>(size.x) +
         static_cast<std::size_t>(node.x);
}
// Links and ports.
inline std::size_t link_and_port_count(device::NocSize size) {
  return static_cast<std::size_t>(size.x) * static_cast<std::size_t>(size.y) * 8;
}

// Calls visit(axis, node) for each node on the way that passes a message on: network 0 goes along x first, network 1 along y. Both nodes
// are on the grid. O(hops).
template <class Visit>
void for_each_hop(std::int32_t noc, device::NocCoord from, device::NocCoord to, device::NocSize size, Visit visit) {
  const std::array<NocAxis, 2> order = noc == 0 ? std::array{NocAxis::x, NocAxis::y} : std::array{NocAxis::y, NocAxis::x};
  device::NocCoord at = from;
  for (NocAxis axis : order)
    while (axis == NocAxis::x ? at.x != to.x : at.y != to.y) {
      visit(axis, at);
      at = neighbour(noc, axis, at, size);
    }
}

// From a node to its neighbour.
using NocLink = std::pair<device::NocCoord, device::NocCoord>;

// Adds the links of a route. Those of several routes from one node are the tree of a multicast.
void add_route(std::int32_t noc, device::NocCoord from, device::NocCoord to, device::NocSize size, std::set<NocLink>& out);

}  // namespace buda::pipes

#pragma GCC visibility pop
