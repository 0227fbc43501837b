// Routes of one edge: which tiles of which producer core go to which consumer cores, in which order (docs/internals/reblocking.md).
#pragma once

#include <buda/pipes/consumption.hpp>
#include <buda/pipes/tile_lines.hpp>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace buda::pipes {

// Tiles that travel together. The producer's buffer is seen through a window of some ts; each time it has been filled, `tiles` are taken
// from it, in this order, and go to the next of `destinations` (numbers of cores, rows or columns, as Consumption counts them); after the
// last comes the first again. A turn may be padding: its destination gets as many tiles of it, and the producer's buffer waits.
struct PipeRoute {
  RunList tiles;
  std::vector<std::int32_t> destinations;
  std::vector<bool> padded = {};  // per destination: whether its turn is padding; empty when none is
};

struct EdgeRoutes {
  Share share = Share::core;
  std::vector<PipeRoute> pipes;
  std::int64_t window = 0;       // tiles of the producer's buffer that are visible at once
  std::int64_t granularity = 0;  // largest block size that divides every run and its beginning
  bool scattered = false;        // not all tiles of each producer core go, in their order, to one destination
};

// What is told in vain of an edge: a sentence without full stop.
struct RouteError {
  std::string reason;
  bool too_large = false;    // it would be possible, but not with so many tiles
  bool unsupported = false;  // `reason` names a feature that is missing here
};

// `buffered_t`: the ts that the producer's buffer holds at once (without double buffering). Either it or the producer's t divides the
// other. O(lines of the consumer's tensor), which is at most its tiles.
std::variant<EdgeRoutes, RouteError> route_edge(const ProducerLayout& producer, std::int64_t buffered_t, const LineMap& map,
                                                const Consumption& consumer);

// Rows or columns that share tiles, taken apart: one pipe for each core. For inputs that each core reads for itself.
void unshare(EdgeRoutes& routes, GridShape consumer);

// Tiles that one edge may move per input, over all destinations: far above what fits on a chip, so that a file cannot ask for hours.
inline constexpr std::int64_t kMostTilesOfEdge = std::int64_t{1} << 28;

}  // namespace buda::pipes
