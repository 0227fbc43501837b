// SPDX-License-Identifier: Apache-2.0
// From the checker's expectations to runs.
#include <buda/ops/table/op_traits.hpp>
#include <buda/pipes/check/consumption.hpp>

#include <buda/base/text.hpp>
#include <buda/netlist/model/tensor_maps.hpp>
#include <buda/pipes/check/checked_epoch.hpp>
#include <buda/pipes/check/expected.hpp>
#include <buda/pipes/plan/epoch_plan.hpp>
#include <buda/tiling/buffer_sizes.hpp>
#include <buda/tiling/tile_order.hpp>

#include <variant>

namespace buda::pipes {
namespace {

using netlist::Op;
using netlist::Queue;

const PipeGraph kNoPipes;

ConsumedRun run_of(const TracedTile& tile, const NetlistIndex& index) {
  ConsumedRun run;
  run.first = tile.number;
  run.count = 1;
  if (tile.kind == Owner::Kind::op) {
    run.op = tile.op;
    run.core = tile.core;
  } else if (tile.kind == Owner::Kind::padding) {
    run.from = ConsumedRun::From::padding;
    run.first = 0;
  } else {
    run.from = ConsumedRun::From::queue;
    run.queue_buffer = index.queue_buffer(tile.queue, static_cast<std::size_t>(tile.core));
  }
  return run;
}

bool is_next(const ConsumedRun& run, const ConsumedRun& next) {
  if (run.from != next.from) return false;
  if (run.from == ConsumedRun::From::padding) return true;
  return run.op == next.op && run.core == next.core && run.queue_buffer == next.queue_buffer && run.first + run.count == next.first;
}

Consumption in_runs(const Expected& expected, const NetlistIndex& index) {
  Consumption out;
  out.tiles = static_cast<std::int64_t>(expected.tiles.size());
  out.per_input = expected.per_input;
  for (const TracedTile& tile : expected.tiles) {
    const ConsumedRun next = run_of(tile, index);
    if (!out.runs.empty() && is_next(out.runs.back(), next)) {
      ++out.runs.back().count;
    } else {
      out.runs.push_back(next);
    }
  }
  for (std::size_t i = 0; i < expected.where.size(); ++i) out.places.push_back({expected.where[i], static_cast<std::int64_t>(i)});
  for (const auto& [tile, number] : expected.again) out.places.push_back({tile, static_cast<std::int64_t>(number)});
  return out;
}

// The op or the queue that an input comes from, as a layout.
struct InputLayout {
  netlist::TileShape shape;
  std::int64_t tiles = 0;  // of a core or buffer
  TileDim dim;
};

InputLayout layout_of_input(const NetlistIndex& index, const std::string& name) {
  const std::size_t q = index.queue(name);
  if (q != NetlistIndex::kNone) {
    const Queue& queue = index.netlist().queues[q];
    return {queue.shape(), queue.block.tiles(), queue.tile_dim};
  }
  const Op& op = *index.op(name).op;
  return {op.shape(), op.block.tiles(), op.tile_dim};
}

// What a kernel frees at once, by the sizes of its buffers.
std::int64_t tiles_at_once(const NetlistIndex& index, const Op& op, std::size_t input, std::int64_t input_count,
                           std::int32_t tile_alignment) {
  const InputLayout layout = layout_of_input(index, op.inputs[input].name);
  auto map = netlist::TileMap::make(layout.shape, op.inputs[input].maps);
  if (!std::holds_alternative<netlist::TileMap>(map)) return 1;
  const netlist::FusedOp* fused = fused_op_of(index.netlist(), op);
  auto order = tiling::tile_order_of(op, fused, input, std::get<netlist::TileMap>(map).shape());
  if (!std::holds_alternative<tiling::TileOrder>(order)) return 1;
  const tiling::OpContext context{op, fused, input_count, tile_alignment};
  return tiling::input_buffer(context, input, std::get<tiling::TileOrder>(order), layout.dim, layout.tiles).clear;
}

}  // namespace

Result<std::optional<Consumption>> Consumptions::input(const Op& op, std::size_t input, std::int64_t core, std::int64_t input_count) const {
  const std::size_t q = index_.queue(op.inputs[input].name);
  const bool lists_rows = ops::is_row_number(op.type, input);
  if (q != NetlistIndex::kNone && index_.netlist().queues[q].layout == netlist::QueueLayout::flat && !lists_rows)
    return std::optional<Consumption>();
  const device::Cluster no_cluster;
  const CheckedEpoch checked{index_, device_, no_cluster, epoch_, padding_, kNoPipes, BufferIndex(kNoPipes.buffers)};
  Findings findings;
  const std::string what = cat("op '", op.name, "', input ", input, ", core [", core / op.grid.cols, ", ", core % op.grid.cols, "]");
  const auto expected = expected_input(checked, op, input, core, input_count, what, findings);
  if (!expected) return std::move(findings.failure);
  Consumption out = in_runs(*expected, index_);
  out.at_once = tiles_at_once(index_, op, input, input_count, device_.tile_alignment);
  return std::optional(std::move(out));
}

Result<std::optional<Consumption>> Consumptions::stored(const Queue& queue, std::int64_t buffer, const Op& op,
                                                        std::int64_t input_count) const {
  if (op.untilize_output || op.gradient_op) return std::optional<Consumption>();
  const device::Cluster no_cluster;
  const CheckedEpoch checked{index_, device_, no_cluster, epoch_, padding_, kNoPipes, BufferIndex(kNoPipes.buffers)};
  Findings findings;
  const auto expected = expected_output(queue, buffer, op, input_count, cat("queue '", queue.name, "', buffer ", buffer), findings);
  if (!expected) {
    if (findings.failure.empty()) return std::optional<Consumption>();
    return std::move(findings.failure);
  }
  return std::optional(in_runs(*expected, index_));
}

}  // namespace buda::pipes
