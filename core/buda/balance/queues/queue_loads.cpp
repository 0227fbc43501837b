// SPDX-License-Identifier: Apache-2.0
// Counts the tiles of routes by buffer, and by when they are read.
#include <buda/balance/queues/queue_loads.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace buda::balance {
namespace {

GridCoord worker_at(const netlist::Op& op, std::int32_t row, std::int32_t col) {
  if (op.grid_transpose) std::swap(row, col);
  return {op.grid_loc.row + row, op.grid_loc.col + col};
}

GridCoord reading_worker(const netlist::Op& op, tiling::MulticastAxis axis, std::int32_t destination) {
  switch (axis) {
    case tiling::MulticastAxis::row:
      return worker_at(op, destination, 0);
    case tiling::MulticastAxis::column:
      return worker_at(op, op.grid.rows - 1, destination);
    case tiling::MulticastAxis::core:
      break;
  }
  return worker_at(op, destination / op.grid.cols, destination % op.grid.cols);
}

// Tiles by source and turn.
using TurnTiles = std::map<std::pair<std::size_t, std::int32_t>, std::uint64_t>;

// Of a pipe, whose tiles are read one after the other. `tiles_of_turn`: how many make a turn.
void add_turns(const tiling::RunList& list, std::uint64_t tiles_of_turn, TurnTiles& out) {
  std::uint64_t at = 0;
  for (const tiling::Run& run : list.runs()) {
    const std::uint64_t end = at + static_cast<std::uint64_t>(run.count);
    while (at < end) {
      const std::uint64_t turn = at / tiles_of_turn, next = std::min(end, (turn + 1) * tiles_of_turn);
      if (run.core != tiling::kPaddingCore) out[{static_cast<std::size_t>(run.core), static_cast<std::int32_t>(turn)}] += next - at;
      at = next;
    }
  }
}

std::uint64_t tiles_of_turn(const tiling::RunList& list, const QueueAccess& access) {
  const auto tiles = static_cast<std::uint64_t>(list.tiles());
  return std::max<std::uint64_t>(access.before ? kTurnBytes / std::max<std::uint64_t>(access.tile_bytes, 1) : (tiles + kTurns - 1) / kTurns,
                                 1);
}

}  // namespace

void add_reader(const tiling::EdgeRoutes& routes, const netlist::Op& op, const QueueAccess& access, QueueUse& use) {
  std::vector<std::uint64_t> tiles(use.size(), 0);
  TurnTiles turns;
  for (const tiling::PipeRoute& pipe : routes.pipes) {
    std::vector<std::size_t> sources;
    for (const tiling::Run& run : pipe.tiles.runs()) {
      if (run.core == tiling::kPaddingCore) continue;
      tiles[static_cast<std::size_t>(run.core)] += static_cast<std::uint64_t>(run.count);
      sources.push_back(static_cast<std::size_t>(run.core));
    }
    std::sort(sources.begin(), sources.end());
    sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
    add_turns(pipe.tiles, tiles_of_turn(pipe.tiles, access), turns);
    const GridCoord worker = reading_worker(op, routes.axis, pipe.destinations.front());
    for (std::size_t source : sources) use[source].ends.push_back({access.epoch, worker, false});
  }
  for (std::size_t i = 0; i < use.size(); ++i)
    if (tiles[i] > 0) use[i].loads.push_back({access.epoch, access.before, false, tiles[i] * access.tile_bytes * access.times});
  for (const auto& [at, count] : turns)
    use[at.first].turns.push_back(
        {access.epoch, access.before, access.before ? 0 : access.op, at.second, count * access.tile_bytes * access.times});
}

void add_writer(const netlist::Op& op, const QueueAccess& access, QueueUse& use) {
  const auto bytes = static_cast<std::uint64_t>(op.block.tiles()) * access.tile_bytes * access.times;
  for (std::size_t i = 0; i < use.size(); ++i) {
    const auto core = static_cast<std::int32_t>(i);
    use[i].loads.push_back({access.epoch, access.before, true, bytes});
    use[i].ends.push_back({access.epoch, worker_at(op, core / op.grid.cols, core % op.grid.cols), true});
  }
}

}  // namespace buda::balance
