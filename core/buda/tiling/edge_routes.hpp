// SPDX-License-Identifier: Apache-2.0
// Routes of one edge: which tiles of which producer core go to which consumer cores, in which order (docs/internals/reblocking.md).
#pragma once

#include <buda/tiling/tile_layout.hpp>
#include <buda/tiling/tile_order.hpp>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::tiling {

class LineMap;  // line_map.hpp

// Tiles that travel together. The producer's buffer is seen through a window of some ts; each time it has been filled, `tiles` are taken
// from it, in this order, and go to the next of `destinations` (numbers of cores, rows or columns, as TileOrder counts them), in
// round-robin order. A destination's turn may be padding: it gets as many tiles of padding, and the producer's buffer waits.
struct PipeRoute {
  RunList tiles;
  std::vector<std::int32_t> destinations;
  std::vector<bool> padded = {};  // per destination: whether its turn is padding; empty when none is
};

struct EdgeRoutes {
  MulticastAxis axis = MulticastAxis::core;
  std::vector<PipeRoute> pipes;
  std::int64_t window = 0;       // tiles of a producer core's buffer that are visible at once
  std::int64_t granularity = 0;  // tiles: the largest block size that divides the window, every run and its first index
  bool scattered = false;        // not all tiles of each producer core go, in their order, to one destination
};

// Why an edge has no routes: a sentence without full stop.
struct RouteError {
  std::string reason;
  bool too_large = false;  // it would be possible, but not with so many tiles
};

// Either the producer's buffered_t or its t must divide the other. O(lines of the consumer's tensor), which is at most its tiles.
std::variant<EdgeRoutes, RouteError> route_edge(const TileLayout& producer, const LineMap& map, const TileOrder& consumer);

// Replaces multicasts along rows or columns by one pipe for each core: for inputs that each core reads for itself.
void split_multicasts(EdgeRoutes& routes, GridShape consumer);

// Tiles that one edge may move per input, over all destinations: far above what fits on a chip, so that a file cannot ask for hours.
inline constexpr std::int64_t kMaxEdgeTiles = std::int64_t{1} << 28;

}  // namespace buda::tiling

#pragma GCC visibility pop
