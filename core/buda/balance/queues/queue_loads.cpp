// Counts the tiles of routes by buffer.
#include <buda/balance/queues/queue_loads.hpp>

#include <algorithm>
#include <cstddef>
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

}  // namespace

void add_reader(const tiling::EdgeRoutes& routes, const netlist::Op& op, const QueueAccess& access, QueueUse& use) {
  std::vector<std::uint64_t> tiles(use.size(), 0);
  for (const tiling::PipeRoute& pipe : routes.pipes) {
    std::vector<std::size_t> sources;
    for (const tiling::Run& run : pipe.tiles.runs()) {
      if (run.core == tiling::kPaddingCore) continue;
      tiles[static_cast<std::size_t>(run.core)] += static_cast<std::uint64_t>(run.count);
      sources.push_back(static_cast<std::size_t>(run.core));
    }
    std::sort(sources.begin(), sources.end());
    sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
    const GridCoord worker = reading_worker(op, routes.axis, pipe.destinations.front());
    for (std::size_t source : sources) use[source].ends.push_back({access.epoch, worker, false});
  }
  for (std::size_t i = 0; i < use.size(); ++i)
    if (tiles[i] > 0) use[i].loads.push_back({access.epoch, access.before, false, tiles[i] * access.tile_bytes * access.times});
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
