// SPDX-License-Identifier: Apache-2.0
// Which tiles the streams of a blob bring, and in which order, by what the blob says of phases: without numbers in rings and without
// anything that movers are made of.
#pragma once

#include <buda/movers/lower.hpp>
#include <buda/overlay/blob/blob.hpp>

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace buda::movers {

// A tile by where it comes from: what a kernel makes (core, stream, number), or a place in memory (-1 - column, row, address).
using Tile = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
inline Tile tile_in_memory(device::NocCoord node, std::uint64_t address) {
  return {-1 - node.x, node.y, static_cast<std::int64_t>(address)};
}

struct StreamOrders {
  std::map<overlay::StreamRef, std::vector<Tile>> sums;                // of gradients: what is read before the epoch
  std::map<overlay::StreamRef, std::vector<Tile>> tiles;               // of every stream with a buffer of its own
  std::map<std::pair<device::NocCoord, std::uint64_t>, Tile> written;  // in memory, in the end
};

StreamOrders stream_orders(const overlay::Blob& blob, const Execution& execution);

}  // namespace buda::movers
