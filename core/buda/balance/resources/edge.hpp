// SPDX-License-Identifier: Apache-2.0
// What an edge costs: which cores its tiles come from, in which pieces, and how deep the producer has to buffer.
#pragma once

#include <buda/balance/resources/resources.hpp>
#include <buda/netlist/model/op.hpp>
#include <buda/netlist/model/tensor_maps.hpp>
#include <buda/tiling/edge_routes.hpp>
#include <buda/tiling/tile_layout.hpp>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::balance {

using tiling::TileLayout;

// The layout from which an input is read in one piece per pipe, with its manipulations undone as far as they are broadcasts.
TileLayout preferred_layout(const netlist::Op& op, std::size_t input, const netlist::TileShape& producer, const netlist::EdgeMaps& maps);

// How many mblocks of the producer one t of the consumer spans: 1, or more where t is stacked into rows or columns. Slices before a
// stack make up for it. A sentence when the factors do not divide.
std::variant<std::int64_t, std::string> stack_depth(const std::vector<netlist::Tm>& tms);

// Counted over the routes of the edge (tiling/edge_routes.hpp), for what the producer's buffers show at once; phases for all that they show
// until every destination has had its turns.
struct EdgeCost {
  std::int64_t granularity = 0;      // tiles that travel as one piece
  std::int64_t sources = 0;          // most sources of one pipe
  std::int64_t fan_out = 0;          // most pipes of one source
  std::int64_t receiver_phases = 0;  // changes of source, most of one pipe
  std::int64_t sender_phases = 0;    // runs sent by one source, most
  std::int64_t pieces = 0;           // most pieces of one pipe, for one input
  std::int64_t unread = 0;           // sources that no pipe takes from
  std::int64_t pipes = 1;            // that bring tiles to one destination, most
  EdgeFlow flow = {};
  std::int64_t turns = 1;  // windows after which the destinations of all pipes have had their turns
};

// The routes of an edge, or why there are none: the shapes do not fit, or a stack needs a deeper buffer. O(lines of tiles that the consumer
// takes from one t of the producer, or from all where there are stacks).
std::variant<tiling::EdgeRoutes, std::string> edge_routes(const TileLayout& producer, const netlist::EdgeMaps& maps,
                                                          const netlist::Op& consumer, std::size_t input);
EdgeCost cost_of_routes(const tiling::EdgeRoutes& routes, const TileLayout& producer);

// The cost with the phases of an epoch of `passes` windows, of which the producer's buffer holds so many. A stream program has one period
// of the windows of a buffer and of the turns of destinations, and repeats it; where the period does not divide the passes, it has all of
// them.
EdgeCost in_passes(EdgeCost cost, std::int64_t windows_in_buffer, std::int64_t passes);

// Routes and cost.
std::variant<EdgeCost, std::string> measure_edge(const TileLayout& producer, const netlist::EdgeMaps& maps, const netlist::Op& consumer,
                                                 std::size_t input);

// Read list entries of one pipe on such an edge from DRAM: a read is a piece or less, no more than the kernel's buffer and no more than
// kMaxReadBytes.
std::int64_t dram_reads(const EdgeCost& edge, const netlist::Op& consumer, std::size_t input, const device::DeviceDescriptor& device);
inline constexpr std::int64_t kMaxReadBytes = 64 * 1024;

// Edges of more tiles are not measured: no chip of today has the DRAM for such a tensor, and a hand-written graph may say anything.
inline constexpr std::int64_t kMaxMeasuredTiles = std::int64_t{1} << 24;

}  // namespace buda::balance

#pragma GCC visibility pop
