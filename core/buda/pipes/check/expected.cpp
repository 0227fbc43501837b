// SPDX-License-Identifier: Apache-2.0
// Tile by tile, without what makes the pipes.
#include <buda/pipes/check/expected.hpp>

#include <buda/base/text.hpp>
#include <buda/pipes/check/check_tiles.hpp>

#include <algorithm>
#include <numeric>
#include <utility>
#include <variant>

namespace buda::pipes {

using netlist::Op;
using netlist::Queue;
using netlist::TileIndex;
using netlist::TileMap;

namespace {

// The op or queue of an input.
struct InputSource {
  const Op* op = nullptr;
  const Queue* queue = nullptr;
  std::size_t queue_number = NetlistIndex::kNone;
  bool prologue = false;

  GridShape grid() const { return queue != nullptr ? queue->grid : op->grid; }
  const netlist::BlockShape& block() const { return queue != nullptr ? queue->block : op->block; }
  netlist::UblockOrder order() const { return queue != nullptr ? queue->ublock_order : op->ublock_order; }
};

InputSource source_of(const CheckedEpoch& epoch, const netlist::OpInput& input) {
  InputSource out;
  out.queue_number = epoch.index.queue(input.name);
  if (out.queue_number == NetlistIndex::kNone) {
    out.op = epoch.index.op(input.name).op;
  } else {
    out.queue = &epoch.netlist().queues[out.queue_number];
    out.prologue = epoch.epoch.use_of(input.name).prologue;
  }
  return out;
}

TracedTile tile_of(const InputSource& source, TileIndex tile) {
  const TilePlace place = place_in(source.grid(), source.block(), source.order(), tile);
  TracedTile out;
  out.kind = source.op != nullptr ? Owner::Kind::op : source.prologue ? Owner::Kind::prologue : Owner::Kind::queue;
  out.op = source.op;
  out.queue = source.queue_number;
  out.core = place.core;
  out.number = place.number;
  return out;
}

bool is_within(TileIndex tile, const netlist::TileShape& shape) { return tile.t < shape.t && tile.r < shape.rt && tile.c < shape.ct; }

// Only the first tiles come, and the kernel reads them again: what it then takes for the others must be the same tiles.
bool apply_kernel_broadcast(const CheckedEpoch& epoch, const Op& op, std::size_t input, std::int64_t ts, const std::string& what,
                            Findings& findings, Expected& e) {
  const auto& b = op.inputs[input].kernel_broadcast;
  if (b.tiles <= 0) return true;
  auto period = static_cast<std::size_t>(b.tiles);
  std::size_t part = b.per_t ? e.tiles.size() / static_cast<std::size_t>(ts) : e.tiles.size();
  std::vector<TracedTile> tiles;
  std::vector<TileIndex> where;
  for (std::size_t start = 0; start < e.tiles.size(); start += part)
    for (std::size_t i = 0; i < part; ++i) {
      const TracedTile &wanted = e.tiles[start + i], &repeated = e.tiles[start + i % period];
      if (i >= period && !(wanted == repeated)) {
        findings.error("PC015", op.name,
                       cat(what, ": kernel_broadcast reads ", repeated.text(epoch.netlist()), " again where ", wanted.text(epoch.netlist()),
                           " should be"));
        return false;
      }
      if (i >= period) {
        e.again.emplace_back(e.where[start + i], tiles.size() - period + i % period);
        continue;
      }
      tiles.push_back(wanted);
      where.push_back(e.where[start + i]);
    }
  e.tiles = std::move(tiles);
  e.where = std::move(where);
  return true;
}

// The window of a producer is filled `passes` times while it makes `inputs` inputs.
void set_cycle(const Op& producer, std::int64_t input_count, Expected& e) {
  const std::int64_t window = window_of(producer, input_count), tiles = producer.block.tiles();
  e.inputs = std::lcm(window, tiles) / tiles;
  e.passes = e.inputs * tiles / window;
}

}  // namespace

std::int64_t window_of(const Op& op, std::int64_t input_count) {
  std::int64_t half = op.buf_size_mb > 1 ? op.buf_size_mb / 2 : 1;
  return std::min(half, input_count * op.block.t) * op.block.mblock_tiles();
}

std::optional<Expected> expected_input(const CheckedEpoch& epoch, const Op& op, std::size_t input, std::int64_t core,
                                       std::int64_t input_count, const std::string& what, Findings& findings) {
  const auto& in = op.inputs[input];
  const InputSource source = source_of(epoch, in);
  auto made = TileMap::make(netlist::tensor_shape(source.grid(), source.block()), in.maps);
  if (!std::holds_alternative<TileMap>(made)) {
    findings.error("PC017", op.name, cat("op '", op.name, "', input ", input, ": the manipulations do not apply"));
    return std::nullopt;
  }
  const TileMap& map = std::get<TileMap>(made);
  const GridCoord coord{static_cast<std::int32_t>(core / op.grid.cols), static_cast<std::int32_t>(core % op.grid.cols)};
  Taken taken = tiles_taken(epoch.netlist(), op, input, map.shape(), coord);
  if (taken.tiles.empty()) {
    findings.error("PC019", op.name, cat(what, ": the checker does not know this kind of input"));
    return std::nullopt;
  }
  Expected e;
  e.where = std::move(taken.tiles);
  for (const TileIndex& tile : e.where) {
    if (!is_within(tile, map.shape())) {
      findings.error("PC017", op.name, cat(what, ": it takes more than the ", map.shape().text(), " that arrive"));
      return std::nullopt;
    }
    const netlist::TileSource s = map.source(tile);
    if (s.padding) {
      TracedTile padding;
      padding.kind = Owner::Kind::padding;
      padding.address = epoch.padding.address(in.format, s.pad_value);
      e.tiles.push_back(padding);
    } else {
      e.tiles.push_back(tile_of(source, s.tile));
    }
  }
  if (!apply_kernel_broadcast(epoch, op, input, taken.ts, what, findings, e)) return std::nullopt;
  e.per_input = source.prologue ? 0 : source.block().tiles();
  if (source.op != nullptr) set_cycle(*source.op, input_count, e);
  return e;
}

std::optional<Expected> expected_output(const Queue& queue, std::int64_t buffer, const Op& op, std::int64_t input_count,
                                        const std::string& what, Findings& findings) {
  auto made = TileMap::make(op.shape(), {std::nullopt, queue.input_tms, std::nullopt});
  if (!std::holds_alternative<TileMap>(made)) return std::nullopt;  // diagnosed when the epoch was planned
  const TileMap& map = std::get<TileMap>(made);
  InputSource source;
  source.op = &op;
  Taken taken =
      tiles_stored(queue, {static_cast<std::int32_t>(buffer / queue.grid.cols), static_cast<std::int32_t>(buffer % queue.grid.cols)});
  Expected e;
  e.where = std::move(taken.tiles);
  for (const TileIndex& tile : e.where) {
    if (!is_within(tile, map.shape())) {
      findings.error("PC017", queue.name, cat(what, ": it takes more than the ", map.shape().text(), " that arrive"));
      return std::nullopt;
    }
    e.tiles.push_back(tile_of(source, map.source(tile).tile));
  }
  e.per_input = op.block.tiles();
  set_cycle(op, input_count, e);
  return e;
}

}  // namespace buda::pipes
