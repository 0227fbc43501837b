// SPDX-License-Identifier: Apache-2.0
// Costs of edges, counted over their routes.
#include <buda/balance/resources/edge.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>
#include <buda/ops/table/op_traits.hpp>
#include <buda/tiling/edge_routes.hpp>
#include <buda/tiling/flat_rows.hpp>
#include <buda/tiling/line_map.hpp>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace buda::balance {
namespace {

using netlist::EdgeMaps;
using netlist::Op;
using netlist::TileShape;
using netlist::Tm;
using netlist::TmKind;
using netlist::UblockOrder;
using tiling::EdgeRoutes;
using tiling::LineMap;
using tiling::PipeRoute;
using tiling::Run;
using tiling::TileOrder;

bool moves_t(const EdgeMaps& maps) {
  return std::any_of(maps.tms.begin(), maps.tms.end(), [](const Tm& tm) {
    return tm.kind == TmKind::hslice || tm.kind == TmKind::vslice || tm.kind == TmKind::hstack || tm.kind == TmKind::vstack;
  });
}

// One side of a layout (grid, blocks, tiles of a block) made to hold `size` tiles, keeping the block where it divides.
void fit_side(std::int64_t size, std::int32_t& grid, std::int32_t& blocks, std::int32_t& tiles) {
  if (size == std::int64_t{grid} * blocks * tiles) return;
  tiles = static_cast<std::int32_t>(std::gcd<std::int64_t>(size, tiles));
  std::int64_t left = size / tiles;
  blocks = static_cast<std::int32_t>(std::gcd<std::int64_t>(left, blocks));
  left /= blocks;
  grid = static_cast<std::int32_t>(std::gcd<std::int64_t>(left, grid));
  blocks = static_cast<std::int32_t>(left / grid * blocks);
}

// How an edge stacks matrices of which the producer's buffer shows only some at a time. TT-Buda's net2pipe follows such stacks by pipes
// that repeat with each content of the buffer, which limits what it takes.
struct StackInParts {
  bool follows = false;             // other manipulations, or a second stack of the same kind, come after a stack
  std::int64_t rows = 1, cols = 1;  // tiles of what is stacked, with the matrices that slices had made of one
};

// Nothing where the edge does not stack, or the buffer shows all that is stacked.
std::optional<StackInParts> stack_in_parts(const TileLayout& producer, const EdgeMaps& maps, const TileShape& arrives) {
  StackInParts out{false, arrives.rt, arrives.ct};
  std::int64_t slack = 1, stacked = 1;  // matrices that slices have made of one; factors of all stacks
  bool spans = false, hstacked = false, vstacked = false, padded = false;
  for (const Tm& tm : maps.tms) {
    const bool stack = tm.kind == TmKind::hstack || tm.kind == TmKind::vstack;
    if (tm.kind == TmKind::hslice || tm.kind == TmKind::vslice) slack *= tm.factor;
    if (stack) {
      bool& before = tm.kind == TmKind::hstack ? hstacked : vstacked;
      out.follows |= before || padded;
      before = true;
      if (slack % tm.factor != 0) {
        spans = true;
        (tm.kind == TmKind::hstack ? out.cols : out.rows) /= std::max<std::int64_t>(tm.factor / slack, 1);
      }
      slack = slack % tm.factor == 0 ? slack / tm.factor : 1;
      stacked *= tm.factor;
    } else if (tm.kind == TmKind::pad) {
      out.follows |= padded;
      padded = true;
    } else {
      out.follows |= hstacked || vstacked || padded;
    }
  }
  if (!spans || producer.buffered_t % stacked == 0 || producer.buffered_t % producer.block.t == 0) return std::nullopt;
  return out;
}

// Whether one of the numbers is a multiple of the other.
bool one_divides_other(std::int64_t a, std::int64_t b) { return a % b == 0 || b % a == 0; }

// The reason why net2pipe rejects the stack, if it does: only stacks may come last; the size of the stacked matrices must divide, or be a
// multiple of, that of the consumer's blocks and ublocks; and matrices that are lower than a ublock must not be wider than it.
std::optional<std::string> refusal_of_stack(const TileLayout& producer, const EdgeMaps& maps, const TileOrder& order) {
  const auto stack = stack_in_parts(producer, maps, order.needed());
  if (!stack) return std::nullopt;
  const bool fits = one_divides_other(stack->rows, order.block_rt) && one_divides_other(stack->rows, order.part_rt()) &&
                    one_divides_other(stack->cols, order.block_ct) && one_divides_other(stack->cols, order.part_ct());
  const char* does = stack->follows ? "it stacks matrices and manipulates the result"
                     : !fits        ? "it stacks matrices that its blocks do not divide"
                     : stack->rows < order.block_rt && stack->cols > order.block_ct
                         ? "it stacks matrices that are lower and wider than its ublocks"
                         : nullptr;
  if (does == nullptr) return std::nullopt;
  return cat(does, ", for which the producer's output buffer must hold all ", producer.block.t, " matrices at once, not ",
             producer.buffered_t);
}

// Turns of the destination that has the most of them.
std::int64_t most_turns(std::vector<std::int32_t> destinations) {
  std::sort(destinations.begin(), destinations.end());
  std::int64_t most = 0, turns = 0;
  for (std::size_t i = 0; i < destinations.size(); ++i) {
    turns = i > 0 && destinations[i] == destinations[i - 1] ? turns + 1 : 1;
    most = std::max(most, turns);
  }
  return most;
}

// Counts one pipe after the other. Padding takes no part in it.
class Meter {
 public:
  Meter(std::int64_t sources, std::int64_t window)
      : window_(static_cast<double>(window)),
        pipes_(static_cast<std::size_t>(sources)),
        runs_(pipes_.size()),
        seen_by_(pipes_.size(), -1) {}

  void add(const PipeRoute& pipe) {
    ++pipe_;
    // Tiles that go to several destinations in turn are sent anew for each turn.
    std::int64_t sources = 0, changes = 0, tiles = 0;
    const auto turns = static_cast<std::int64_t>(pipe.destinations.size());
    cost_.turns = std::min(std::lcm(cost_.turns, turns), kMaxMeasuredTiles);
    std::int32_t last = tiling::kPaddingCore;
    for (const Run& run : pipe.tiles.runs()) {
      if (run.core == tiling::kPaddingCore) continue;
      const auto core = static_cast<std::size_t>(run.core);
      tiles += run.count;
      runs_[core] += turns;
      if (std::exchange(seen_by_[core], pipe_) != pipe_) {
        ++sources;
        ++pipes_[core];
      }
      if (std::exchange(last, run.core) != run.core) ++changes;
    }
    for (std::int32_t d : pipe.destinations) {
      const auto destination = static_cast<std::size_t>(d);
      if (destination >= brought_.size()) brought_.resize(destination + 1, {-1, 0});
      auto& [last_pipe, pipes] = brought_[destination];
      if (std::exchange(last_pipe, pipe_) != pipe_) cost_.pipes = std::max(cost_.pipes, ++pipes);
    }
    cost_.sources = std::max(cost_.sources, sources);
    add_flow(pipe, sources > 1 ? changes : 0, tiles);
    cost_.receiver_phases = std::max(cost_.receiver_phases, sources > 1 ? changes * most_turns(pipe.destinations) : changes);
    tiles_ = std::max(tiles_, tiles);
  }

  // The producer's buffers are filled for `windows` windows of every `inputs` inputs.
  EdgeCost cost(const EdgeRoutes& routes, std::int64_t windows, std::int64_t inputs) const {
    EdgeCost out = cost_;
    const std::int64_t granularity = routes.granularity;
    const double per_input = static_cast<double>(windows) / static_cast<double>(inputs);
    out.flow.turns *= per_input;
    out.flow.tiles *= per_input;
    out.flow.window = 1 / per_input;
    out.flow.in_order = !routes.scattered;
    out.granularity = granularity;
    out.fan_out = *std::max_element(pipes_.begin(), pipes_.end());
    out.sender_phases = *std::max_element(runs_.begin(), runs_.end());
    out.pieces = tiles_ * windows / inputs / granularity;
    out.unread = std::count(pipes_.begin(), pipes_.end(), 0);
    return out;
  }

 private:
  // A tile may go when the pipe has come to it and its core has given it: by how much the core has to be ahead.
  void add_flow(const PipeRoute& pipe, std::int64_t turns, std::int64_t tiles) {
    EdgeFlow& flow = cost_.flow;
    flow.turns = std::max(flow.turns, static_cast<double>(turns));
    flow.tiles = std::max(flow.tiles, static_cast<double>(tiles));
    double come = 0;
    for (const Run& run : pipe.tiles.runs()) {
      come += static_cast<double>(run.count);
      if (run.core == tiling::kPaddingCore) continue;
      flow.lead =
          std::max(flow.lead, static_cast<double>(run.first + run.count) / window_ - come / static_cast<double>(pipe.tiles.tiles()));
    }
  }

  EdgeCost cost_;
  double window_;
  std::vector<std::int64_t> pipes_, runs_, seen_by_;            // by source
  std::vector<std::pair<std::int64_t, std::int64_t>> brought_;  // by destination: the last pipe to it, and how many there are
  std::int64_t pipe_ = -1, tiles_ = 0;
};

// All rows of a table for each column of cores, in pieces as wide as the op's ublocks.
TileLayout table_layout(const Op& op, const TileShape& table) {
  TileLayout l;
  l.grid = {1, op.grid.cols};
  l.block = op.block;
  l.block.mblock_m = static_cast<std::int32_t>(table.rt);
  return l;
}

std::variant<EdgeRoutes, std::string> routes_of_rows(const TileLayout& rows, const Op& consumer) {
  auto cut = tiling::cut_rows(rows, consumer.tile_dim, consumer);
  if (auto* reason = std::get_if<std::string>(&cut)) return std::move(*reason);
  return tiling::route_rows(std::get<tiling::RowCut>(cut), rows, consumer.grid);
}

// Buffers that a core reads one part each from. More cost it streams and phases.
constexpr std::int64_t kMaxPartsApart = 8;

// Parts of columns that one matrix is taken in; 1 where it is taken in any other way.
std::int64_t parts_of_columns(const TileShape& producer, const EdgeMaps& maps) {
  if (producer.t != 1 || maps.pad || maps.unpad || maps.tms.size() != 1) return 1;
  return maps.tms.front().kind == TmKind::hslice ? maps.tms.front().factor : 1;
}

std::int64_t most_divisor(std::int64_t number, std::int64_t most) {
  std::int64_t divisor = std::min(number, most);
  while (number % divisor != 0) --divisor;
  return divisor;
}

}  // namespace

TileLayout preferred_layout(const Op& op, std::size_t input, const TileShape& producer, const EdgeMaps& maps) {
  if (tiling::takes_rows(op, input) && ops::looks_up_rows(op.type)) return table_layout(op, producer);
  const TileOrder order = input_order(op, input);
  TileLayout l;
  l.grid = {order.axis == tiling::MulticastAxis::column ? 1 : op.grid.rows, order.axis == tiling::MulticastAxis::row ? 1 : op.grid.cols};
  l.block.mblock_m = static_cast<std::int32_t>(order.blocks_r);
  l.block.mblock_n = static_cast<std::int32_t>(order.blocks_c);
  l.block.ublock_rt = static_cast<std::int32_t>(order.block_rt);
  l.block.ublock_ct = static_cast<std::int32_t>(order.block_ct);
  l.order = order.order;
  bool transposed = false;
  for (const Tm& tm : maps.tms)
    if (tm.kind == TmKind::transpose) transposed = !transposed;
  if (transposed) {
    std::swap(l.grid.rows, l.grid.cols);
    std::swap(l.block.mblock_m, l.block.mblock_n);
    std::swap(l.block.ublock_rt, l.block.ublock_ct);
    l.order = l.order == UblockOrder::r ? UblockOrder::c : UblockOrder::r;
  }
  if (const std::int64_t parts = parts_of_columns(producer, maps); parts > 1) {
    // A core's columns of one part follow those of the core before it; those of the next part lie behind the last core's.
    const std::int64_t held = most_divisor(parts, kMaxPartsApart);
    l.grid.cols = static_cast<std::int32_t>(held == parts ? parts * l.grid.cols : held);
  } else if (moves_t(maps) || maps.pad || maps.unpad) {
    l.grid = {1, 1};
  }
  l.block.t = static_cast<std::int32_t>(producer.t);
  l.buffered_t = producer.t;
  fit_side(producer.rt, l.grid.rows, l.block.mblock_m, l.block.ublock_rt);
  fit_side(producer.ct, l.grid.cols, l.block.mblock_n, l.block.ublock_ct);
  return l;
}

std::variant<std::int64_t, std::string> stack_depth(const std::vector<Tm>& tms) {
  std::int64_t depth = 1, slack = 1;
  for (const Tm& tm : tms) {
    if (tm.kind == TmKind::hslice || tm.kind == TmKind::vslice) slack *= tm.factor;
    if (tm.kind != TmKind::hstack && tm.kind != TmKind::vstack) continue;
    if (slack % tm.factor == 0) {
      slack /= tm.factor;
    } else if (tm.factor % slack == 0) {
      depth *= tm.factor / slack;
      slack = 1;
    } else {
      return cat(tm.text(), " neither divides nor is divided by the slices before it (", slack, ')');
    }
  }
  return depth;
}

std::variant<EdgeRoutes, std::string> edge_routes(const TileLayout& producer, const EdgeMaps& maps, const Op& consumer, std::size_t input) {
  if (tiling::takes_rows(consumer, input)) return routes_of_rows(producer, consumer);
  auto made = LineMap::make(producer.shape(), maps);
  if (auto* error = std::get_if<netlist::MapError>(&made)) return error->reason;
  const auto& map = std::get<LineMap>(made);
  const TileOrder order = input_order(consumer, input);
  if (map.shape() != order.needed()) return cat("it arrives as ", map.shape().text(), " where ", order.needed().text(), " is needed");
  if (auto reason = refusal_of_stack(producer, maps, order)) return std::move(*reason);
  if (order.needed().volume() > kMaxMeasuredTiles)
    return cat("its ", order.needed().volume(), " tiles are more than can be analysed (", kMaxMeasuredTiles, ')');
  auto routed = tiling::route_edge(producer, map, order);
  if (auto* error = std::get_if<tiling::RouteError>(&routed)) return std::move(error->reason);
  return std::get<EdgeRoutes>(std::move(routed));
}

EdgeCost cost_of_routes(const EdgeRoutes& routes, const TileLayout& producer) {
  Meter meter(producer.grid.volume(), producer.window_tiles());
  for (const PipeRoute& pipe : routes.pipes) meter.add(pipe);
  const std::int64_t t = producer.block.t, both = std::lcm(t, producer.buffered_t);
  return meter.cost(routes, both / producer.buffered_t, both / t);
}

EdgeCost in_passes(EdgeCost cost, std::int64_t windows_in_buffer, std::int64_t passes) {
  const std::int64_t period = std::min(std::lcm(windows_in_buffer, cost.turns), passes);
  if (passes % period == 0) return cost;
  const std::int64_t periods = ceil_div(passes, period);
  // A receiver's phase goes on while the same core sends to it.
  if (cost.sources > 1) cost.receiver_phases *= periods;
  cost.sender_phases *= periods;
  return cost;
}

std::variant<EdgeCost, std::string> measure_edge(const TileLayout& producer, const EdgeMaps& maps, const Op& consumer, std::size_t input) {
  auto routes = edge_routes(producer, maps, consumer, input);
  if (auto* reason = std::get_if<std::string>(&routes)) return std::move(*reason);
  return cost_of_routes(std::get<EdgeRoutes>(routes), producer);
}

std::int64_t dram_reads(const EdgeCost& edge, const Op& consumer, std::size_t input, const device::DeviceDescriptor& device) {
  std::int64_t tile = std::max(tile_bytes(consumer.inputs[input].format, input_tile_dim(consumer, input), device.tile_alignment), 1);
  std::int64_t most = std::min(input_buffer(consumer, input, device).size, std::max<std::int64_t>(kMaxReadBytes / tile, 1));
  std::int64_t piece = std::min(edge.granularity, most);
  while (edge.granularity % piece != 0) --piece;
  return edge.pieces * (edge.granularity / piece);
}

}  // namespace buda::balance
