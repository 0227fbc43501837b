// What an edge costs: which cores its tiles come from, in which pieces, and how deep the producer has to buffer.
//
// A consumer asks for tiles in an order of its own (walk_of); a producer holds them in another (Layout). Walking the one over the other
// tells how many sources a pipe gathers from, how many pipes a source feeds, and into how many pieces the transfer falls. The pieces
// are as large as the greatest common divisor of all contiguous runs: that is the rule by which pipes are cut in TT-Buda.
#pragma once

#include <buda/balance/resources.hpp>
#include <buda/netlist/op.hpp>
#include <buda/netlist/queue.hpp>
#include <buda/netlist/tensor_maps.hpp>

#include <cstdint>
#include <string>
#include <variant>

namespace buda::balance {

// How a tensor lies on a grid of cores or buffers, row-major over the grid. `depth`: how many of its t mblocks are there at once.
struct Layout {
  GridShape grid{1, 1};
  netlist::BlockShape block;
  netlist::UblockOrder order = netlist::UblockOrder::r;
  std::int64_t depth = 1;
  netlist::TileShape shape() const { return netlist::tensor_shape(grid, block); }
  friend bool operator==(const Layout&, const Layout&) = default;
};
Layout layout_of(const netlist::Queue& queue);
// The output of an op that processes `input_count` inputs per epoch.
Layout layout_of(const netlist::Op& op, std::int64_t input_count);

// The order in which one core, row or column of an op's grid takes the tiles of an input: t by t, blocks of rt x ct tiles row by row, or
// column by column. Block (0, 0) of grid place (i, j) begins at tile row i * row_step and column j * col_step.
struct Walk {
  Reach reach = Reach::core;
  std::int64_t t = 1;
  std::int64_t block_rows = 1, block_cols = 1;  // numbers of blocks
  std::int64_t rt = 1, ct = 1;                  // tiles of a block
  bool by_columns = false;
  std::int64_t row_step = 0, col_step = 0;
  std::int64_t pipe_rows = 1, pipe_cols = 1;  // the pipes: places of the grid that differ in what they take
};
Walk walk_of(const netlist::Op& op, std::size_t input);
// The shape that the walks of all pipes cover: what the input's tensor must have after its manipulations.
netlist::TileShape needed_shape(const netlist::Op& op, std::size_t input);

// The layout from which an input is read in one piece per pipe, with its manipulations undone as far as they are broadcasts.
Layout preferred_layout(const netlist::Op& op, std::size_t input, const netlist::TileShape& producer, const netlist::EdgeMaps& maps);

// How many mblocks of the producer one t of the consumer spans: 1, or more where t is stacked into rows or columns. Slices before a
// stack make up for it. A sentence when the factors do not divide.
std::variant<std::int64_t, std::string> stack_depth(const std::vector<netlist::Tm>& tms);

struct EdgeCost {
  std::int64_t granularity = 0;      // tiles that travel as one piece
  std::int64_t sources = 0;          // most sources of one pipe
  std::int64_t fan_out = 0;          // most pipes of one source
  std::int64_t receiver_phases = 0;  // changes of source, most of one pipe
  std::int64_t sender_phases = 0;    // pieces sent by one source, most
  std::int64_t pieces = 0;           // most pieces of one pipe
};

// Measures an edge, or says why it cannot be: the shapes do not fit, or a stack needs a deeper buffer. Time is linear in the tiles that
// the consumer takes of what the producer holds at once.
std::variant<EdgeCost, std::string> measure_edge(const Layout& producer, const netlist::EdgeMaps& maps, const netlist::Op& consumer,
                                                 std::size_t input);
// The same for an op that writes a queue of the same blocking.
EdgeCost one_to_one(const Layout& layout);

// Read list entries of one pipe on such an edge from DRAM: a read is a piece or less, no more than the kernel's buffer and no more than
// kMostReadBytes.
std::int64_t dram_reads(const EdgeCost& edge, const netlist::Op& consumer, std::size_t input, const device::DeviceDescriptor& device);
inline constexpr std::int64_t kMostReadBytes = 64 * 1024;

// Larger walks are not made: no chip of today has the DRAM for such a tensor, and a hand-written graph may say anything.
inline constexpr std::int64_t kMostWalkTiles = std::int64_t{1} << 24;

}  // namespace buda::balance
